"""Opens a file to read it in pieces, and computes its digest; writes to a descriptor."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

PIECE = 1024 * 1024
"""How many bytes are in memory at a time."""
FLAGS = os.O_RDONLY
for _name in ("O_NONBLOCK", "O_NOCTTY", "O_NOFOLLOW", "O_CLOEXEC"):
    FLAGS |= getattr(os, _name, 0)  # Windows has none of them


def hash_descriptor(descriptor: int, keep: Callable[[bytes], object] = lambda _: None) -> str:
    """The SHA-256 of the rest of the file. `keep` gets each piece."""
    digest = sha256()
    while piece := os.read(descriptor, PIECE):
        digest.update(piece)
        keep(piece)
    return digest.hexdigest()


@contextmanager
def opened(path: str | Path) -> Iterator[int]:
    """Open a file for reading. Follows no link, and does not wait for the other end of a pipe.

    Raises OSError.
    """
    descriptor = os.open(path, FLAGS)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
