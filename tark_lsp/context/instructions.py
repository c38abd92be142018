"""Instructions for agents: the person's own AGENTS.md, and the project's, from its folder down to the file at hand.

In each folder the first of AGENTS.md, CLAUDE.md and .cursorrules that is there counts. Imports (`@path` in CLAUDE.md)
are not followed.
"""

from pathlib import Path

from tark_lsp.context.sources import Source, Sources, reason
from tark_lsp.context.system_part import SystemPart, fenced
from tark_lsp.errors import WorkspaceError
from tark_lsp.workspace.files import Workspace

FILE_NAMES = ("AGENTS.md", "CLAUDE.md", ".cursorrules")
MOST_CHARACTERS = 96 * 1024
"""Of all instructions of the project together, the nearest first: a path may have hundreds of folders."""


def find_instructions(sources: Sources, near: Path | None) -> list[SystemPart]:
    """The person's own, then those of the project: the nearest to `near` is last and counts most.

    Without `near`, or where it is outside: those at the top of each workspace folder.
    A file that cannot be read is told in its place, so that neither model nor person takes it for followed.
    """
    found: list[SystemPart] = []
    room = MOST_CHARACTERS
    for folder in reversed(_folders(sources.workspace, near)):
        part = next(filter(None, (_part(sources, sources.at(folder / name, "project")) for name in FILE_NAMES)), None)
        if part is None or not part.text:
            continue
        if len(part.text) > room:
            sources.problems.append(f"{part.name} is left out: nearer instructions fill {MOST_CHARACTERS:,} characters")
            continue
        room -= len(part.text)
        found.append(part)
    if sources.own is not None and (own := _part(sources, sources.at(sources.own / FILE_NAMES[0], "person"))):
        found.append(own)
    return [part for part in reversed(found) if part.text]


def _part(sources: Sources, source: Source) -> SystemPart | None:
    """None: no such file. Without a text: an empty one, which is there all the same and has no fallback."""
    try:
        text = sources.text(source)
    except WorkspaceError as error:
        text = f"[{source.name} could not be read: {reason(error)}]"
        sources.problems.append(text[1:-1])
    if text is None:
        return None
    shown = fenced("instructions", text, whose=source.whose, file=source.name) if text.strip() else ""
    return SystemPart(source.name, "instructions", shown, source.path)


def _folders(workspace: Workspace, near: Path | None) -> list[Path]:
    if near is None or not workspace.is_inside(near):
        return list(workspace.folders)
    inside = [folder for folder in workspace.folders if near.is_relative_to(folder)]
    if not inside:  # a document that is a workspace by itself
        return []
    top = max(inside, key=lambda folder: len(folder.parts))
    below = near.relative_to(top).parts[:-1]
    return [top.joinpath(*below[:depth]) for depth in range(len(below) + 1)]
