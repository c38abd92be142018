"""The log of what turns changed, in one file for all servers, so that it outlives them; else in memory.

A text, or the bytes of a file, is kept once, by its digest. Nothing is opened before the first turn changes something.
"""

import os
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar

from tark_lsp.errors import WorkspaceError
from tark_lsp.workspace.checkpoints.delta import difference, patched

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
    """For one thread. What the file cannot take is kept in memory, from then on, and that is said once."""

    def __init__(self, locate: Callable[[], Path], failed: Callable[[str, bool], None]) -> None:
        """`locate()` gives the file, in a folder that is there. Where it raises OSError: in memory.

        `failed(problem, lost)` is called once, when the file can be used no more; `lost`: with what is in it.
        """
        self._locate: Callable[[], Path] | None = locate
        self._failed = failed
        self._open: list[Connection] = []
        self._own: dict[str, tuple[str, float, str, bytes]] = {}
        """The turns of this process, by their ids: rows of the table."""
        self._noted: dict[int, _Noted] = {}
        """What was noted and not settled yet, by its number."""
        self._unlooked = 0
        self._last: _Version | None = None
        weakref.finalize(self, _close, self._open)

    def begin(self, turn_id: str, title: str, folders: Sequence[Path]) -> None:
        """Note a turn; nothing happens to one that is known."""
        from tark_lsp.workspace.checkpoints.sqlite_file import forget_old

        values = (_text(turn_id), time.time(), _text(title), b"\0".join(os.fsencode(folder) for folder in folders))

        def work(connection: "Connection") -> None:
            if connection.execute(ADD_TURN, values).rowcount or self._unlooked >= LOOK_AFTER_BYTES:
                forget_old(connection, values[0])
                self._unlooked = 0

        self._own.setdefault(values[0], values)
        self._write(work)

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
        number = self._write(lambda connection: self._insert(connection, noted))
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

        self._write(work)

    def drop(self, number: int) -> None:
        """The change did not come to be."""
        self._noted.pop(number, None)
        self._write(lambda connection: connection.execute("DELETE FROM changes WHERE number = ?", (number,)))

    def give_up(self, changes: Iterable[LoggedChange]) -> None:
        """Nothing is seen of the changes; one that its server is sure of by now stays."""
        rows = [(change.number,) for change in changes]
        self._write(
            lambda connection: connection.executemany("DELETE FROM changes WHERE number = ? AND NOT sure", rows)
        )

    def undone(self, changes: Iterable[LoggedChange]) -> None:
        """The changes were taken back; not one that was made sure since it was read, as it may have come just then."""
        rows = [(change.number, change.sure) for change in changes]
        sql = "UPDATE changes SET undone = 1 WHERE number = ? AND sure = ?"
        self._write(lambda connection: connection.executemany(sql, rows))

    def turns(self) -> list[LoggedTurn]:
        """The newest first."""
        return [
            LoggedTurn(id_, when, title, tuple(_path(each) for each in folders.split(b"\0") if each))
            for id_, when, title, folders in self._read(
                "SELECT id, time, title, folders FROM turns ORDER BY number DESC"
            )
        ]

    def changes(self, turn_id: str) -> list[LoggedChange]:
        """In their order; none for a turn that is not known."""
        rows = self._read(f"SELECT {COLUMNS} FROM changes WHERE turn = ? ORDER BY number", _text(turn_id))
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
            rows = self._read("SELECT data, base FROM contents WHERE digest = ?", at)
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

    def _read(self, sql: str, *values: str) -> list[Any]:
        return self._do(lambda connection: connection.execute(sql, values).fetchall())

    def _write(self, work: "Callable[[Connection], T]") -> T:
        from tark_lsp.workspace.checkpoints.sqlite_file import in_one

        return self._do(lambda connection: in_one(connection, work))

    def _do(self, work: "Callable[[Connection], T]") -> T:
        import sqlite3

        try:
            return work(self._opened())
        except (sqlite3.Error, OSError) as error:
            if self._locate is None:  # memory is all there is, and nothing is known to go wrong there
                raise
            self._fall_back(error)
        return work(self._opened())

    def _opened(self) -> "Connection":
        from tark_lsp.workspace.checkpoints.sqlite_file import open_file, open_memory

        if not self._open:
            self._open.append(open_memory() if self._locate is None else open_file(self._locate()))
        return self._open[0]

    def _fall_back(self, error: Exception) -> None:
        """Go on in memory, with what this process has written so far."""
        import sqlite3

        from tark_lsp.workspace.checkpoints.sqlite_file import copy_changes

        files = self._open.copy()
        self._open.clear()
        self._locate = None
        lost = False
        for file in files:
            try:
                copy_changes(file, self._opened(), self._own)
            except sqlite3.Error:
                lost = True  # and said
        _close(files)
        self._write(lambda connection: connection.executemany(ADD_TURN, self._own.values()))
        self._failed(str(error), lost)


def _close(connections: "list[Connection]") -> None:
    while connections:
        connections.pop().close()


def _text(text: str) -> str:
    """An editor may send lone surrogates, which SQLite does not take."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _path(data: bytes) -> Path:
    return Path(os.fsdecode(data))
