"""The person's files as the editor shows them: open buffer first, disk second, and nothing outside the folders."""

import asyncio
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path, PurePath
from typing import Protocol, TypeVar

from tark_lsp.errors import FileMissing, FileTooLarge, NotText, OutsideWorkspace, StaleText, WorkspaceError
from tark_lsp.workspace.disk.handles import File, Folder, Ready, failure, open_folder
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.encoding import UTF_8, decode
from tark_lsp.workspace.names import check_name
from tark_lsp.workspace.outcomes import Applied, Outcome, Refused, Stale
from tark_lsp.workspace.protected import is_protected_path
from tark_lsp.workspace.snapshot import Snapshot

LARGEST_FILE = 10_000_000
"""Bytes on disk, or characters in a buffer."""
LOOP_SECONDS = 5.0
"""A write is given up where the event loop is blocked for longer."""
T = TypeVar("T")


class Buffers(Protocol):
    """The documents open in the editor, which alone writes them. Paths are resolved."""

    def get(self, path: Path) -> Snapshot | None:
        """The open document at this path."""
        ...

    def paths(self) -> Sequence[Path]:
        """Those of all open documents."""
        ...

    async def apply(self, edit: ProposedEdit, label: str) -> Outcome:
        """One versioned edit, one undo step named `label`, verified by the text."""
        ...

    async def move(self, snapshot: Snapshot, target: Path) -> Outcome | None:
        """The editor renames the file, open or not, which has that text; verified. None: nothing was done, since this
        editor does not do that."""
        ...

    async def remove(self, snapshot: Snapshot) -> Outcome | None:
        """The editor deletes the file of an open document that has that text; verified. None: as for `move`."""
        ...


