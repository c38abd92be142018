"""The files that tell a model how to work: the project's, read through the workspace's fence, and the person's own.

None is trusted to be small, text, or a file. What the model is told is what an editor shows: hidden characters go.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice
from pathlib import Path

from tark_lsp.context.hidden import printable, without_hidden
from tark_lsp.context.system_part import Whose
from tark_lsp.errors import FileMissing, FileTooLarge, OutsideWorkspace, WorkspaceError
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.snapshot import Snapshot

LARGEST = 32 * 1024
"""Characters of one file that go into the prompt; what is beyond is said to be."""
LARGEST_FILE = 1024 * 1024
"""Bytes; what is larger is no instructions, and there may be hundreds."""
MOST_FILES = 200
MOST_ENTRIES = 10_000
"""Of one folder: the names that are looked at, of which the first by name are read."""
PROJECT_FOLDER = ".tark"


@dataclass(frozen=True, slots=True)
class Source:
    """`name` is the path as people and models see it, every character of it printable."""

    path: Path
    name: str
    whose: Whose


class Sources:
    """`own` is the folder of the person's config.toml. `problems` are sentences for the person."""

    def __init__(
        self, workspace: Workspace, own: Path | None = None, closed: Callable[[Path], bool] = lambda _: False
    ) -> None:
        """`closed`: whether a rule keeps the file at this resolved path from the model; a link may lead to it."""
        self.workspace = workspace
        self.own = own
        self._closed = closed
        self.problems: list[str] = []

    def at(self, path: Path, whose: Whose) -> Source:
        home = Path.home()
        if whose == "project":
            name = self.workspace.display(path)
        else:
            name = f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else path.as_posix()
        return Source(path, printable(name), whose)

    def folders(self, name: str) -> list[Source]:
        """The person's own folder of that name, then the one in `.tark` of each workspace folder; there or not."""
        own = [] if self.own is None else [self.at(self.own / name, "person")]
        return [*own, *(self.at(each / PROJECT_FOLDER / name, "project") for each in self.workspace.folders)]

    def entries(self, folder: Source, suffix: str = "") -> list[Source]:
        """What is directly in it, by name, as far as the caps allow; a folder that is not there has nothing."""
        place = Path(os.path.realpath(folder.path))
        if folder.whose == "project" and not self.workspace.is_inside(place):
            self.problems.append(f"{folder.name} leads out of the workspace, so nothing in it is read")
            return []
        try:
            with os.scandir(place) as found:
                names = [each.name for each in islice(found, MOST_ENTRIES) if each.name.endswith(suffix)]
        except FileNotFoundError:
            return []
        except OSError as error:
            self.problems.append(f"{folder.name} could not be read: {error.strerror}")
            return []
        if len(names) > MOST_FILES:
            self.problems.append(f"{folder.name} holds very many files: only the first {MOST_FILES} by name are read")
        return [self.at(folder.path / name, folder.whose) for name in nsmallest(MOST_FILES, names)]

    def text(self, source: Source) -> str | None:
        """What the model may be told of it, cut at `LARGEST` with a note. None: there is no such file.

        Raises WorkspaceError for what is not a text file, too large, or outside.
        """
        if self._closed(Path(os.path.realpath(source.path))):
            raise WorkspaceError(f"{source.name}: a permission rule keeps it from the model")
        try:
            text = read_whole(self.workspace, source).text
        except FileMissing:
            return None
        shown, hidden = without_hidden(text[:LARGEST])
        if hidden:
            self.problems.append(
                f"{source.name} holds characters that nobody sees ({hidden:,}: invisible, bidirectional, tags); "
                "the model is told the text without them"
            )
        if len(text) > LARGEST:
            shown += f"\n[{source.name} is {len(text):,} characters long; only the first {LARGEST:,} are here.]"
        return shown

    def readable(self, source: Source) -> str | None:
        """As `text`, but what cannot be read is a problem, and as if it were not there."""
        try:
            return self.text(source)
        except WorkspaceError as error:
            self.problems.append(f"{source.name} is left out: {reason(error)}")
            return None


def read_whole(workspace: Workspace, source: Source) -> Snapshot:
    """The open document, else the file; one of the person's own may be a link to wherever they keep it.

    Raises WorkspaceError.
    """
    resolved = Path(os.path.realpath(source.path))
    with suppress(OSError):  # what is wrong with it is found, and named, by reading
        if resolved.stat().st_size > LARGEST_FILE:
            raise FileTooLarge(f"{source.name}: larger than {LARGEST_FILE // 1024:,} kB")
    try:
        return workspace.read(resolved)
    except OutsideWorkspace:
        if source.whose == "project":
            raise
    return workspace.read_outside(resolved)


def reason(error: WorkspaceError) -> str:
    """The reason alone; errors of the workspace begin with the path."""
    return error.message.split(": ", 1)[-1] if ": " in error.message else error.message
