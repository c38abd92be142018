"""Dense vectors of chunks: stores them and finds the nearest ones. `VectorFile` stores them in one file.

The key of a vector is a hash of the text from which it was computed (chunk_text.py). So a stored vector is always
right, even after a crash, a restored backup or a switch of branches, and equal texts share one vector. The text index
has the keys of all chunks; vectors with other keys are removed.
This module imports numpy, so only the index process imports it.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import numpy as np

from tark_lsp.index.vector_rows import Floats, VectorRows

LARGEST = 127


class Vectors(Protocol):
    """All methods raise OSError if the storage fails."""

    def known(self, keys: Collection[int]) -> set[int]:
        """The subset of `keys` that have a vector."""
        ...

    def put(self, keys: Sequence[int], vectors: Sequence[Sequence[float]]) -> None:
        """Store one vector for each key. Vectors of zeros are not stored."""
        ...

    def keep_only(self, keys: Collection[int]) -> int:
        """Remove the vectors with other keys. Returns how many it removed."""
        ...

    def nearest(self, vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
        """Keys with their cosine similarity, the highest first; fewer than `limit` if there are no more."""
        ...

    def vectors_of(self, keys: Collection[int]) -> Mapping[int, Floats]:
        """The vectors of the known keys, normalised to length 1."""
        ...

    def close(self) -> None: ...


class VectorFile:
    """Vectors in a file of `VectorRows`."""

    def __init__(self, path: Path, embedder: str, length: int, *, writable: bool = True) -> None:
        """`length`: numbers in a vector. A writer replaces a file of another embedder, length or format.

        Raises OSError, also if a reader finds no such file.
        """
        self._path, self._length = path, length
        self._rows = VectorRows(path, embedder, length, writable=writable)
        self._place, self._free = self._rows.places()

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
            if not self._free:
                self._free = self._rows.grow()
            row = self._free.pop()
            self._rows.write(row, key, scales[at], numbers[at])
            self._place[key] = row

    def keep_only(self, keys: Collection[int]) -> int:
        wanted = keys if isinstance(keys, set | frozenset) else set(keys)
        gone = [key for key in self._place if key not in wanted]
        for key in gone:
            row = self._place.pop(key)
            self._rows.clear(row)
            self._free.append(row)
        return len(gone)

    def nearest(self, vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
        wanted = _unit(np.asarray(vector, dtype=np.float32).reshape(1, -1))[0]
        if limit < 1 or len(wanted) != self._length or not self._place:
            return []
        best: list[tuple[float, int]] = []
        for _, block in self._rows.blocks():
            scores = (block["numbers"].astype(np.float32) @ wanted) * block["scale"]
            scores[block["key"] == 0] = -np.inf
            count = min(limit, len(scores))
            top = np.argpartition(-scores, count - 1)[:count]
            best += [(-float(scores[at]), int(block["key"][at])) for at in top if np.isfinite(scores[at])]
            best = sorted(best)[:limit]
        return [(key, -negative) for negative, key in best]

    def vectors_of(self, keys: Collection[int]) -> Mapping[int, Floats]:
        rows = self._rows.all
        found = {key: rows["numbers"][self._place[key]].astype(np.float32) for key in keys if key in self._place}
        return {key: _unit(numbers.reshape(1, -1))[0] for key, numbers in found.items()}

    def flush(self) -> None:
        """Write cached changes to the disk, so that they survive a crash of the machine."""
        self._rows.flush()

    def close(self) -> None:
        self._rows.close()
        self._place = {}


def _unit(vectors: Floats) -> Floats:
    """Normalise vectors to length 1; zeros stay zeros."""
    lengths = np.sqrt((vectors.astype(np.float64) ** 2).sum(axis=1, keepdims=True))
    unit: Floats = (vectors / np.where(lengths, lengths, 1)).astype(np.float32)
    return unit
