"""The dense half of the search, in the index process: the vectors of one index, and which chunks still need one.

Vectors come from the static model here (`StaticModel`), or from the server, which has an embedder behind an endpoint:
it asks for chunks without a vector (`Unembedded`), and gives the vectors back (`KeepVectors`).
"""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from tark_lsp.index.text_index import ChunkHit, TextIndex

if TYPE_CHECKING:  # they import numpy or a model, which only an index with vectors needs
    from tark_lsp.index.static_model import StaticModel
    from tark_lsp.index.vectors import VectorFile

VECTORS = "vectors"
"""The file in the folder of the index."""


class Dense:
    """Raises OSError if the file of vectors fails."""

    def __init__(self, folder: Path, *, writable: bool) -> None:
        self._path = folder / VECTORS
        self._writable = writable
        self._embedder = ""
        self._model: StaticModel | None = None
        self._file: VectorFile | None = None
        self._chunks: dict[int, tuple[int, int]] = {}
        """By key: the id of a file and the number of a chunk that has this text."""
        self._seen = -1
        """The state of the text index that `_chunks` is of."""

    @property
    def embedder(self) -> str:
        """Whose vectors these are; empty: the search is lexical only."""
        return self._embedder

    @property
    def model(self) -> "StaticModel | None":
        """The model that makes the vectors in this process."""
        return self._model

    @property
    def count(self) -> int:
        return self._file.count if self._file is not None else 0

    def use(self, embedder: str, length: int = 0, *, static: bool = False) -> None:
        """From now on, use vectors of this embedder. `length` 0: it is known with the first vectors.

        Raises ImportError if the static model is not installed.
        """
        if static:
            from tark_lsp.index.static_model import LENGTH, StaticModel

            self._model = StaticModel()
            embedder, length = self._model.name, LENGTH
        else:
            self._model = None
        if embedder != self._embedder:
            self.close()
            self._embedder = embedder
        if length and self._file is None:
            self._open(length)

    def missing(self, text: TextIndex, limit: int) -> list[ChunkHit]:
        """Chunks without a vector, at most `limit`. Vectors of chunks that are gone are removed."""
        self._follow(text)
        known = self._file.known(self._chunks) if self._file is not None else set()
        places = (place for key, place in self._chunks.items() if key not in known)
        return [ChunkHit(file, chunk, 0.0) for file, chunk in islice(places, limit)]

    def put(self, keys: Sequence[int], vectors: Sequence[Sequence[float]]) -> None:
        """Keep vectors of the embedder. Raises ValueError if they are no vectors, or of different lengths."""
        if not keys or not self._writable:
            return
        if self._file is None:
            self._open(len(vectors[0]))
        assert self._file is not None
        self._file.put(keys, vectors)

    def nearest(self, text: TextIndex, vector: Sequence[float], limit: int) -> list[ChunkHit]:
        """The chunks nearest to the vector of a query."""
        self._follow(text)
        if self._file is None:
            return []
        found = self._file.nearest(vector, limit)
        return [ChunkHit(*self._chunks[key], score) for key, score in found if key in self._chunks]

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file = None

    def _open(self, length: int) -> None:
        from tark_lsp.index.vectors import VectorFile

        try:
            self._file = VectorFile(self._path, self._embedder, length, writable=self._writable)
        except OSError:
            if self._writable:
                raise  # a reader goes on without vectors until there are some

    def _follow(self, text: TextIndex) -> None:
        if text.generation == self._seen:
            return
        self._seen = text.generation
        self._chunks = text.keys()
        if self._file is not None and self._writable:
            self._file.keep_only(self._chunks.keys())
