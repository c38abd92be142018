"""LogFile: one log file for all servers of a user, with mode 0600, rotated when it is full.

No server keeps it open or locks it: each record is one appending write of one line, which the system does not mix with
others. Rotating renames the file to a name that nobody else uses, so two servers that do it at once lose nothing.
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
"""Bytes. A larger file is rotated."""

KEPT = 3
"""So many rotated files are kept: the newest."""


class LogFile(logging.Handler):
    """`locate` returns the folder, which exists, or raises OSError. It is called with the first record.

    If a record cannot be written, that is logged once; stderr has all records anyway.
    """

    def __init__(self, locate: Callable[[], Path], largest: int = LARGEST) -> None:
        super().__init__()
        self._locate = locate
        self._largest = largest
        self._path: Path | None = None
        self._line_is_partial = False
        self._failure_reported = False

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self.format(record)
        except Exception:  # noqa: BLE001  the arguments of a record can raise anything when they are formatted
            self.handleError(record)
            return
        try:
            self._write(f"{line}\n".encode())
        except OSError as error:
            if not self._failure_reported:
                self._failure_reported = True  # first, because the warning comes here again
                log.warning("no log file is written (%s); stderr has it all", error.strerror or error)

    def _write(self, line: bytes) -> None:
        file = self._open()
        try:
            line = b"\n" + line if self._line_is_partial else line
            self._line_is_partial = os.write(file, line) < len(line)
            full = os.fstat(file).st_size > self._largest
        finally:
            os.close(file)
        if self._line_is_partial:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if full and self._path is not None:
            self._rotate(self._path)

    def _open(self) -> int:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        if self._path is not None:
            with suppress(FileNotFoundError):  # its folder was removed
                return os.open(self._path, flags, 0o600)
        self._path = self._locate() / NAME
        return os.open(self._path, flags, 0o600)

    def _rotate(self, path: Path) -> None:
        with suppress(FileNotFoundError):  # another server did it
            if path.stat().st_size > self._largest:
                path.replace(path.with_name(f"tark-{datetime.now(UTC):%Y%m%d-%H%M%S-%f}-{os.getpid()}.jsonl"))
        for old in sorted(path.parent.glob("tark-*.jsonl"))[:-KEPT]:
            old.unlink(missing_ok=True)
