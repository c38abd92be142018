"""The log of what turns changed, in one file for all servers, so that it outlives them; else in memory.

A text, or the bytes of a file, is kept once, by its digest. Nothing is opened before the first turn changes something.
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
from tark_lsp.workspace.checkpoints.delta import difference, patched
from tark_lsp.workspace.checkpoints.rows import LAYOUT, OF_TURN, forget_old

if TYPE_CHECKING:
    from sqlite3 import Connection

LOOK_AFTER_BYTES = 16 * 1024**2
"""So much may come until the bounds are looked at again."""
COLUMNS = "number, kind, path, target, before, after, mode, sure, undone"
DEEPEST = 20
"""So many differences are put on top of one another at most to have a version."""
ADD_TURN = "INSERT OR IGNORE INTO turns (id, time, title, folders) VALUES (?, ?, ?, ?)"
ADD_CHANGE = (
    "INSERT INTO changes (number, turn, kind, path, target, before, after, mode, sure, undone)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)"
)
Kind: TypeAlias = Literal["edit", "move", "remove"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LoggedChange:
    """`before` and `after` are digests: of an edit's texts (`before` None: there was no file), or `before` alone of a
    removed file's bytes. `target` is where a file was moved to."""

    number: int
    kind: Kind
    path: Path
    target: Path | None
    before: str | None
    after: str | None
    mode: int
    """Permission bits of a removed file."""
    sure: bool
    """False: the server ended before it learnt whether the change came to be."""
    undone: bool


@dataclass(frozen=True, slots=True)
class LoggedTurn:
    id: str
    time: float
    """Of its first change, in seconds since 1970."""
    title: str
    folders: tuple[Path, ...]
    """Those of the workspace then."""


class _Version(NamedTuple):
    """A file as it was noted last."""

    path: Path
    digest: str
    data: bytes


class _Noted(NamedTuple):
    """A change as it was given to `add`."""

    turn: str
    kind: Kind
    path: Path
    target: Path | None
    before: bytes | None
    after: bytes | None
    mode: int


