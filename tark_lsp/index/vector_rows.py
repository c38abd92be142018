"""The file of vectors: memory-mapped rows. Each has a key, a checksum, a scale, and signed bytes.

A row with key 0 is free. The key is written last, and a row with a wrong checksum becomes free when the file is opened.
So a partly written vector is missing, never wrong. One process writes; others can read.
"""

import hashlib
import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float32]
Rows: TypeAlias = "np.memmap[tuple[int], np.dtype[np.void]]"

MAGIC = b"tarkvec1"
HEAD_BYTES = 64
"""The head: `MAGIC`, the length of a vector (4 bytes), a hash of the embedder's name (16 bytes), zeros."""
FIRST_ROWS = 1024
BLOCK_ROWS = 16_384
"""Rows that are compared at once. A search needs only their floats in memory."""


class VectorRows:
    """Raises OSError if the file fails or is closed."""

    def __init__(self, path: Path, embedder: str, length: int, *, writable: bool) -> None:
        """A writer replaces a file of another embedder, length or format; for a reader, this raises OSError."""
        self._head = _head(embedder, length)
        self._type = np.dtype([("key", "<u8"), ("check", "<u4"), ("scale", "<f4"), ("numbers", "i1", (length,))])
        self._path, self._writable = path, writable
        self._rows: Rows | None = None
        if writable and not self._is_usable():
            self._create()
        if not self._is_usable():
            raise OSError(f"{path.name} is not a file of vectors of this embedder")
        self._map()

    @property
    def all(self) -> Rows:
        if self._rows is None:
            raise OSError(f"{self._path.name} is closed")
        return self._rows

    def blocks(self) -> Iterator[tuple[int, Any]]:
        """Blocks of rows, each with the number of its first row."""
        rows = self.all
        return ((start, rows[start : start + BLOCK_ROWS]) for start in range(0, len(rows), BLOCK_ROWS))

    def places(self) -> tuple[dict[int, int], list[int]]:
        """The row of each key, and the free rows."""
        place: dict[int, int] = {}
        free: list[int] = []
        for start, block in self.blocks():
            keys = block["key"]
            right = (keys != 0) & (block["check"] == _checks(keys, block["scale"], block["numbers"]))
            if self._writable and (wrong := np.flatnonzero((keys != 0) & ~right)).size:
                block["key"][wrong] = 0
            place |= {int(keys[at]): start + int(at) for at in np.flatnonzero(right)}
            free += [start + int(at) for at in np.flatnonzero(~right)]
        return place, free[::-1]

    def write(self, row: int, key: int, scale: np.float32, numbers: npt.NDArray[np.int8]) -> None:
        rows = self.all
        rows["numbers"][row], rows["scale"][row] = numbers, scale
        check = _checks(np.array([key], np.uint64), np.array([scale], np.float32), numbers.reshape(1, -1))
        rows["check"][row] = check[0]
        rows["key"][row] = key

    def clear(self, row: int) -> None:
        self.all["key"][row] = 0
        self.all["numbers"][row] = 0

    def grow(self) -> list[int]:
        """Double the number of rows. Returns the new rows, the last one first."""
        count = len(self.all)
        self._rows = None  # before the file grows: some systems do not allow this for a mapped file
        os.truncate(self._path, HEAD_BYTES + 2 * count * self._type.itemsize)
        self._map()
        return list(range(2 * count - 1, count - 1, -1))

    def flush(self) -> None:
        if self._rows is not None and self._writable:
            self._rows.flush()

    def close(self) -> None:
        self.flush()
        self._rows = None

    def _map(self) -> None:
        self._rows = np.memmap(self._path, self._type, "r+" if self._writable else "r", HEAD_BYTES)

    def _is_usable(self) -> bool:
        with suppress(OSError), self._path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size - HEAD_BYTES
            return file.read(HEAD_BYTES) == self._head and size > 0 and size % self._type.itemsize == 0
        return False

    def _create(self) -> None:
        new = self._path.with_name(f"{self._path.name}.new")
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(self._head)
            file.truncate(HEAD_BYTES + FIRST_ROWS * self._type.itemsize)
        new.replace(self._path)


def length_in(path: Path, embedder: str) -> int | None:
    """The length of the vectors in this file; None if it is not a file of vectors of this embedder."""
    with suppress(OSError), path.open("rb") as file:
        head = file.read(HEAD_BYTES)
        length = int.from_bytes(head[len(MAGIC) : len(MAGIC) + 4], "little")
        return length if head == _head(embedder, length) else None
    return None


def _head(embedder: str, length: int) -> bytes:
    name = hashlib.blake2b(embedder.encode(), digest_size=16).digest()
    return (MAGIC + length.to_bytes(4, "little") + name).ljust(HEAD_BYTES, b"\0")


def _checks(keys: npt.NDArray[np.uint64], scales: Floats, numbers: npt.NDArray[np.int8]) -> npt.NDArray[np.uint32]:
    """A checksum of each row. It depends on the key, the scale, and the numbers with their order."""
    places = np.arange(1, numbers.shape[1] + 1, dtype=np.float64) * math.pi % 1 * 65_536
    sums = (numbers.astype(np.int64) * places.astype(np.int64)).sum(axis=1).astype(np.uint64)
    mixed = (sums + keys * np.uint64(0x9E3779B97F4A7C15)) ^ (scales.view(np.uint32).astype(np.uint64) << np.uint64(16))
    checks: npt.NDArray[np.uint32] = ((mixed >> np.uint64(32)) ^ (mixed & np.uint64(0xFFFFFFFF))).astype(np.uint32)
    return checks
