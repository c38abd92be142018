"""Workspace: the user's files as the editor shows them. An open buffer takes precedence over the disk."""

import asyncio
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Protocol, TypeVar

from tark_lsp.errors import FileMissing, FileTooLarge, NotText, StaleText, WorkspaceError
from tark_lsp.listeners import Listeners
from tark_lsp.workspace.closed_files import LARGEST_FILE, apply_edit, move_file, remove_file, restore_file
from tark_lsp.workspace.disk.file_errors import file_error
from tark_lsp.workspace.disk.folder import File, Ready
from tark_lsp.workspace.disk.memory_folder import MemoryChange
from tark_lsp.workspace.disk.opening import open_folder
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.encoding import decode
from tark_lsp.workspace.file_state import FileState
from tark_lsp.workspace.file_step import FileStep, make_steps, read_states
from tark_lsp.workspace.outcomes import Outcome, Refused, Stale
from tark_lsp.workspace.private import NOTHING_PRIVATE, PrivatePaths
from tark_lsp.workspace.snapshot import Snapshot
from tark_lsp.workspace.workspace_folders import WorkspaceFolders

LOOP_SECONDS = 5.0
"""A write is abandoned if the event loop is blocked for longer."""
T = TypeVar("T")


class Buffers(Protocol):
    """The documents that are open in the editor. Only the editor writes them. Paths are resolved."""

    def get(self, path: Path) -> Snapshot | None:
        """The open document at this path."""
        ...

    def paths(self) -> Sequence[Path]:
        """The paths of all open documents."""
        ...

    async def apply(self, edit: ProposedEdit, label: str) -> Outcome:
        """Apply one versioned edit as one undo step named `label`, verified by the text."""
        ...

    async def move(self, snapshot: Snapshot, target: Path) -> Outcome | None:
        """Let the editor rename the file that has this text, open or not. The result is verified.

        None: nothing was done, because this editor does not rename files.
        """
        ...

    async def remove(self, snapshot: Snapshot) -> Outcome | None:
        """Let the editor delete the file of an open document that has this text. Verified. None: as for `move`."""
        ...