class CheckpointStore:
    """For one thread. What the file cannot take is kept in a new one or in memory (database.py), and that is said."""

    def __init__(self, locate: Callable[[], Path], failed: Callable[[str, bool, bool], None]) -> None:
        """`locate()` gives the file, in a folder that is there. Where it raises OSError: in memory.

        `failed(problem, lost, in_memory)` is called when the file could not be used; `lost`: with what this process
        had noted; `in_memory`: there is no new file.
        """
        self._database = Database(locate, LAYOUT, self._carry, failed)
        self._own: dict[str, tuple[str, float, str, bytes]] = {}
        """The turns of this process, by their ids: rows of the table."""
        self._noted: dict[int, _Noted] = {}
        """What was noted and not settled yet, by its number."""
        self._unlooked = 0
        self._last: _Version | None = None

    def begin(self, turn_id: str, title: str, folders: Sequence[Path]) -> None:
        """Note a turn; nothing happens to one that is known."""
        values = (_text(turn_id), time.time(), _text(title), b"\0".join(os.fsencode(folder) for folder in folders))

        def work(connection: "Connection") -> bool:
            due = bool(connection.execute(ADD_TURN, values).rowcount) or self._unlooked >= LOOK_AFTER_BYTES
            if due:
                forget_old(connection, values[0])
                self._unlooked = 0
            return due

        self._own.setdefault(values[0], values)
        if self._database.write(work):
            self._database.shorten()

    def add(
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
        """Note a change that is about to be made, of a turn that was begun; its number, for `sure` or `drop`."""
        noted = _Noted(_text(turn_id), kind, path, target, before, after, mode)
        number = self._database.write(lambda connection: self._insert(connection, noted))
        self._noted[number] = noted
        return number

    def sure(self, number: int) -> None:
        """The change that this store noted came to be. What an undo by another process took it for before that is void:
        it is there to be taken back, and written anew where it was given up or forgotten."""
        noted = self._noted.pop(number)

        def work(connection: "Connection") -> None:
            sql = "UPDATE changes SET sure = 1, undone = 0 WHERE number = ?"
            if not connection.execute(sql, (number,)).rowcount:
                connection.execute(ADD_TURN, self._own[noted.turn])
                self._insert(connection, noted, number, sure=True)

        self._database.write(work)

    def drop(self, number: int) -> None:
        """The change did not come to be."""
        self._noted.pop(number, None)
        self._database.write(lambda connection: connection.execute("DELETE FROM changes WHERE number = ?", (number,)))

    def give_up(self, changes: Iterable[LoggedChange]) -> None:
        """Nothing is seen of the changes; one that its server is sure of by now stays."""
        rows = [(change.number,) for change in changes]
        self._database.write(
            lambda connection: connection.executemany("DELETE FROM changes WHERE number = ? AND NOT sure", rows)
        )

    def undone(self, changes: Iterable[LoggedChange]) -> None:
        """The changes were taken back; not one that was made sure since it was read, as it may have come just then."""
        rows = [(change.number, change.sure) for change in changes]
        sql = "UPDATE changes SET undone = 1 WHERE number = ? AND sure = ?"
        self._database.write(lambda connection: connection.executemany(sql, rows))

    def turns(self) -> list[LoggedTurn]:
        """The newest first."""
        return [
            LoggedTurn(id_, when, title, tuple(_path(each) for each in folders.split(b"\0") if each))
            for id_, when, title, folders in self._database.read(
                "SELECT id, time, title, folders FROM turns ORDER BY number DESC"
            )
        ]

    def changes(self, turn_id: str) -> list[LoggedChange]:
        """In their order; none for a turn that is not known."""
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
        """Raises WorkspaceError where it is not there as it was kept."""
        layers: list[bytes] = []
        at: str | None = digest
        while at is not None and len(layers) <= DEEPEST:
            rows = self._database.read("SELECT data, base FROM contents WHERE digest = ?", at)
            data, at = rows[0] if rows else (b"", None)
            layers.append(data)
        whole = layers.pop()
        for changed in reversed(layers):
            whole = patched(whole, changed)
        if sha256(whole).hexdigest() != digest:
            raise WorkspaceError("the copy of what it was is damaged")
        return whole

    def _insert(self, connection: "Connection", noted: _Noted, number: int | None = None, *, sure: bool = False) -> int:
        """As the next change, or as one that had that number."""
        old = None if noted.before is None else self._keep(connection, noted.path, noted.before)
        new = None if noted.after is None else self._keep(connection, noted.path, noted.after)
        places = os.fsencode(noted.path), None if noted.target is None else os.fsencode(noted.target)
        values = (number, noted.turn, noted.kind, *places, old, new, noted.mode, sure)
        given = connection.execute(ADD_CHANGE, values).lastrowid
        assert given is not None, "there is one after an INSERT"
        return given

    def _keep(self, connection: "Connection", path: Path, data: bytes) -> str:
        """Whole, or as the difference from what this file was noted with last."""
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
                changed = difference(last.data, data)
                if 2 * len(changed) < len(data):
                    base, depth, stored = last.digest, below[0] + 1, changed
        sql = "INSERT INTO contents (digest, size, base, depth, data) VALUES (?, ?, ?, ?, ?)"
        connection.execute(sql, (digest, len(stored), base, depth, stored))
        self._unlooked += len(stored)
        return digest

    def _carry(self, old: "Connection", new: "Connection") -> bool:
        """What was noted of the turns of this process, with its numbers."""
        from tark_lsp.sqlite_file import copy_rows

        whole = True
        for turn in self._own:
            whole = copy_rows(old, new, OF_TURN, {"turn": turn}) and whole
        new.executemany(ADD_TURN, self._own.values())
        return whole


def _text(text: str) -> str:
    """An editor may send lone surrogates, which SQLite does not take."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _path(data: bytes) -> Path:
    return Path(os.fsdecode(data))
