"""Undecided hunks, kept so that they outlive the server that made them: rows for each file that has some.

A server keeps its rows under a lease of its own (leases.py), which is no session's. Whose lease is free is gone, and
another server of that workspace makes the rows its own.
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
"""Characters; of a longer text only the digest is kept, so its hunks come back only where nothing changed."""
ADD = "INSERT INTO kept_hunks (lease, path, digest, text, hunks) VALUES (?, ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class KeptHunk:
    """As `ReviewHunk` in server/review/hunks.py has it; lines keep their endings, paths are strings."""

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
    """A text of a file (None: it is too long to be kept) and the hunks that stand in it. `digest` is of the text."""

    path: Path
    digest: str
    text: str | None
    hunks: tuple[KeptHunk, ...]


class HunkRows:
    def __init__(self, store: SessionStore, mark: Callable[[], Path]) -> None:
        """`mark()` names a file that is there as long as any server's hunks are kept: without it nobody looks."""
        self._store = store
        self._mark = mark
        self._lease = ""

    @property
    def there_are_any(self) -> bool:
        """Of whatever server; says so without opening the database."""
        return self._mark().exists()

    def keep(self, path: Path, texts: Sequence[KeptText]) -> None:
        """In place of what was kept of this file before; no texts: nothing. Each has a digest of its own.

        A text whose digest is there already need not be given again.
        """
        lease, place = self._taken(), os.fsencode(path)
        kept = "SELECT number, digest FROM kept_hunks WHERE lease = ? AND path = ?"

        def work(connection: "Connection") -> None:
            rows = connection.execute(kept, (lease, place)).fetchall()
            numbers = {digest: number for number, digest in rows}
            left = {number for number, _ in rows}
            for each in texts:
                number = numbers.get(each.digest)
                if number is None:
                    connection.execute(ADD, (lease, place, each.digest, _packed(each.text), _json(each.hunks)))
                else:
                    connection.execute("UPDATE kept_hunks SET hunks = ? WHERE number = ?", (_json(each.hunks), number))
                    left.discard(number)
            connection.executemany("DELETE FROM kept_hunks WHERE number = ?", [(number,) for number in left])
            self._set_mark(connection)

        self._store.write(work)

    def take(self, wanted: Callable[[Path], bool]) -> list[KeptText]:
        """What servers that are gone kept of the files that are wanted, and of what is decided together with that.

        It is kept by us from then on.
        """
        ours = self._taken()
        leases = self._store.read("SELECT DISTINCT lease FROM kept_hunks WHERE lease != ?", ours)
        found: list[KeptText] = []
        for (lease,) in leases:
            if self._store.take(lease) is None:
                found += self._store.write(partial(_move, lease, ours, wanted))
                self._store.release(lease)
        if not leases:
            self._store.write(self._set_mark)  # one that a server left behind which was ended in between
        return found

    def _taken(self) -> str:
        if not self._lease:
            self._lease = f"hunks-{secrets.token_hex(8)}"
            self._store.take(self._lease)
        return self._lease

    def _set_mark(self, connection: "Connection") -> None:
        """Within the transaction that changed the rows, so that no two servers do it at once.

        A server that is in memory does not know whether others have rows in the file.
        """
        some = connection.execute("SELECT 1 FROM kept_hunks LIMIT 1").fetchone()
        (_, _, file) = connection.execute("PRAGMA database_list").fetchone()
        try:
            if some:
                self._mark().touch(mode=0o600)
            elif file:
                self._mark().unlink(missing_ok=True)
        except OSError as error:  # where no file can be made, the store is in memory and has said so
            log.warning("undecided hunks cannot be marked as kept: %s", error)


def _move(old: str, new: str, wanted: Callable[[Path], bool], connection: "Connection") -> list[KeptText]:
    sql = "SELECT number, path, digest, text, hunks FROM kept_hunks WHERE lease = ? ORDER BY number"
    all_of_it = {number: _read(row) for number, *row in connection.execute(sql, (old,))}
    chosen = {number for number, each in all_of_it.items() if wanted(each.path)}
    together = {hunk.whole for number in chosen for hunk in all_of_it[number].hunks} - {""}
    chosen |= {
        number for number, each in all_of_it.items() if not together.isdisjoint(hunk.whole for hunk in each.hunks)
    }
    sql = "UPDATE kept_hunks SET lease = ? WHERE number = ?"
    connection.executemany(sql, [(new, number) for number in sorted(chosen)])
    return [all_of_it[number] for number in sorted(chosen)]


def _json(hunks: Sequence[KeptHunk]) -> str:
    """ASCII, so that lone surrogates do not matter."""
    names = [each.name for each in fields(KeptHunk)]
    values = attrgetter(*names)  # `dataclasses.asdict` copies all there is, and takes ten times as long
    return json.dumps([dict(zip(names, values(each), strict=True)) for each in hunks], separators=(",", ":"))


def _read(row: Sequence[Any]) -> KeptText:
    path, digest, text, hunks = row
    return KeptText(Path(os.fsdecode(path)), digest, _unpacked(text), tuple(_hunk(each) for each in json.loads(hunks)))


def _hunk(value: Mapping[str, Any]) -> KeptHunk:
    values = {each.name: value[each.name] for each in fields(KeptHunk)}
    return KeptHunk(**{**values, "old": tuple(values["old"]), "new": tuple(values["new"])})


def _packed(text: str | None) -> bytes | None:
    import zlib

    return None if text is None else zlib.compress(text.encode("utf-8", "surrogatepass"), level=1)


def _unpacked(data: bytes | None) -> str | None:
    import zlib

    return None if data is None else zlib.decompress(data).decode("utf-8", "surrogatepass")
