"""Reads the files with instructions for a model: the user's own, and the project's, only inside the workspace.

A file can be large, binary, or not a regular file. Invisible characters are removed, so the model reads the same text
that an editor shows.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice
from pathlib import Path

from tark_lsp.context.hidden import printable_name, without_hidden
from tark_lsp.context.system_part import Whose
from tark_lsp.errors import FileMissing, FileTooLarge, OutsideWorkspace, WorkspaceError
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.snapshot import Snapshot

LARGEST = 32 * 1024
"""The most characters of one file in the prompt. A note says that the rest is missing."""
LARGEST_FILE = 1024 * 1024
"""Bytes: a larger file is refused, because there can be hundreds of files."""
MOST_FILES = 200
MOST_ENTRIES = 10_000
"""The most names of one folder that are listed. The first `MOST_FILES` of them by name are read."""
PROJECT_FOLDER = ".tark"
OTHER_FOLDERS = {
    "prompts": (".claude", "commands"),
    "skills": (".claude", "skills"),
    "agents": (".claude", "agents"),
}
"""Where projects have such files for other programs. `.tark` comes first, so its files take precedence."""


@dataclass(frozen=True, slots=True)
class Source:
    """`name` is the path for the user and the model, with only printable characters."""

    path: Path
    name: str
    whose: Whose


class Sources:
    """`user_folder` is the folder of the user's config.toml. `problems` are sentences for the user."""

    def __init__(
        self, workspace: Workspace, own: Path | None = None, closed: Callable[[Path], bool] = lambda _: False
    ) -> None:
        """`closed(path)`: whether a permission rule hides the file at this resolved path from the model."""
        self.workspace = workspace
        self.own = own
        self._closed = closed
        self.problems: list[str] = []

    def source_at(self, path: Path, whose: Whose) -> Source:
        home = Path.home()
        if whose == "project":
            name = self.workspace.display(path)
        else:
            name = f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else path.as_posix()
        return Source(path, printable_name(name), whose)

    def folders(self, name: str) -> list[Source]:
        """The user's folder of that name, then those of each workspace folder; they need not exist."""
        own = [] if self.own is None else [self.source_at(self.own / name, "person")]
        places = [(PROJECT_FOLDER, name), *([OTHER_FOLDERS[name]] if name in OTHER_FOLDERS else [])]
        workspace = self.workspace.folders
        return [*own, *(self.source_at(top.joinpath(*place), "project") for place in places for top in workspace)]

    def folder_entries(self, folder: Source, suffix: str = "") -> list[Source]:
        """The entries directly in the folder, by name, up to the limits; a missing folder has none."""
        place = Path(os.path.realpath(folder.path))
        if folder.whose == "project" and not self.workspace.is_inside(place):
            self.problems.append(f"{folder.name} leads outside the workspace, so nothing in it is read")
            return []
        try:
            with os.scandir(place) as found:
                names = [entry.name for entry in islice(found, MOST_ENTRIES) if entry.name.endswith(suffix)]
        except FileNotFoundError:
            return []
        except OSError as error:
            self.problems.append(f"{folder.name} could not be read: {error.strerror}")
            return []
        if len(names) > MOST_FILES:
            self.problems.append(f"{folder.name} has too many files: only the first {MOST_FILES} by name are read")
        return [self.source_at(folder.path / name, folder.whose) for name in nsmallest(MOST_FILES, names)]

    def read_text(self, source: Source) -> str | None:
        """The text for the model, cut at `LARGEST` characters with a note. None if there is no such file.

        Raises WorkspaceError if the file is not text, too large, outside the workspace, or hidden by a rule.
        """
        text = self.read_whole(source)
        return None if text is None else self.text_for_model(source, text)

    def read_whole(self, source: Source) -> str | None:
        """As `read_text`, but the unchanged text of the file."""
        if self._closed(Path(os.path.realpath(source.path))):
            raise WorkspaceError(f"{source.name}: a permission rule hides it from the model")
        try:
            return read_source(self.workspace, source).text
        except FileMissing:
            return None

    def text_for_model(self, source: Source, text: str) -> str:
        """`text` without invisible characters, cut at `LARGEST`."""
        shown, hidden = without_hidden(text[:LARGEST])
        if hidden:
            self.problems.append(
                f"{source.name} contains {hidden:,} characters that are not visible (invisible, bidirectional, tags); "
                "the model gets the text without them"
            )
        if len(text) > LARGEST:
            shown += f"\n[{source.name} is {len(text):,} characters long; only the first {LARGEST:,} are here.]"
        return shown

    def read_or_report(self, source: Source) -> str | None:
        """As `read_text`, but if the file cannot be read, a problem is recorded and None returned."""
        try:
            return self.read_text(source)
        except WorkspaceError as error:
            self.problems.append(f"{source.name} is left out: {error_reason(error)}")
            return None


def read_source(workspace: Workspace, source: Source) -> Snapshot:
    """The document if it is open, else the file. A file of the user's own can be a link to anywhere.

    Raises WorkspaceError.
    """
    resolved = Path(os.path.realpath(source.path))
    with suppress(OSError):  # reading it below raises the right error
        if resolved.stat().st_size > LARGEST_FILE:
            raise FileTooLarge(f"{source.name}: larger than {LARGEST_FILE // 1024:,} kB")
    try:
        return workspace.read(resolved)
    except OutsideWorkspace:
        if source.whose == "project":
            raise
    return workspace.read_outside(resolved)


def error_reason(error: WorkspaceError) -> str:
    """The message, without the path at the beginning of errors of the workspace."""
    return error.message.split(": ", 1)[-1] if ": " in error.message else error.message
