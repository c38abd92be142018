"""The project's own instructions for agents: AGENTS.md files, from the workspace folder down to the file at hand."""

from dataclasses import dataclass
from pathlib import Path

from tark_lsp.errors import FileMissing, WorkspaceError
from tark_lsp.workspace.files import Workspace

FILE_NAME = "AGENTS.md"
LARGEST = 32 * 1024
"""Characters of one file that go into the prompt; what is beyond is said to be."""


@dataclass(frozen=True, slots=True)
class Instructions:
    path: Path
    text: str


def find_instructions(workspace: Workspace, near: Path | None) -> list[Instructions]:
    """Those of each folder from the workspace folder down to the one of `near`; the nearest is last and counts most.

    Without `near`, or where it is outside: those at the top of each workspace folder.
    A file that cannot be read is told in its place, so that neither model nor person takes it for followed.
    """
    found = []
    for folder in _folders(workspace, near):
        path = folder / FILE_NAME
        try:
            text = workspace.read(path).text
        except FileMissing:
            continue
        except WorkspaceError as error:
            text = f"[{FILE_NAME} could not be read: {error.message}]"
        if len(text) > LARGEST:
            note = f"[{FILE_NAME} is {len(text):,} characters long; only the first {LARGEST:,} are here.]"
            text = f"{text[:LARGEST]}\n{note}"
        if text.strip():
            found.append(Instructions(path, text))
    return found


def _folders(workspace: Workspace, near: Path | None) -> list[Path]:
    if near is None or not workspace.is_inside(near):
        return list(workspace.folders)
    top = max(
        (folder for folder in workspace.folders if near.is_relative_to(folder)), key=lambda folder: len(folder.parts)
    )
    below = near.relative_to(top).parts[:-1]
    return [top.joinpath(*below[:depth]) for depth in range(len(below) + 1)]
