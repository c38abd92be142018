"""The digest of what an open file holds, read in pieces; and writing to a descriptor."""

import os
from collections.abc import Callable
from hashlib import sha256

PIECE = 1024 * 1024
"""Bytes that are in memory at a time."""


def hash_descriptor(descriptor: int, keep: Callable[[bytes], object] = lambda _: None) -> str:
    """The SHA-256 of what is left to read; `keep` gets each piece."""
    digest = sha256()
    while piece := os.read(descriptor, PIECE):
        digest.update(piece)
        keep(piece)
    return digest.hexdigest()


def write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
