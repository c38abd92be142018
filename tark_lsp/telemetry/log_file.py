"""The log file: one for all servers of a person, 0600, put aside when it is full.

No server holds it open or locks it: each record is one appending write of one line, which systems keep apart. Putting
aside is a rename to a name that nobody else takes, so that two servers doing it at once lose nothing.
"""

import errno
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

log = logging.getLogger(__name__)

NAME = "tark.jsonl"
LARGEST = 4 * 1024 * 1024
"""Bytes; a file that is larger is put aside."""

KEPT = 3
"""Files that were put aside and are kept: the newest."""


class LogFile(logging.Handler):
    """`locate` gives the folder, made if missing, and may raise OSError; it is asked when the first record comes.

    Where a record cannot be written that is said once, and stderr has it all the same.
    """

    def __init__(self, locate: Callable[[], Path], largest: int = LARGEST) -> None:
        super().__init__()
        self._locate = locate
        self._largest = largest
        self._path: Path | None = None
        self._torn = False
        self._told = False

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self.format(record)
        except Exception:  # noqa: BLE001  whatever the arguments of a record do when they become text
            self.handleError(record)
            return
        try:
            self._write(f"{line}\n".encode())
        except OSError as error:
            if not self._told:
                self._told = True  # before it is said: that comes here again
                log.warning("no log file is written (%s); stderr has it all", error.strerror or error)

    def _write(self, line: bytes) -> None:
        file = self._open()
        try:
            line = b"\n" + line if self._torn else line
            self._torn = os.write(file, line) < len(line)
            full = os.fstat(file).st_size > self._largest
        finally:
            os.close(file)
        if self._torn:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if full and self._path is not None:
            self._put_aside(self._path)

    def _open(self) -> int:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        if self._path is not None:
            with suppress(FileNotFoundError):  # its folder was removed
                return os.open(self._path, flags, 0o600)
        self._path = self._locate() / NAME
        return os.open(self._path, flags, 0o600)

    def _put_aside(self, path: Path) -> None:
        with suppress(FileNotFoundError):  # another server did it
            if path.stat().st_size > self._largest:
                path.replace(path.with_name(f"tark-{datetime.now(UTC):%Y%m%d-%H%M%S-%f}-{os.getpid()}.jsonl"))
        for old in sorted(path.parent.glob("tark-*.jsonl"))[:-KEPT]:
            old.unlink(missing_ok=True)
