"""A SQLite file of ours for as long as it can be used, and what is gone on with when it cannot.

It is damaged: put aside under another name, and a new one begun. It was put aside or removed by somebody else: the one
that is there now, or a new one. A newer tark-lsp wrote it, the disk is full, the folder cannot be written, another
process keeps it locked: memory, until `come_back` finds that it can be used again. All of it is carried over, where it
is whole and not too big, else the rows that this process needs; and what happened is said.
"""

import threading
import time
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:  # sqlite3 is imported when something is kept, and not at the start
    from sqlite3 import Connection

    from tark_lsp.sqlite_file import Identity

NEW_LOG_BYTES = 4 * 1024**2
NEW_WRITES = 1_000
"""When so much came, the write-ahead log is brought into the file by a thread: it grows, then is used from its
beginning again without getting shorter, so that its length alone does not tell."""
GIVEN_BACK_PAGES = 1_000
"""4 MiB."""
MOST_FILES = 2
"""So many that cannot be used, one after the other, are enough: memory."""
SHARE_OF_TIME = 20
"""A file is tried again when so many times as long went by as that took last: it may have to be written in vain."""
T = TypeVar("T")


class Layout(NamedTuple):
    """`tables` are statements, run on a file that has none; `version` is its `user_version` from then on."""

    version: int
    tables: Sequence[str]


