"""Finds what a command changed: compares the entries before it with the current state. Stores what undo needs."""

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from tark_lsp.workspace.checkpoints.commands.copies import Copies
from tark_lsp.workspace.checkpoints.commands.entries import Entry, entry_at, is_folder
from tark_lsp.workspace.checkpoints.commands.git_objects import GitObjects, MissingObject
from tark_lsp.workspace.checkpoints.commands.running_command import RunningCommand
from tark_lsp.workspace.checkpoints.commands.survey import GIT, MOST_BYTES, Survey, parent_of
from tark_lsp.workspace.closed_files import LARGEST_FILE
from tark_lsp.workspace.disk.hashing import hash_descriptor, opened
from tark_lsp.workspace.file_state import FileChange, FileState, StateKind, stamp_content


class Comparison:
    """For one command. Its methods block."""

    def __init__(self, running: RunningCommand, after: Survey, copies: Copies) -> None:
        self._before = running.before
        self._objects = GitObjects(running.stores)
        self._after = after
        self._copies = copies
        self._left = MOST_BYTES
        """The bytes of created files that can still be read within the limit."""
        self._looked_up: dict[str, Entry | None] = {}
        """Entries that the survey after the command does not have, because they are ignored now, or gone."""

    def changes(self, others: Collection[Path] = ()) -> Iterator[FileChange]:
        """The changes in the order of their paths, without `others`: files that somebody else wrote meanwhile."""
        known = {entry.stamp.inode for entry in self._before.values() if entry.links == 1}
        left_out = {str(path) for path in others}
        for path in sorted({*self._before, *self._after.entries} - left_out):
            old, new = self._before.get(path), self._now(path)
            if old is None and new is not None and new.stamp.inode in known and self._is_other_spelling(path, new):
                continue
            if old is not None and new is not None and _is_same(old, new):
                continue
            before, after = self._state_before(old), self._state_after(path, old, new)
            if before != after:
                yield FileChange(Path(path), before, after)

    def _now(self, path: str) -> Entry | None:
        """What is at a path of one of the surveys. Does not look behind links."""
        if (entry := self._after.entries.get(path)) is None and path not in self._looked_up:
            above = parent_of(path)
            is_real = is_folder(self._now(above)) if above in self._before else above in self._after.entries
            self._looked_up[path] = entry_at(path) if is_real else None
        return entry or self._looked_up.get(path)

    def _is_other_spelling(self, path: str, new: Entry) -> bool:
        """On a case-insensitive file system, a renamed file can still be found by its old name."""
        if new.links > 1:
            return False
        folder = path.rpartition(os.sep)[0]
        return any(
            other.rpartition(os.sep)[0] == folder and other.casefold() == path.casefold() and _has_inode(other, new)
            for other in self._before
        )

    def _state_before(self, entry: Entry | None) -> FileState | None:
        if entry is None or entry.kind is not StateKind.FILE:
            return _state_without_bytes(entry)
        if not entry.content.startswith(GIT):
            return FileState(StateKind.FILE, entry.mode, entry.content)
        try:
            name = entry.content.removeprefix(GIT)
            data = self._objects.read_blob(bytes.fromhex(name)) if entry.stamp.size else b""
            digest = sha256(data).hexdigest()
            self._copies.add_bytes(data, digest)
        except (MissingObject, OSError):
            digest = ""  # undo reports that there is no copy
        return FileState(StateKind.FILE, entry.mode, digest)

    def _state_after(self, path: str, old: Entry | None, entry: Entry | None) -> FileState | None:
        if entry is None or entry.kind is not StateKind.FILE:
            return _state_without_bytes(entry)
        try:
            with opened(path) as descriptor:
                return self._state_of_file(path, old, entry, descriptor)
        except FileNotFoundError:
            return None
        except OSError:
            return self._unread(path, entry)

    def _state_of_file(self, path: str, old: Entry | None, entry: Entry, descriptor: int) -> FileState | None:
        if old is None:
            self._left -= entry.stamp.size
            if self._left < 0:
                return self._unread(path, entry)
        elif (
            entry.stamp.size <= LARGEST_FILE
        ):  # if the user changes it later, undo needs the text that the command left
            with suppress(OSError):
                return FileState(StateKind.FILE, entry.mode, self._copies.add_descriptor(descriptor))
            os.lseek(descriptor, 0, os.SEEK_SET)
        return FileState(StateKind.FILE, entry.mode, hash_descriptor(descriptor))

    def _unread(self, path: str, entry: Entry) -> FileState | None:
        try:
            return FileState(StateKind.FILE, entry.mode, stamp_content(os.lstat(path)))
        except OSError:
            return None


def _is_same(old: Entry, new: Entry) -> bool:
    """Ignores the times of a folder, because they change with its content."""
    if old.kind is not new.kind or old.link != new.link or old.mode != new.mode:
        return False
    return old.kind is not StateKind.FILE or old.stamp == new.stamp


def _has_inode(path: str, entry: Entry) -> bool:
    try:
        return os.lstat(path).st_ino == entry.stamp.inode
    except OSError:
        return False


def _state_without_bytes(entry: Entry | None) -> FileState | None:
    """The state of a link, a folder, or nothing. Besides files, a survey has no other kinds."""
    if entry is None:
        return None
    if entry.kind is StateKind.LINK:
        return FileState.of_link(entry.link)
    return FileState(StateKind.FOLDER, entry.mode)