class Workspace:
    """All access to files goes through here. Paths given to any method but `resolve` are resolved ones."""

    def __init__(self, folders: Sequence[Path], buffers: Buffers, own: Sequence[Path] = ()) -> None:
        """`own`: the folders of the person's settings and of our state, which a workspace may hold: protected in it."""
        self._buffers = buffers
        self.own = tuple(Path(os.path.realpath(folder)) for folder in own)
        self._writing = asyncio.Lock()
        self.set_folders(folders)

    def set_folders(self, folders: Sequence[Path]) -> None:
        """The editor opened or closed folders."""
        self.folders: tuple[Path, ...] = tuple(dict.fromkeys(Path(os.path.realpath(folder)) for folder in folders))
        self._names = _unique_names(self.folders)
        # Where one folder is inside another, the inner one is asked first.
        self._opened: list[Folder] = [
            open_folder(folder) for folder in sorted(self.folders, key=lambda folder: -len(folder.parts))
        ]

    def resolve(self, path: str) -> Path:
        """The absolute path without links for `src/a.py`, `folder:src/a.py` or an absolute path, existing or not.

        Raises OutsideWorkspace where that, or the name itself, leads out.
        """
        if not self.folders:
            raise OutsideWorkspace("no folder is open", hint="open a folder in the editor")
        name, colon, rest = path.partition(":")
        named = [folder for folder, known in self._names.items() if colon and known == name]
        inner = rest if named else path
        check_name(inner, windows=os.name == "nt")
        # An absolute path stays what it is when a folder is put before it.
        resolved = [Path(os.path.realpath(folder / inner)) for folder in named or self.folders]
        inside = [one for one in resolved if self.is_inside(one)]
        if not inside:
            raise OutsideWorkspace(
                f"{path} is outside the workspace",
                hint="use a path inside " + ", ".join(folder.as_posix() for folder in self.folders),
            )
        return next(filter(os.path.lexists, inside), inside[0])

    def display(self, path: Path) -> str:
        """The path as people and models see it: from its folder, with `/`, and `folder:` where there are several."""
        folder = self._folder_path(path)
        if folder is None:
            return path.as_posix()
        relative = path.relative_to(folder).as_posix()
        return relative if len(self.folders) == 1 else f"{self._names[folder]}:{relative}"

    def is_inside(self, path: Path) -> bool:
        return ".." not in path.parts and self._folder_path(path) is not None

    def is_protected(self, path: Path) -> bool:
        """Whether a name below the folder is one of `protected.PROTECTED`, as given or after links; outside: no.

        So is all that is in a folder of our own.
        """
        names = {path, Path(os.path.realpath(path))}
        return any(one.is_relative_to(folder) for one in names for folder in self.own) or any(
            is_protected_path(one.relative_to(folder))
            for one in names
            for folder in self.folders
            if one.is_relative_to(folder)
        )

    def read(self, path: Path) -> Snapshot:
        """An open document wherever it is, else a file inside.

        Raises FileMissing, NotText, FileTooLarge, OutsideWorkspace.
        """
        path = Path(os.path.realpath(path))
        buffer = self._buffers.get(path)
        if buffer is None:
            return self._decoded(path, self.read_bytes(path))
        if len(buffer.text) > LARGEST_FILE:
            raise FileTooLarge(f"{self.display(path)}: larger than {LARGEST_FILE // 1_000_000} MB")
        return buffer

    def read_bytes(self, path: Path) -> bytes:
        """What is on disk. Raises as `read`."""
        return self.read_stored(path).data

    def read_stored(self, path: Path) -> File:
        """The bytes on disk, and the mode beside them, by one look. Raises as `read`."""
        path = Path(os.path.realpath(path))
        folder, relative = self._place(path)
        return self._naming(path, lambda: folder.read(relative, LARGEST_FILE))

    def read_outside(self, path: Path) -> Snapshot:
        """A file outside that the person allowed to read, `path` being the resolved one they were shown.

        It is opened from the root without following any link, so it is the file that was shown, or nothing.
        """
        anchor = open_folder(Path(path.anchor))
        data = self._naming(path, lambda: anchor.read(path.relative_to(path.anchor), LARGEST_FILE).data)
        return self._decoded(path, data)

    async def apply(self, edit: ProposedEdit, label: str) -> Outcome:
        """Open documents by the editor; closed files by an atomic write, old text checked and new one read back.

        A cancel during the write takes effect at the caller's next await, so that what was done can be noted.
        """
        if self._buffers.get(edit.path) is not None:
            return await self._buffers.apply(edit, label)
        return await self._write([edit.path], lambda ready: self._apply_closed(edit, ready))

    async def move(self, snapshot: Snapshot, target: Path) -> Outcome:
        """The file that still has the text of `snapshot` comes to stand at `target`, where nothing is, mode and all.

        The editor renames it where it can, since other servers then mend what refers to it. Gives the file at `target`.
        """
        for path in (snapshot.path, target):
            if not self.is_inside(path):
                return Refused(f"{self.display(path)} is outside the workspace")
        if snapshot.path == target:
            return Refused("it is there already")
        if self._buffers.get(target) is not None:
            return Refused("the new place is open in the editor: close it, then try again")
        if (outcome := await self._buffers.move(snapshot, target)) is not None:
            return outcome
        if self._buffers.get(snapshot.path) is not None:
            return Refused("it is open in the editor: close it, then try again")
        return await self._write([snapshot.path, target], lambda ready: self._move_closed(snapshot, target, ready))

    async def remove(self, snapshot: Snapshot) -> Outcome:
        """Remove a file that still has the text of `snapshot`; one that is open, by the editor."""
        if self._buffers.get(snapshot.path) is not None:
            outcome = await self._buffers.remove(snapshot)
            return outcome or Refused("it is open in the editor: close it, then try again")
        return await self._write([snapshot.path], lambda ready: self._remove_closed(snapshot, ready))

    async def restore(self, path: Path, data: bytes, mode: int) -> Outcome:
        """A file that is not there comes back byte for byte, with its permission bits. Stale where there is one."""
        if self._buffers.get(path) is not None:
            return Refused("it is open in the editor: save it there, or close it, then try again")
        return await self._write([path], lambda ready: self._restore_closed(path, data, mode, ready))

    def _apply_closed(self, edit: ProposedEdit, ready: Ready) -> Outcome:
        folder, relative = self._place(edit.path)
        note = ""
        if edit.base.exists:
            old = folder.read(relative, LARGEST_FILE).data
            text, encoding = decode(old)
            if text != edit.base.text:
                return Stale("the file has changed on disk")
            after = edit.after
            data = encoding.encode(after)
            if data != old:
                note = folder.replace(relative, data, old, ready)
        else:
            after = edit.after
            folder.create(relative, UTF_8.encode(after), ready)
        return Applied(Snapshot(edit.path, after), note)

    def _remove_closed(self, snapshot: Snapshot, ready: Ready) -> Outcome:
        folder, relative = self._place(snapshot.path)
        data = folder.read(relative, LARGEST_FILE).data
        if decode(data)[0] != snapshot.text:
            return Stale("the file has changed on disk")
        folder.remove(relative, data, ready)
        return Applied(Snapshot(snapshot.path, "", exists=False))

    def _move_closed(self, snapshot: Snapshot, target: Path, ready: Ready) -> Outcome:
        folder, relative = self._place(snapshot.path)
        data = folder.read(relative, LARGEST_FILE).data
        if decode(data)[0] != snapshot.text:
            return Stale("the file has changed on disk")
        into, place = self._place(target)
        return Applied(Snapshot(target, snapshot.text), folder.move(relative, into, place, data, ready))

    def _restore_closed(self, path: Path, data: bytes, mode: int, ready: Ready) -> Outcome:
        folder, relative = self._place(path)
        text = decode(data)[0]
        folder.create(relative, data, ready, mode)
        return Applied(Snapshot(path, text))

    async def _write(self, paths: Sequence[Path], work: Callable[[Ready], Outcome]) -> Outcome:
        """Do it in a thread, since `fsync` may take long, one write at a time and each to its end."""
        loop = asyncio.get_running_loop()

        def still_closed() -> bool:
            # Buffers belong to the loop's thread, so it is asked there; no answer in time is a TimeoutError.
            answer: Future[bool] = Future()
            loop.call_soon_threadsafe(lambda: answer.set_result(not any(map(self._buffers.get, paths))))
            return answer.result(LOOP_SECONDS)

        async with self._writing:
            task = asyncio.ensure_future(asyncio.to_thread(work, still_closed))
            cancelled = False
            while not task.done():
                try:
                    await asyncio.wait([task])
                except asyncio.CancelledError:
                    cancelled = True
        current = asyncio.current_task()
        if cancelled and current is not None:
            current.uncancel()
            current.cancel()
        try:
            return task.result()
        except (StaleText, FileMissing) as error:
            return Stale(error.message)
        except WorkspaceError as error:
            return Refused(error.message)
        except OSError as error:
            problem = failure(error, "the file", writing=True)
            return Stale(problem.message) if isinstance(problem, FileMissing) else Refused(problem.message)

    def _folder_path(self, path: Path) -> Path | None:
        inside = [folder for folder in self.folders if path.is_relative_to(folder)]
        return max(inside, key=lambda folder: len(folder.parts), default=None)

    def _place(self, path: Path) -> tuple[Folder, PurePath]:
        if ".." not in path.parts:
            for folder in self._opened:
                if path.is_relative_to(folder.path):
                    return folder, path.relative_to(folder.path)
        raise OutsideWorkspace(f"{path} is outside the workspace")

    def _naming(self, path: Path, work: Callable[[], T]) -> T:
        """Do it, and name the file in whatever goes wrong."""
        shown = self.display(path)
        try:
            return work()
        except OSError as error:
            raise failure(error, shown) from error
        except WorkspaceError as error:
            raise type(error)(f"{shown}: {error.message}", hint=error.hint, details=error.details) from error

    def _decoded(self, path: Path, data: bytes) -> Snapshot:
        try:
            return Snapshot(path, decode(data)[0])
        except NotText as error:
            raise NotText(f"{self.display(path)}: {error.message}", hint=error.hint) from error


def _unique_names(folders: Sequence[Path]) -> dict[Path, str]:
    """The folders' names; the second of the same name gets `-2`, and so on."""
    names: dict[Path, str] = {}
    for folder in folders:
        same = sum(known.name == folder.name for known in names)
        names[folder] = folder.name if not same else f"{folder.name}-{same + 1}"
    return names
