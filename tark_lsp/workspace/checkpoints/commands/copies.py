"""Copies: the bytes of files, each stored once in a file named by its digest. None is in memory as a whole."""

import os
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from tark_lsp.workspace.disk.hashing import hash_descriptor, opened, write_all

UNUSED_SECONDS = 3600.0
"""How long an unused copy is kept after its last use, because it is likely to be needed again."""


class Copies:
    """For several processes and threads. Nothing is created before the first copy."""

    def __init__(self, locate: Callable[[], Path]) -> None:
        """`locate()` returns the folder, whose parent exists; it raises OSError if nothing can be stored."""
        self._locate = locate
        self._made: Path | None = None

    def add_descriptor(self, descriptor: int) -> str:
        """Store the rest of the file. Returns the digest. Raises OSError."""
        with self._new_file() as (target, finish):
            digest = hash_descriptor(descriptor, lambda piece: write_all(target, piece))
            finish(digest)
        return digest

    def add_file(self, path: Path) -> str:
        """Store a file without following links. Returns the digest. Raises OSError."""
        with opened(path) as descriptor:
            return self.add_descriptor(descriptor)

    def add_bytes(self, data: bytes, digest: str) -> None:
        """Store bytes with this digest. Raises OSError."""
        if self.use(digest):
            return
        with self._new_file() as (target, finish):
            write_all(target, data)
            finish(digest)

    def use(self, digest: str) -> bool:
        """Whether the copy exists. If so, it counts as just used."""
        try:
            os.utime(f"{self._folder()}{os.sep}{digest}")
        except OSError:
            return False
        return True

    def path(self, digest: str) -> Path:
        """The path of the copy, if it exists. Raises OSError."""
        return self._folder() / digest

    def read(self, digest: str, most: int) -> bytes | None:
        """The bytes of a copy with at most `most` bytes."""
        try:
            path = self.path(digest)
            return path.read_bytes() if path.stat().st_size <= most else None
        except OSError:
            return None

    def sizes(self) -> dict[str, int]:
        """The bytes of each copy, by digest."""
        with suppress(OSError), os.scandir(self._folder()) as entries:
            return {entry.name: entry.stat().st_size for entry in entries if not entry.name.startswith(".")}
        return {}

    def remove_unused(self, used: Collection[str]) -> None:
        """Remove the copies that are not in `used`, and were not used for `UNUSED_SECONDS`."""
        before = time.time() - UNUSED_SECONDS
        with suppress(OSError), os.scandir(self._folder()) as entries:
            for entry in entries:
                if entry.name not in used:
                    with suppress(OSError):
                        if entry.stat().st_mtime < before:
                            os.unlink(entry.path)  # noqa: PTH108  # a Path for each takes longer

    @contextmanager
    def _new_file(self) -> Iterator[tuple[int, Callable[[str], None]]]:
        """A descriptor to write to, and a function that gives the file its final name."""
        start = f"{self._folder()}{os.sep}"
        temporary = f"{start}.{token_hex(8)}"
        target = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            yield target, lambda digest: os.rename(temporary, f"{start}{digest}")  # noqa: PTH104  # called for each file
        except BaseException:  # raised again
            os.unlink(temporary)  # noqa: PTH108  # as above
            raise
        finally:
            os.close(target)

    def _folder(self) -> Path:
        """The folder. It is created when it is first needed, and again if it was removed."""
        if self._made is None or not os.path.isdir(self._made):  # noqa: PTH112  # as above
            self._made = self._locate()
            self._made.mkdir(mode=0o700, exist_ok=True)
        return self._made
