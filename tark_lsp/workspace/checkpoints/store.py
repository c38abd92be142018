"""CheckpointStore: the log of what turns changed, in one persistent file for all servers.

A text, or the bytes of a file, is stored once, by its digest. Nothing is opened before a turn changes something.
"""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypeVar

from tark_lsp.database import Database
from tark_lsp.errors import WorkspaceError
from tark_lsp.workspace.checkpoints.commands.command_rows import CommandRows
from tark_lsp.workspace.checkpoints.delta import apply_delta, make_delta
from tark_lsp.workspace.checkpoints.schema import LAYOUT, OF_TURN, UNDO_LOG, delete_old_turns

if TYPE_CHECKING:
    from sqlite3 import Connection

CHECK_AFTER_BYTES = 16 * 1024**2
"""The limits are checked again after this many bytes."""
COLUMNS = "number, kind, path, target, before, after, mode, sure, undone"
DEEPEST = 20
"""The maximum number of deltas that are applied to get a version."""
ADD_TURN = "INSERT OR IGNORE INTO turns (id, time, title, folders) VALUES (?, ?, ?, ?)"
ADD_CHANGE = (
    "INSERT INTO changes (number, turn, kind, path, target, before, after, mode, sure, undone)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)"
)
Kind: TypeAlias = Literal["edit", "move", "remove", "file"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LoggedChange:
    """`before` and `after` depend on the kind of the change. Edit: digests of the texts (`before` None: there was no
    file). Removal: `before` is the digest of the file's bytes. `file` (changed by a command): `FileState`s as texts, or
    None. `target` is the new path of a move."""

    number: int
    kind: Kind
    path: Path
    target: Path | None
    before: str | None
    after: str | None
    mode: int
    """Removal: the permission bits of the file. `file`: which command of the turn it was. Edit by undo: the number of
    the change that it follows, if commands came later."""
    confirmed: bool
    """False: the server ended before it knew whether the change was made."""
    undone: bool

    @property
    def order(self) -> tuple[int, int]:
        """Changes are undone in the reverse of this order."""
        return (self.mode if self.kind == "edit" and self.mode else self.number), self.number


@dataclass(frozen=True, slots=True)
class StoredBytes:
    """What the database has for a digest: deltas, and finally the bytes that the first delta applies to."""

    digest: str
    layers: tuple[bytes, ...]

    def whole(self) -> bytes:
        """Raises WorkspaceError if they are not stored or are damaged."""
        *deltas, whole = self.layers
        for delta in reversed(deltas):
            whole = apply_delta(whole, delta)
        if sha256(whole).hexdigest() != self.digest:
            raise WorkspaceError("the copy of what it was is damaged")
        return whole


@dataclass(frozen=True, slots=True)
class LoggedTurn:
    id: str
    time: float
    """When its first change was made, in seconds since 1970."""
    title: str
    folders: tuple[Path, ...]
    """The folders of the workspace at that time."""


class _Version(NamedTuple):
    """The last recorded version of a file."""

    path: Path
    digest: str
    data: bytes


class _Recorded(NamedTuple):
    """The arguments of `add_change`."""

    turn: str
    kind: Kind
    path: Path
    target: Path | None
    before: bytes | None
    after: bytes | None
    mode: int


class CheckpointStore:
    """For one thread. If the file fails, a new one or memory is used (database.py), and `failed` is called."""

    def __init__(self, locate: Callable[[], Path], failed: Callable[[str, bool, bool], None]) -> None:
        """`locate()` returns the file, whose folder exists. If it raises OSError, changes are kept in memory.

        `failed(problem, lost, in_memory)` is called when the file fails; `lost`: changes that this process recorded are
        lost; `in_memory`: there is no new file.
        """
        self._database = Database(locate, LAYOUT, self._carry, failed)
        self.commands = CommandRows(self._database)
        self._own: dict[str, tuple[str, float, str, bytes]] = {}
        """The rows of this process's turns, by id."""
        self._recorded: dict[int, _Recorded] = {}
        """The changes without an outcome yet, by number."""
        self._unchecked_bytes = 0
        self._last: _Version | None = None

    def begin_turn(self, turn_id: str, title: str, folders: Sequence[Path]) -> None:
        """Add a turn. Nothing happens if it exists."""
        values = (_text(turn_id), time.time(), _text(title), b"\0".join(os.fsencode(folder) for folder in folders))

        def work(connection: "Connection") -> bool:
            due = bool(connection.execute(ADD_TURN, values).rowcount) or self._unchecked_bytes >= CHECK_AFTER_BYTES
            if due:
                delete_old_turns(connection, values[0])
                self._unchecked_bytes = 0
            return due

        self._own.setdefault(values[0], values)
        if self._database.write(work):
            self._database.free_pages()

    def add_change(
        self,
        turn_id: str,
        kind: Kind,
        path: Path,
        *,
        target: Path | None = None,
        before: bytes | None = None,
        after: bytes | None = None,
        mode: int = 0,
    ) -> int:
        """Record a change that is about to be made, of a turn that was begun. Returns its number."""
        change = _Recorded(_text(turn_id), kind, path, target, before, after, mode)
        number = self._database.write(lambda connection: self._insert(connection, change))
        self._recorded[number] = change
        return number

    def confirm_change(self, number: int) -> None:
        """Confirm that a change that this store recorded was made.

        Another process may have undone, dropped or deleted it as not made. It can be undone from now on, and is written
        again if necessary.
        """
        change = self._recorded.pop(number)

        def work(connection: "Connection") -> None:
            sql = "UPDATE changes SET sure = 1, undone = 0 WHERE number = ?"
            if not connection.execute(sql, (number,)).rowcount:
                connection.execute(ADD_TURN, self._own[change.turn])
                self._insert(connection, change, number, sure=True)

        self._database.write(work)

    def drop_change(self, number: int) -> None:
        """Delete a change that was not made."""
        self._recorded.pop(number, None)
        self._database.write(lambda connection: connection.execute("DELETE FROM changes WHERE number = ?", (number,)))

    def drop_unconfirmed(self, changes: Iterable[LoggedChange]) -> None:
        """Delete changes of which nothing is seen, except changes that their server has confirmed since."""
        rows = [(change.number,) for change in changes]
        self._database.write(
            lambda connection: connection.executemany("DELETE FROM changes WHERE number = ? AND NOT sure", rows)
        )

    def mark_undone(self, changes: Iterable[LoggedChange]) -> None:
        """Mark the changes as undone, except changes that were confirmed since they were read, because they may have
        been made after that."""
        rows = [(change.number, change.confirmed) for change in changes]
        sql = "UPDATE changes SET undone = 1 WHERE number = ? AND sure = ?"
        self._database.write(lambda connection: connection.executemany(sql, rows))

    def turns(self) -> list[LoggedTurn]:
        """All turns, newest first, without the logs of their undo."""
        return [
            LoggedTurn(id_, when, title, tuple(_path(folder) for folder in folders.split(b"\0") if folder))
            for id_, when, title, folders in self._database.read(
                "SELECT id, time, title, folders FROM turns ORDER BY number DESC"
            )
            if not id_.startswith(UNDO_LOG)
        ]

    def standing(self, log_ids: Iterable[str]) -> set[str]:
        """The logs that have a change that was not undone."""
        wanted = [*map(_text, log_ids)]
        sql = f"SELECT DISTINCT turn FROM changes WHERE NOT undone AND turn IN ({', '.join('?' * len(wanted))})"
        return {turn for (turn,) in self._database.read(sql, *wanted)} if wanted else set()

    def changes(self, turn_id: str) -> list[LoggedChange]:
        """The changes of a turn in order; empty for an unknown turn."""
        rows = self._database.read(f"SELECT {COLUMNS} FROM changes WHERE turn = ? ORDER BY number", _text(turn_id))
        return [
            LoggedChange(
                number,
                kind,
                _path(path),
                None if target is None else _path(target),
                before,
                after,
                mode,
                bool(sure),
                bool(undone),
            )
            for number, kind, path, target, before, after, mode, sure, undone in rows
        ]

    def content(self, digest: str) -> bytes:
        """The bytes with this digest. Raises WorkspaceError if they are not stored or are damaged."""
        return self.stored(digest).whole()

    def stored(self, digest: str) -> "StoredBytes":
        """Like `content`, but without computing anything yet."""
        layers: list[bytes] = []
        at: str | None = digest
        while at is not None and len(layers) <= DEEPEST:
            rows = self._database.read("SELECT data, base FROM contents WHERE digest = ?", at)
            data, at = rows[0] if rows else (b"", None)
            layers.append(data)
        return StoredBytes(digest, tuple(layers))

    def _insert(
        self, connection: "Connection", change: _Recorded, number: int | None = None, *, sure: bool = False
    ) -> int:
        """Insert a change as the next one, or with its former number."""
        old = None if change.before is None else self._store_bytes(connection, change.path, change.before)
        new = None if change.after is None else self._store_bytes(connection, change.path, change.after)
        places = os.fsencode(change.path), None if change.target is None else os.fsencode(change.target)
        values = (number, change.turn, change.kind, *places, old, new, change.mode, sure)
        given = connection.execute(ADD_CHANGE, values).lastrowid
        assert given is not None, "an INSERT sets it"
        return given

    def _store_bytes(self, connection: "Connection", path: Path, data: bytes) -> str:
        """Store the bytes as a whole, or as a delta to the last version of this file. Returns the digest."""
        last = self._last
        digest = last.digest if last is not None and last.data == data else sha256(data).hexdigest()
        self._last = _Version(path, digest, data)
        known = "SELECT depth FROM contents WHERE digest = ?"
        if connection.execute(known, (digest,)).fetchone() is not None:
            return digest
        base, depth, stored = None, 0, data
        if last is not None and last.path == path:
            below = connection.execute(known, (last.digest,)).fetchone()
            if below is not None and below[0] < DEEPEST:
                delta = make_delta(last.data, data)
                if 2 * len(delta) < len(data):
                    base, depth, stored = last.digest, below[0] + 1, delta
        sql = "INSERT INTO contents (digest, size, base, depth, data) VALUES (?, ?, ?, ?, ?)"
        connection.execute(sql, (digest, len(stored), base, depth, stored))
        self._unchecked_bytes += len(stored)
        return digest

    def _carry(self, old: "Connection", new: "Connection") -> bool:
        """See `Database`. The changes keep their numbers."""
        from tark_lsp.sqlite_file import copy_rows

        complete = True
        for turn in self._own:
            for table, sql in OF_TURN.items():
                complete = copy_rows(old, new, table, sql, {"turn": turn}) and complete
        new.executemany(ADD_TURN, self._own.values())
        return complete


def _text(text: str) -> str:
    """Editors can send lone surrogates, which SQLite does not accept."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _path(data: bytes) -> Path:
    return Path(os.fsdecode(data))
