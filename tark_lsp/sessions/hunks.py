"""The rows of undecided hunks, which are kept when their server ends.

A server stores its rows under its own lease (leases.py), which is not the lease of a session. If the lease is free, the
server is gone, and another server of that workspace takes over the rows.
"""

import json
import logging
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tark_lsp.sessions.store import SessionStore

if TYPE_CHECKING:
    from sqlite3 import Connection

log = logging.getLogger(__name__)

LARGEST_TEXT = 4_000_000
"""In characters. For a longer text, only the digest is stored, so its hunks are restored only if nothing changed."""
ADD = "INSERT INTO kept_hunks (lease, path, digest, text, hunks) VALUES (?, ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class KeptHunk:
    """The facts of a `ReviewHunk` (review/hunk.py) as they are stored. Lines keep their endings, paths are strings."""

    id: str
    turn_id: str
    start: int
    size: int
    old: tuple[str, ...]
    new: tuple[str, ...]
    state: str
    """`pending` or `conflict`."""
    reason: str
    applied: bool
    created: bool
    of_file: bool
    outside_selection: bool
    whole: str
    operation: str
    source: str
    target: str | None


@dataclass(frozen=True, slots=True)
class KeptText:
    """A text of a file, its digest, and the hunks with places in it. `text` is None if it is too long."""

    path: Path
    digest: str
    text: str | None
    hunks: tuple[KeptHunk, ...]


class HunkRows:
    def __init__(self, store: SessionStore, mark: Callable[[], Path]) -> None:
        """`mark()`: a file that exists while hunks of any server are stored. The database is read only then."""
        self._store = store
        self._mark = mark
        self._lease = ""

    @property
    def any_exist(self) -> bool:
        """Are hunks of any server stored? Does not open the database."""
        return self._mark().exists()

    def replace_rows(self, path: Path, texts: Sequence[KeptText]) -> None:
        """Replace the rows of this file; without texts, delete them. Each text has a different digest.

        A text whose digest is already stored can be given as None.
        """
        lease, place = self._taken(), os.fsencode(path)
        kept = "SELECT number, digest FROM kept_hunks WHERE lease = ? AND path = ?"

        def work(connection: "Connection") -> None:
            rows = connection.execute(kept, (lease, place)).fetchall()
            numbers = {digest: number for number, digest in rows}
            left = {number for number, _ in rows}
            for text in texts:
                number = numbers.get(text.digest)
                if number is None:
                    connection.execute(ADD, (lease, place, text.digest, _packed(text.text), _json(text.hunks)))
                else:
                    connection.execute("UPDATE kept_hunks SET hunks = ? WHERE number = ?", (_json(text.hunks), number))
                    left.discard(number)
            connection.executemany("DELETE FROM kept_hunks WHERE number = ?", [(number,) for number in left])
            self._set_mark(connection)

        self._store.file.write(work)

    def take_over_rows(self, wanted: Callable[[Path], bool]) -> list[KeptText]:
        """Take over the rows of servers that are gone, for the wanted files and for hunks of the same groups."""
        ours = self._taken()
        leases = self._store.file.read("SELECT DISTINCT lease FROM kept_hunks WHERE lease != ?", ours)
        found: list[KeptText] = []
        for (lease,) in leases:
            if self._store.acquire_lease(lease) is None:
                found += self._store.file.write(partial(_move, lease, ours, wanted))
                self._store.release_leases(lease)
        if not leases:
            self._store.file.write(self._set_mark)  # removes a mark that a killed server left behind
        return found

    def _taken(self) -> str:
        if not self._lease:
            self._lease = f"hunks-{secrets.token_hex(8)}"
            self._store.acquire_lease(self._lease)
        return self._lease

    def _set_mark(self, connection: "Connection") -> None:
        """Create or remove the mark, in the transaction that changed the rows, so that no two servers do it at once.

        A server whose database is in memory does not know whether others have rows in the file, and keeps the mark.
        """
        some = connection.execute("SELECT 1 FROM kept_hunks LIMIT 1").fetchone()
        (_, _, file) = connection.execute("PRAGMA database_list").fetchone()
        try:
            if some:
                self._mark().touch(mode=0o600)
            elif file:
                self._mark().unlink(missing_ok=True)
        except OSError as error:  # then the store is in memory, too, and has reported it
            log.warning("undecided hunks cannot be marked as kept: %s", error)


def _move(old: str, new: str, wanted: Callable[[Path], bool], connection: "Connection") -> list[KeptText]:
    sql = "SELECT number, path, digest, text, hunks FROM kept_hunks WHERE lease = ? ORDER BY number"
    all_of_it = {number: _read(row) for number, *row in connection.execute(sql, (old,))}
    chosen = {number for number, text in all_of_it.items() if wanted(text.path)}
    together = {hunk.whole for number in chosen for hunk in all_of_it[number].hunks} - {""}
    chosen |= {
        number for number, text in all_of_it.items() if not together.isdisjoint(hunk.whole for hunk in text.hunks)
    }
    sql = "UPDATE kept_hunks SET lease = ? WHERE number = ?"
    connection.executemany(sql, [(new, number) for number in sorted(chosen)])
    return [all_of_it[number] for number in sorted(chosen)]


def _json(hunks: Sequence[KeptHunk]) -> str:
    """ASCII, so that lone surrogates can be stored."""
    names = [item.name for item in fields(KeptHunk)]
    values = attrgetter(*names)  # `dataclasses.asdict` copies everything, and takes ten times as long
    return json.dumps([dict(zip(names, values(hunk), strict=True)) for hunk in hunks], separators=(",", ":"))


def _read(row: Sequence[Any]) -> KeptText:
    path, digest, text, hunks = row
    return KeptText(
        Path(os.fsdecode(path)), digest, _unpacked(text), tuple(_hunk(value) for value in json.loads(hunks))
    )


def _hunk(value: Mapping[str, Any]) -> KeptHunk:
    values = {item.name: value[item.name] for item in fields(KeptHunk)}
    return KeptHunk(**{**values, "old": tuple(values["old"]), "new": tuple(values["new"])})


def _packed(text: str | None) -> bytes | None:
    import zlib

    return None if text is None else zlib.compress(text.encode("utf-8", "surrogatepass"), level=1)


def _unpacked(data: bytes | None) -> str | None:
    import zlib

    return None if data is None else zlib.decompress(data).decode("utf-8", "surrogatepass")
