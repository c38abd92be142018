"""Instructions: the user's own AGENTS.md, and the project's files in each folder from the top to the current file.

In each folder, the first of AGENTS.md, CLAUDE.md and .cursorrules that exists counts. Imports (`@path` in CLAUDE.md)
are not followed.
"""

from pathlib import Path

from tark_lsp.context.sources import Source, Sources, error_reason
from tark_lsp.context.system_part import SystemPart, tagged
from tark_lsp.errors import WorkspaceError
from tark_lsp.workspace.files import Workspace

FILE_NAMES = ("AGENTS.md", "CLAUDE.md", ".cursorrules")
MOST_CHARACTERS = 96 * 1024
"""The limit of all instructions of the project, because a path can have hundreds of folders. The nearest come first."""


def find_instructions(sources: Sources, near: Path | None) -> list[SystemPart]:
    """The user's own instructions, then the project's. The nearest to `near` come last and take precedence.

    Without `near`, or if it is outside the workspace, the project's instructions are those at the top of each workspace
    folder. A file that cannot be read is replaced by a note, so that the model and the user know it was not followed.
    """
    found: list[SystemPart] = []
    room = MOST_CHARACTERS
    for folder in reversed(_folders(sources.workspace, near)):
        part = next(
            filter(None, (_part(sources, sources.source_at(folder / name, "project")) for name in FILE_NAMES)), None
        )
        if part is None or not part.text:
            continue
        if len(part.text) > room:
            sources.problems.append(
                f"{part.name} is left out: nearer instructions fill the limit of {MOST_CHARACTERS:,} characters"
            )
            continue
        room -= len(part.text)
        found.append(part)
    if sources.own is not None and (own := _part(sources, sources.source_at(sources.own / FILE_NAMES[0], "person"))):
        found.append(own)
    return [part for part in reversed(found) if part.text]


def _part(sources: Sources, source: Source) -> SystemPart | None:
    """None if the file does not exist. An empty file gives a part without text, so no other file name is tried."""
    try:
        text = sources.read_text(source)
    except WorkspaceError as error:
        text = f"[{source.name} could not be read: {error_reason(error)}]"
        sources.problems.append(text[1:-1])
    if text is None:
        return None
    shown = tagged("instructions", text, whose=source.whose, file=source.name) if text.strip() else ""
    return SystemPart(source.name, "instructions", shown, source.path)


def _folders(workspace: Workspace, near: Path | None) -> list[Path]:
    if near is None or not workspace.is_inside(near):
        return list(workspace.folders)
    inside = [folder for folder in workspace.folders if near.is_relative_to(folder)]
    if not inside:  # the document alone is the workspace
        return []
    top = max(inside, key=lambda folder: len(folder.parts))
    below = near.relative_to(top).parts[:-1]
    return [top.joinpath(*below[:depth]) for depth in range(len(below) + 1)]
