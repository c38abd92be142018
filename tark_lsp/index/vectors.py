"""Dense vectors of chunks: where they are kept, and which are nearest to another. `VectorFile` keeps them in one file.

A vector is named by its key, a hash of the text that it was made of (chunk_text.py). So it is right for as long as it
is there, whatever happened to files since: a process that is killed, a restored backup or another branch makes no
vector wrong, and equal texts share one. Keys of chunks are in the text index. Vectors with other keys are removed.

numpy is imported with this module, so only the index process imports it.
"""

import hashlib
import math
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float32]

MAGIC = b"tarkvec1"
HEAD_BYTES = 64
"""`MAGIC`, the length of a vector (4 bytes), a hash of the embedder's name (16), zeros."""
FIRST_ROWS = 1024
BLOCK_ROWS = 16_384
"""So many rows are compared at once: their floats are all that a search needs in memory."""
LARGEST = 127


class Vectors(Protocol):
    """All methods raise OSError if the place of the vectors fails."""

    def known(self, keys: Collection[int]) -> set[int]:
        """Those of the keys that have a vector."""
        ...

    def put(self, keys: Sequence[int], vectors: Sequence[Sequence[float]]) -> None:
        """Keep one vector for each key; a vector of zeros cannot be found."""
        ...

    def keep_only(self, keys: Collection[int]) -> int:
        """Remove the vectors with other keys. Returns how many it removed."""
        ...

    def nearest(self, vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
        """Keys with their cosine similarity, the highest first; fewer than `limit` if there are no more."""
        ...

    def vectors_of(self, keys: Collection[int]) -> Mapping[int, Floats]:
        """The vectors of those that are known, of length 1."""
        ...

    def close(self) -> None: ...


class VectorFile:
    """A file of rows, mapped into memory: a key, a checksum, the scale, and the vector as signed bytes.

    A row with key 0 is free. A row is written before its key, and a checksum that is not right makes it free when the
    file is opened: a vector that was written in part is missing, never wrong. One process writes; others can read.
    """

    def __init__(self, path: Path, embedder: str, length: int, *, writable: bool = True) -> None:
        """`length`: numbers in a vector. A file of another embedder, length or format is replaced.

        Raises OSError, also if a reader finds no such file.
        """
        self._head = _head(embedder, length)
        self._type = np.dtype([("key", "<u8"), ("check", "<u4"), ("scale", "<f4"), ("numbers", "i1", (length,))])
        self._path, self._length, self._writable = path, length, writable
        self._rows: np.memmap[tuple[int], np.dtype[np.void]] | None = None
        self._place: dict[int, int] = {}
        self._free: list[int] = []
        if writable and not self._is_usable():
            self._create()
        self._map()

    @property
    def count(self) -> int:
        return len(self._place)

    @property
    def bytes_on_disk(self) -> int:
        with suppress(OSError):
            return self._path.stat().st_size
        return 0

    def known(self, keys: Collection[int]) -> set[int]:
        return {key for key in keys if key in self._place}

    def put(self, keys: Sequence[int], vectors: Sequence[Sequence[float]]) -> None:
        """Raises ValueError for a vector of another length or with a number that is not finite."""
        if not keys:
            return
        given = np.asarray(vectors, dtype=np.float32).reshape(len(keys), -1)
        if given.shape[1] != self._length:
            raise ValueError(f"a vector has {given.shape[1]} numbers instead of {self._length}")
        if not np.isfinite(given).all():
            raise ValueError("a vector has a number that is not finite")
        unit = _unit(given)
        scales = np.abs(unit).max(axis=1, initial=0.0) / LARGEST
        numbers = np.rint(unit / np.where(scales, scales, 1)[:, None]).astype(np.int8)
        for at, key in enumerate(keys):
            if key in self._place or not scales[at]:
                continue
            row = self._free_row()
            rows = self._mapped()
            rows["numbers"][row], rows["scale"][row] = numbers[at], scales[at]
            rows["check"][row] = _checks(np.array([key], np.uint64), scales[at : at + 1], numbers[at : at + 1])[0]
            rows["key"][row] = key
            self._place[key] = row

    def keep_only(self, keys: Collection[int]) -> int:
        wanted = keys if isinstance(keys, set | frozenset) else set(keys)
        gone = [key for key in self._place if key not in wanted]
        rows = self._mapped()
        for key in gone:
            row = self._place.pop(key)
            rows["key"][row] = 0
            rows["numbers"][row] = 0
            self._free.append(row)
        return len(gone)

    def nearest(self, vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
        wanted = _unit(np.asarray(vector, dtype=np.float32).reshape(1, -1))[0]
        if limit < 1 or len(wanted) != self._length or not self._place:
            return []
        rows = self._mapped()
        best: list[tuple[float, int]] = []
        for start, stop in self._blocks():
            block = rows[start:stop]
            scores = (block["numbers"].astype(np.float32) @ wanted) * block["scale"]
            scores[block["key"] == 0] = -np.inf
            count = min(limit, len(scores))
            top = np.argpartition(-scores, count - 1)[:count]
            best += [(-float(scores[at]), int(block["key"][at])) for at in top if np.isfinite(scores[at])]
            best = sorted(best)[:limit]
        return [(key, -negative) for negative, key in best]

    def vectors_of(self, keys: Collection[int]) -> Mapping[int, Floats]:
        rows = self._mapped()
        found = {key: rows["numbers"][self._place[key]].astype(np.float32) for key in keys if key in self._place}
        return {key: _unit(numbers.reshape(1, -1))[0] for key, numbers in found.items()}

    def flush(self) -> None:
        """Write to the disk what is only in the system's memory: a failure of the machine would lose it."""
        if self._rows is not None and self._writable:
            self._rows.flush()

    def close(self) -> None:
        self.flush()
        self._rows = None
        self._place = {}

    def _mapped(self) -> "np.memmap[tuple[int], np.dtype[np.void]]":
        if self._rows is None:
            raise OSError(f"{self._path.name} is closed")
        return self._rows

    def _blocks(self) -> Iterator[tuple[int, int]]:
        total = len(self._mapped())
        return ((start, min(start + BLOCK_ROWS, total)) for start in range(0, total, BLOCK_ROWS))

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

    def _map(self) -> None:
        if not self._is_usable():
            raise OSError(f"{self._path.name} is no file of vectors of this embedder")
        self._rows = np.memmap(self._path, self._type, "r+" if self._writable else "r", HEAD_BYTES)
        self._place, free = {}, []
        for start, stop in self._blocks():
            block = self._rows[start:stop]
            keys = block["key"]
            right = (keys != 0) & (block["check"] == _checks(keys, block["scale"], block["numbers"]))
            if self._writable and (wrong := np.flatnonzero((keys != 0) & ~right)).size:
                block["key"][wrong] = 0
            self._place |= {int(keys[at]): start + int(at) for at in np.flatnonzero(right)}
            free += [start + int(at) for at in np.flatnonzero(~right)]
        self._free = free[::-1]

    def _free_row(self) -> int:
        if not self._free:
            count = len(self._mapped())
            self._rows = None  # before the file grows: some systems do not let a mapped file do that
            os.truncate(self._path, HEAD_BYTES + 2 * count * self._type.itemsize)
            self._rows = np.memmap(self._path, self._type, "r+", HEAD_BYTES)
            self._free = list(range(2 * count - 1, count - 1, -1))
        return self._free.pop()


def length_in(path: Path, embedder: str) -> int | None:
    """How many numbers a vector has in this file; None if it is no file of vectors of this embedder."""
    with suppress(OSError), path.open("rb") as file:
        head = file.read(HEAD_BYTES)
        length = int.from_bytes(head[len(MAGIC) : len(MAGIC) + 4], "little")
        return length if head == _head(embedder, length) else None
    return None


def _head(embedder: str, length: int) -> bytes:
    name = hashlib.blake2b(embedder.encode(), digest_size=16).digest()
    return (MAGIC + length.to_bytes(4, "little") + name).ljust(HEAD_BYTES, b"\0")


def _unit(vectors: Floats) -> Floats:
    """Of length 1; zeros stay zeros."""
    lengths = np.sqrt((vectors.astype(np.float64) ** 2).sum(axis=1, keepdims=True))
    unit: Floats = (vectors / np.where(lengths, lengths, 1)).astype(np.float32)
    return unit


def _checks(keys: npt.NDArray[np.uint64], scales: Floats, numbers: npt.NDArray[np.int8]) -> npt.NDArray[np.uint32]:
    """A checksum of each row: another key, scale or number, or two numbers that change places, give another one."""
    places = np.arange(1, numbers.shape[1] + 1, dtype=np.float64) * math.pi % 1 * 65_536
    sums = (numbers.astype(np.int64) * places.astype(np.int64)).sum(axis=1).astype(np.uint64)
    mixed = (sums + keys * np.uint64(0x9E3779B97F4A7C15)) ^ (scales.view(np.uint32).astype(np.uint64) << np.uint64(16))
    checks: npt.NDArray[np.uint32] = ((mixed >> np.uint64(32)) ^ (mixed & np.uint64(0xFFFFFFFF))).astype(np.uint32)
    return checks
