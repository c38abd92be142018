"""CommandCheckpoints: records what a command in the sandbox changed, so that the undo of its turn can undo it.

| when | what |
|---|---|
| before the question | `why_not`: can everything be restored that the command could change? |
| before the command | `begin`: copies what Git cannot restore, and writes the state of the workspace to a file |
| after it | `finish`: records what differs in the turn's checkpoint, with the state before |
| after kill -9 | `recover`: the next server, or `tark-lsp undo`, does what `finish` would have done |
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from tark_lsp.errors import FailureForModel
from tark_lsp.workspace.checkpoints.checkpoints import Checkpoints
from tark_lsp.workspace.checkpoints.commands.comparison import Comparison
from tark_lsp.workspace.checkpoints.commands.running_command import (
    RunningCommand,
    files_of_running,
    read_running,
    write_running,
)
from tark_lsp.workspace.checkpoints.commands.survey import CannotCheckpoint, Survey, Surveyor
from tark_lsp.workspace.file_state import FileChange

ListFiles: TypeAlias = Callable[[Sequence[Path]], Awaitable[Sequence[str]]]
"""The files below the folders that Git does not ignore, including hidden files. Raises FailureForModel."""
CLEAN_SECONDS = 600.0
KEPT_BYTES = 1024**3
"""Limit for the copies that turns need. The oldest turns are deleted first."""


class CommandCheckpoints:
    """For one thread. Blocking work runs in another thread."""

    def __init__(self, checkpoints: Checkpoints, locate: Callable[[], Path], list_files: ListFiles) -> None:
        """`locate()` returns the folder for the files of running commands, whose parent exists, or raises OSError."""
        self._checkpoints = checkpoints
        self._rows = checkpoints.commands
        self._copies = copies = checkpoints.copies
        self._locate = locate
        self._list_files = list_files
        self._surveyor = Surveyor(copies)
        self._surveying = asyncio.Lock()
        self._recovering = asyncio.Lock()
        self._running: dict[Path, set[Path]] = {}
        """By the file of the command: the files that others wrote meanwhile."""
        self._finishing: set[asyncio.Task[list[FileChange]]] = set()
        self._failed = ""
        """Why the last `begin` was not possible, for the next `why_not`."""
        self._checked: object = None
        """The folders of the last successful `begin`, and what was granted."""
        self._clean_at = 0.0

    async def why_not(self, folders: Sequence[Path], granted: Sequence[Path] = ()) -> str:
        """Why the changes of a command could not be undone, for the user; empty if they can.

        `granted`: paths that it can write to although they are protected or outside the workspace. Nothing outside is
        recorded.
        """
        if self._failed:
            failed, self._failed = self._failed, ""
            return failed
        if (tuple(folders), tuple(granted)) == self._checked:
            return ""  # `begin` checks again, and starts nothing if it is no longer possible
        try:
            async with self._surveying:
                survey = await self._survey(folders, granted)
                await asyncio.to_thread(self._surveyor.classify, survey)
        except CannotCheckpoint as problem:
            return str(problem)
        return ""

    async def begin(self, turn_id: str, folders: Sequence[Path], granted: Sequence[Path] = ()) -> RunningCommand:
        """Call `finish` when the command has ended. `granted` as for `why_not`.

        Raises CannotCheckpoint; then the next `why_not` says so.
        """
        try:
            async with self._surveying:
                since = self._rows.last_number()
                survey = await self._survey(folders, granted)
                await asyncio.to_thread(self._store, survey)
            try:
                running = await asyncio.to_thread(
                    lambda: write_running(self._locate(), turn_id, folders, since, survey)
                )
            except OSError as error:
                raise CannotCheckpoint(f"the state folder cannot be written: {error.strerror}") from error
        except CannotCheckpoint as problem:
            self._failed, self._checked = str(problem), None
            raise
        self._checked = tuple(folders), tuple(granted)
        self._running[running.file] = set()
        return running

    async def finish(self, running: RunningCommand) -> list[FileChange]:
        """Record and return what the command changed. If the caller is cancelled, it is recorded nevertheless.

        Raises FailureForModel if the files cannot be listed. Then new files are not recorded.
        """
        task = asyncio.ensure_future(self._record(running))
        self._finishing.add(task)
        task.add_done_callback(self._finishing.discard)
        return await asyncio.shield(task)

    def abandon(self, running: RunningCommand) -> None:
        """Call this if the command was not started."""
        self._running.pop(running.file, None)
        running.close()

    async def recover(self) -> None:
        """Record what commands of killed servers changed, and wait for changes that are being recorded here."""
        async with self._recovering:
            if self._finishing:
                await asyncio.wait([*self._finishing])
            try:
                files = files_of_running(self._locate())  # not in a thread: usually there is none, and undo waits
            except OSError:
                return
            for file in files:
                running = None if file in self._running else await asyncio.to_thread(read_running, file)
                if running is None:
                    continue
                if all(folder.is_dir() for folder in running.folders):
                    with contextlib.suppress(FailureForModel):
                        await self.finish(running)
                else:
                    running.leave()  # it can be on a disk that is not mounted now

    def note_written(self, path: Path) -> None:
        """Note that this file was not written by a command: the user saved it."""
        for written in self._running.values():
            written.add(path)

    async def _record(self, running: RunningCommand) -> list[FileChange]:
        problem: FailureForModel | None = None
        try:
            try:
                listed = await self._list_files(running.folders)
            except FailureForModel as error:  # known files can still be compared
                listed, problem = (), error
            async with self._surveying:
                after = await asyncio.to_thread(self._surveyor.survey, running.folders, listed)
                others = {*self._running.get(running.file, ()), *self._rows.changed_after(running.since)}
                comparison = Comparison(running, after, self._copies)
                changes = await asyncio.to_thread(lambda: [*comparison.changes(others)])
            if changes:
                self._checkpoints.record_command(running.turn_id, changes)
        except BaseException:  # also on cancellation: the file stays, and the next server finishes the record
            self._running.pop(running.file, None)
            running.leave()
            raise
        self._running.pop(running.file, None)
        running.close()
        await self._clean()
        if problem is not None:
            raise problem
        return changes

    async def _survey(self, folders: Sequence[Path], granted: Sequence[Path] = ()) -> Survey:
        try:
            listed = await self._list_files(folders)
        except FailureForModel as error:
            raise CannotCheckpoint(f"its files cannot be listed: {error.message}") from error
        return await asyncio.to_thread(self._surveyor.survey, folders, listed, granted)

    def _store(self, survey: Survey) -> None:
        self._surveyor.classify(survey)
        self._surveyor.copy(survey)

    async def _clean(self) -> None:
        """From time to time, remove unused copies, and the oldest turns if the copies take too much space."""
        if self._clean_at > time.monotonic():
            return
        self._clean_at = time.monotonic() + CLEAN_SECONDS
        sizes = await asyncio.to_thread(self._copies.sizes)
        used = self._rows.used_copies()
        while sum(sizes.get(digest, 0) for digest in used) > KEPT_BYTES and self._rows.forget_oldest():
            used = self._rows.used_copies()
        used |= {*self._surveyor.digests()}
        if all(file in self._running for file in files_of_running(self._locate())):  # the others need copies, too
            await asyncio.to_thread(self._copies.remove_unused, used)