class Database:
    """For one thread. Nothing is opened, made or imported before it is used."""

    def __init__(
        self,
        locate: Callable[[], Path],
        layout: Layout,
        carry: "Callable[[Connection, Connection], bool]",
        failed: Callable[[str, bool, bool], None],
    ) -> None:
        """`locate()` gives the file, in a folder that is there. Where it raises OSError: in memory.

        `carry(old, new)`, in a transaction of the new one, copies the rows that this process needs, and says whether
        all of them could be read. `failed(problem, lost, in_memory)` is called each time the file could not be used,
        after that; `lost`: not all could be; `in_memory`: there is no new file.
        """
        self._locate = locate
        self.in_memory = False
        self._layout = layout
        self._carry = carry
        self._failed = failed
        self._open: list[Connection] = []
        """At most one; a list, so that it can be closed when this object is gone."""
        self._left: list[Connection] = []
        """Those that cannot be used any more, until their rows are carried over."""
        self._path: Path | None = None
        self._file: Identity | None = None
        """Which file is open, or was tried last; None in memory."""
        self._intact = False
        """The file that cannot be used can be read, and has all there is."""
        self._whole = True
        """What was carried over last was all there is at hand."""
        self._try_again = 0.0
        """Not before that time, by the monotonic clock."""
        self._problems: list[str] = []
        self._writes, self._log_bytes = 0, 0
        """Since the log was brought in last, and how long it was then."""
        self._checkpoint: threading.Thread | None = None
        weakref.finalize(self, _close, self._open)

    def read(self, sql: str, *values: Any) -> list[Any]:
        return self._do(lambda connection: connection.execute(sql, values).fetchall())

    def write(self, work: "Callable[[Connection], T]") -> T:
        """Do it in one transaction, wholly or not at all; where a file fails, it is done again on the next."""
        from tark_lsp.sqlite_file import in_one

        result = self._do(lambda connection: in_one(connection, work))
        self._look_at_log()
        return result

    def shorten(self) -> None:
        """Give back room that deleted rows leave, a bit at a time; the rest is used again."""
        # Not `execute`, which takes one step of a statement without columns: here that is one page.
        script = f"PRAGMA incremental_vacuum({GIVEN_BACK_PAGES})"
        self._do(lambda connection: connection.executescript(script))

    def come_back(self, bring: "Callable[[Connection, Connection], None]", *, wait: bool) -> bool:
        """From memory to the file, where that can be used again: True. `wait`: for others that write, and at once.

        `bring(memory, file)`, in a transaction of the file, puts what is in memory in place of what the file has of it;
        what it raises is raised, and everything is as it was. Not where something was lost on the way to memory: the
        file may still have it.
        """
        import sqlite3

        from tark_lsp.sqlite_file import be_patient, identity, in_one, open_file

        began = time.monotonic()
        if not (self.in_memory and self._open and self._whole) or (began < self._try_again and not wait):
            return False
        memory = self._open[0]
        try:
            path = self._locate()
            connection = open_file(path, *self._layout, wait=wait)
            try:
                in_one(connection, lambda file: bring(memory, file))
                be_patient(connection)
            except BaseException:  # raised again
                connection.close()
                raise
        except (sqlite3.Error, OSError):
            return False  # people were told when it was left, and are when this process ends
        finally:
            now = time.monotonic()
            self._try_again = now + (now - began) * SHARE_OF_TIME
        _close(self._open)
        self._open.append(connection)
        self._path, self._file, self.in_memory, self._log_bytes = path, identity(path), False, 0
        return True

    def close(self) -> None:
        """It opens again when it is used again; what was in memory only is gone."""
        if self._checkpoint is not None:
            self._checkpoint.join()
        _close(self._open)

    def _do(self, work: "Callable[[Connection], T]") -> T:
        import sqlite3

        from tark_lsp.sqlite_file import is_unusable

        for attempt in range(MOST_FILES + 1):
            try:
                connection = self._current()
            except (sqlite3.Error, OSError) as error:
                if self.in_memory:
                    raise
                self._leave(error, last=attempt + 1 == MOST_FILES)
                continue
            try:
                return work(connection)
            except (sqlite3.Error, OSError) as error:
                if self.in_memory or not is_unusable(error):
                    raise
                self._leave(error, last=attempt + 1 == MOST_FILES)
        raise AssertionError("memory is always there")

    def _current(self) -> "Connection":
        """The open connection, to the file that is at its path now."""
        from tark_lsp.sqlite_file import identity

        if self._open and self._path is not None and identity(self._path) != self._file:
            self._problems.append("it was put aside or removed by another program")
            self._left += self._open
            self._open.clear()
        if not self._open:
            self._open_next()
        return self._open[0]

    def _open_next(self) -> None:
        from tark_lsp.sqlite_file import copy_all, identity, in_one, open_file, open_memory

        path, self._path, self._file = self._path, None, None
        if self.in_memory:
            connection = open_memory(*self._layout)
            if path is not None and self._intact and copy_all(path, connection, self._layout.version):
                _close(self._left)
        else:
            self._path = self._locate()
            self._file = identity(self._path)
            connection = open_file(self._path, *self._layout)
            self._file = identity(self._path)
        try:
            self._whole = in_one(connection, self._carry_over)
        except BaseException:  # raised again
            connection.close()
            raise
        _close(self._left)
        self._open.append(connection)
        if self._problems:
            problems = "; ".join(self._problems)
            self._problems.clear()
            self._failed(problems, not self._whole, self.in_memory)

    def _carry_over(self, new: "Connection") -> bool:
        whole = True
        for old in self._left:
            whole = self._carry(old, new) and whole
        return whole

    def _leave(self, error: Exception, *, last: bool) -> None:
        """The next to be opened is a new file where this one is damaged and can be put aside, else memory."""
        from tark_lsp.sqlite_file import NewerFile, is_damaged, put_aside

        self._problems.append(str(error))
        whole = not self._left and not is_damaged(error) and not isinstance(error, NewerFile)
        self._intact = whole and self._file is not None
        self._left += self._open
        self._open.clear()
        if last or not is_damaged(error) or self._path is None:
            self.in_memory = True
            return
        try:
            self._problems.append(f"it was put aside as {put_aside(self._path, self._file)}")
        except (FileNotFoundError, FileExistsError):
            pass  # another process did it, or does it now: what is there is tried
        except OSError as refused:
            self._problems.append(str(refused))
            self.in_memory = True

    def _look_at_log(self) -> None:
        from tark_lsp.sqlite_file import bring_log_in

        self._writes += 1
        if self._path is None or (self._checkpoint is not None and self._checkpoint.is_alive()):
            return
        try:
            size = self._path.with_name(f"{self._path.name}-wal").stat().st_size
        except OSError:  # somebody removed it, and the next write finds out
            return
        if self._writes >= NEW_WRITES or size >= self._log_bytes + NEW_LOG_BYTES:
            self._writes, self._log_bytes = 0, size
            self._checkpoint = threading.Thread(target=bring_log_in, args=(self._path,), name="tark-checkpoint")
            self._checkpoint.start()


def _close(connections: "list[Connection]") -> None:
    while connections:
        connections.pop().close()