class Workspace:
    """All access to files goes through here. All methods except `resolve` take resolved paths."""

    def __init__(
        self,
        folders: Sequence[Path],
        buffers: Buffers,
        own: Sequence[Path] = (),
        private: PrivatePaths = NOTHING_PRIVATE,
        *,
        in_memory: bool = False,
    ) -> None:
        """`own`: the folders of the user's settings and of Tark's state, which are protected if the workspace has them.
        `in_memory`: changes of closed files are kept in memory, and reading sees them.
        """
        self._buffers = buffers
        self.own = tuple(Path(os.path.realpath(folder)) for folder in own)
        self.private = private
        self.in_memory = in_memory
        self._writing = asyncio.Lock()
        self.written: Listeners[Sequence[Path]] = Listeners()
        """Emits the paths of closed files that were written, moved or removed, or may have been."""
        self.set_folders(folders)

    def set_folders(self, folders: Sequence[Path]) -> None:
        """Call this when the editor opens or closes folders."""
        self._folders = WorkspaceFolders(folders, self.own, in_memory=self.in_memory)
        self.folders: tuple[Path, ...] = self._folders.paths

    def resolve(self, path: str) -> Path:
        """The absolute path without links for `src/a.py`, `folder:src/a.py` or an absolute path, existing or not.

        Raises OutsideWorkspace if the path leads out of the workspace, or the name itself is refused.
        """
        return self._folders.resolve(path)

    def display(self, path: Path) -> str:
        """The path as users and models see it: from its folder, with `/`, and after `folder:` if there are several."""
        return self._folders.display(path)

    def is_inside(self, path: Path) -> bool:
        return self._folders.is_inside(path)

    def is_protected(self, path: Path) -> bool:
        """Whether the path, as given or after links, has a protected name (`protected.PROTECTED`) inside a folder.

        Everything in one of Tark's own folders is protected. Other paths outside the workspace are not.
        """
        return self._folders.is_protected(path)

    def is_private(self, path: Path) -> bool:
        """Whether the path, as given or after links, holds keys or credentials (`private.IN_HOME`, and Tark's own)."""
        return self.private.covers(path) or self.private.covers(Path(os.path.realpath(path)))

    def has_private_below(self, folder: Path) -> bool:
        """Whether `is_private` can be true for a path in the folder, by its name alone."""
        return self.private.can_be_below(folder)

    def memory_changes(self) -> list[MemoryChange]:
        """The changes that are kept in memory, by folder and path. Search programs do not see them."""
        return [change for folder in self._folders.memories for change in folder.changes()]

    def listed(self, paths: Sequence[str], matches: Callable[[str], bool]) -> list[str]:
        """The files that a search program listed, updated with the changes in memory. Created files come first."""
        changes = {str(change.path): change for change in self.memory_changes()}
        created = [path for path, change in changes.items() if change.before is None and matches(path)]
        return [*created, *(path for path in paths if path not in changes or changes[path].after is not None)]

    def is_there(self, path: Path) -> bool:
        """Whether there is anything at the path, apart from open documents."""
        change = next((change for change in self.memory_changes() if change.path == path), None)
        return path.exists() if change is None else change.after is not None

    def read(self, path: Path) -> Snapshot:
        """An open document, wherever it is, else a file of the workspace.

        Raises FileMissing, NotText, FileTooLarge, OutsideWorkspace.
        """
        path = Path(os.path.realpath(path))
        buffer = self._buffers.get(path)
        if buffer is None:
            return _decoded(path, self.display(path), self.read_bytes(path))
        if len(buffer.text) > LARGEST_FILE:
            raise FileTooLarge(f"{self.display(path)}: larger than {LARGEST_FILE // 1_000_000} MB")
        return buffer

    def read_bytes(self, path: Path) -> bytes:
        """What is on disk. Raises as `read`."""
        return self.read_stored(path).data

    def read_stored(self, path: Path) -> File:
        """The bytes and the mode of the file on disk, read at the same moment. Raises as `read`."""
        path = Path(os.path.realpath(path))
        folder, relative = self._folders.locate(path)
        return _naming_file(self.display(path), lambda: folder.read(relative, LARGEST_FILE))

    def read_outside(self, path: Path) -> Snapshot:
        """A file outside the workspace. `path` is the resolved path that the user was shown and allowed to read.

        It is opened from the root without following links, so it is either the file that was shown, or an error.
        """
        root, shown = open_folder(Path(path.anchor)), self.display(path)
        file = _naming_file(shown, lambda: root.read(path.relative_to(path.anchor), LARGEST_FILE))
        return _decoded(path, shown, file.data)

    async def apply(self, edit: ProposedEdit, label: str) -> Outcome:
        """Apply an edit: to an open document through the editor, to a closed file by an atomic write.

        If the caller is cancelled during the write, this takes effect at its next await, so that it can record the
        outcome.
        """
        if self._buffers.get(edit.path) is not None:
            return await self._buffers.apply(edit, label)
        return await self._write([edit.path], lambda ready: apply_edit(self._folders.locate(edit.path), edit, ready))

    async def move(self, snapshot: Snapshot, target: Path) -> Outcome:
        """Move the file that still has the text of `snapshot` to `target`, where nothing is. It keeps its mode.

        The editor renames the file if it can, because language servers then update references to it.
        """
        source = snapshot.path
        for path in (source, target):
            if not self.is_inside(path):
                return Refused(f"{self.display(path)} is outside the workspace")
        if source == target:
            return Refused("it is there already")
        if self._buffers.get(target) is not None:
            return Refused("the new place is open in the editor: close it, then try again")
        if (outcome := await self._buffers.move(snapshot, target)) is not None:
            return outcome
        if self._buffers.get(source) is not None:
            return Refused("it is open in the editor: close it, then try again")
        locate = self._folders.locate
        return await self._write(
            [source, target], lambda ready: move_file(locate(source), snapshot, locate(target), target, ready)
        )

    async def remove(self, snapshot: Snapshot) -> Outcome:
        """Remove the file that still has the text of `snapshot`, through the editor if it is open."""
        path = snapshot.path
        if self._buffers.get(path) is not None:
            outcome = await self._buffers.remove(snapshot)
            return outcome or Refused("it is open in the editor: close it, then try again")
        return await self._write([path], lambda ready: remove_file(self._folders.locate(path), snapshot, ready))

    async def restore(self, path: Path, data: bytes, mode: int) -> Outcome:
        """Create a removed file again, byte for byte, with its permission bits. Stale if a file is there."""
        if self._buffers.get(path) is not None:
            return Refused("it is open in the editor: save it there, or close it, then try again")
        return await self._write(
            [path], lambda ready: restore_file(self._folders.locate(path), path, data, mode, ready)
        )

    def buffer(self, path: Path) -> Snapshot | None:
        """The open document at this path."""
        return self._buffers.get(path)

    def open_files(self) -> Sequence[Path]:
        """The paths of all open documents."""
        return self._buffers.paths()

    async def states(self, expected: Sequence[tuple[Path, FileState | None]]) -> Sequence[FileState | None]:
        """What is on disk at these paths inside the workspace, without following links. See `read_states`."""
        places = [(*self._folders.locate(path), state) for path, state in expected]
        return await asyncio.to_thread(read_states, places)

    async def put(self, steps: Sequence[FileStep]) -> Sequence[str]:
        """Make the steps in order, whatever is open in the editor. Returns for each step why it was not made, or ""."""
        places = [(*self._folders.locate(step.path), step) for step in steps]
        try:
            return await self._to_end(lambda: make_steps(places))
        finally:
            self.written.emit([step.path for step in steps])

    async def _write(self, paths: Sequence[Path], work: Callable[[Ready], Outcome]) -> Outcome:
        """Run `work` in a thread, because `fsync` can take long. One write runs at a time, and each to its end."""
        loop = asyncio.get_running_loop()

        def still_closed() -> bool:
            # Buffers belong to the thread of the loop, so they are checked there. No answer in time is a TimeoutError.
            answer: Future[bool] = Future()
            loop.call_soon_threadsafe(lambda: answer.set_result(not any(map(self._buffers.get, paths))))
            return answer.result(LOOP_SECONDS)

        try:
            return await self._to_end(lambda: work(still_closed))
        except (StaleText, FileMissing) as error:
            return Stale(error.message)
        except WorkspaceError as error:
            return Refused(error.message)
        except OSError as error:
            problem = file_error(error, "the file", writing=True)
            return Stale(problem.message) if isinstance(problem, FileMissing) else Refused(problem.message)
        finally:
            self.written.emit(paths)

    async def _to_end(self, work: Callable[[], T]) -> T:
        """Run `work` in a thread to its end. If the caller is cancelled, this takes effect at its next await."""
        async with self._writing:
            task = asyncio.ensure_future(asyncio.to_thread(work))
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
        return task.result()


def _naming_file(shown: str, work: Callable[[], T]) -> T:
    """Run `work`, and name the file in any error."""
    try:
        return work()
    except OSError as error:
        raise file_error(error, shown) from error
    except WorkspaceError as error:
        raise type(error)(f"{shown}: {error.message}", hint=error.hint, details=error.details) from error


def _decoded(path: Path, shown: str, data: bytes) -> Snapshot:
    try:
        return Snapshot(path, decode(data)[0])
    except NotText as error:
        raise NotText(f"{shown}: {error.message}", hint=error.hint) from error
