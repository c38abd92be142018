"""The dense part of the search, in the index process: the vectors of one index, and which chunks have none yet.

Vectors come from the static model in this process (`StaticModel`), or from the server, which uses an endpoint: it asks
for chunks without a vector (`Unembedded`), and sends their vectors (`KeepVectors`).
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from tark_lsp.errors import ToolError
from tark_lsp.index.chunk_fields import chunk_texts
from tark_lsp.index.chunk_text import chunk_key
from tark_lsp.index.disk_index import DiskIndex
from tark_lsp.index.packing import unpack_places
from tark_lsp.index.reading import read_for_index
from tark_lsp.index.text_index import ChunkHit, TextIndex

if TYPE_CHECKING:  # these modules import numpy or a model, which only an index with vectors needs
    from tark_lsp.index.static_model import StaticModel
    from tark_lsp.index.vectors import VectorFile

VECTORS = "vectors"
"""The name of the file in the index's folder."""
AT_ONCE = 32
"""Chunks that the static model embeds in one step, which takes a hundredth of a second."""


class Dense:
    """Raises OSError if the file of vectors fails."""

    def __init__(self) -> None:
        self.embedder = ""
        """The embedder of the vectors; empty: the search is only lexical."""
        self.problem = ""
        self._model: StaticModel | None = None
        self._disk: DiskIndex | None = None
        self._file: VectorFile | None = None
        self._generation = -1
        self._chunks: dict[int, tuple[int, int]] = {}
        """By key: the id of a file, and the number of a chunk in it with this text."""
        self._given_up: set[int] = set()
        """Keys that get no vector: the file's text has changed, or the text must not be sent or has no words."""

    def use(self, embedder: str) -> None:
        """Use the vectors of this embedder: `static`, or any name for an embedder of the server; empty: none."""
        self.close()
        self._model, self.problem = None, ""
        if embedder == "static":
            try:
                from tark_lsp.index.static_model import StaticModel

                self._model = StaticModel()
            except ImportError as error:
                self.problem = f"the static model cannot be used ({error}): install tark-lsp[embeddings]"
        self.embedder = self._model.name if self._model else "" if self.problem else embedder

    def attach(self, disk: DiskIndex | None) -> "Dense | None":
        """Switch to the vectors of this index. Returns itself, or None if no embedder is used."""
        if disk is not self._disk:
            self.close()
            self._disk = disk
        if disk is None or not self.embedder:
            return None
        if self._file is None and self._model is not None:
            self._open(self._model.length)
        elif self._file is None and (disk.folder / VECTORS).exists():
            self._open(None)
        return self

    def step(self, disk: DiskIndex) -> bool:
        """Embed some chunks with the static model. False if there is nothing to do."""
        if self._model is None or self.attach(disk) is None or self._file is None:
            return False
        found = self.missing(disk.text, AT_ONCE)
        texts = {chunk_key(text): text for text in _texts(disk, {file for file, _ in found.values()})}
        keys = [key for key in found if key in texts]
        self.give_up(found.keys() - texts.keys())
        self._file.put(keys, self._model.embed([texts[key] for key in keys]))
        self.give_up(set(keys) - self._file.known(keys))  # a vector of zeros: the text has no words
        return bool(found)

    def missing(self, text: TextIndex, limit: int, after: int = 0) -> dict[int, tuple[int, int]]:
        """The lowest keys above `after` of chunks without a vector, each with the file's id and the chunk's number."""
        self._follow(text)
        known = self._file.known(self._chunks) if self._file is not None else set()
        left = (item for item in self._chunks.items() if item[0] > after)
        found = ((key, place) for key, place in left if key not in known and key not in self._given_up)
        return dict(islice(found, limit))

    def put(self, embedder: str, keys: Sequence[int], vectors: Sequence[Sequence[float]]) -> None:
        """Raises ToolError if the vectors are from another embedder, or are invalid."""
        if embedder != self.embedder or self._disk is None:
            raise ToolError("stale", f"the vectors are of {embedder}, but the index uses {self.embedder or 'none'}")
        if not keys or not self._disk.writable:
            return
        if self._file is None:
            self._open(len(vectors[0]))
        assert self._file is not None
        try:
            self._file.put(keys, vectors)
        except ValueError as error:
            raise ToolError("invalid_arguments", str(error)) from error
        self.give_up(set(keys) - self._file.known(keys))

    def give_up(self, keys: Iterable[int]) -> None:
        """Compute no vectors for these keys until the index changes."""
        self._given_up.update(keys)

    def nearest(self, query: str, vector: Sequence[float], limit: int) -> list[ChunkHit]:
        """The chunks nearest to a query. `vector`: the query's vector; empty if the static model computes it."""
        if self._disk is None or self._file is None:
            return []
        self._follow(self._disk.text)
        found = self._file.nearest(vector or (self._model.embed([query])[0] if self._model else ()), limit)
        return self.chunks_of(found)

    def chunks_of(self, found: Sequence[tuple[int, float]]) -> list[ChunkHit]:
        """The chunks of these keys that this index has, with their scores."""
        return [ChunkHit(*self._chunks[key], score) for key, score in found if key in self._chunks]

    def describe(self) -> str:
        """The text for `IndexStatus.vectors`; empty if the search is only lexical."""
        if not self.embedder:
            return self.problem
        return f"{self.embedder}: {self._file.count if self._file is not None else 0:,} vectors"

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file, self._generation = None, -1

    def _open(self, length: int | None) -> None:
        from tark_lsp.index.vector_rows import length_in
        from tark_lsp.index.vectors import VectorFile

        assert self._disk is not None
        path, writable = self._disk.folder / VECTORS, self._disk.writable
        length = length or length_in(path, self.embedder)
        if length and (writable or length == length_in(path, self.embedder)):
            self._file = VectorFile(path, self.embedder, length, writable=writable)

    def _follow(self, text: TextIndex) -> None:
        """Read the keys of the text index again if it has changed, and remove the vectors of other chunks."""
        if text.generation == self._generation:
            return
        self._generation = text.generation
        self._chunks = dict(sorted(text.keys().items()))
        self._given_up.clear()
        if self._file is not None and self._disk is not None and self._disk.writable:
            self._file.keep_only(self._chunks.keys())


def _texts(disk: DiskIndex, files: Iterable[int]) -> Iterator[str]:
    """The current texts of all chunks of these files."""
    rows = disk.store.files(files)
    for file, packed in disk.store.places(rows).items():
        path = rows[file].path
        read = read_for_index(path)
        if read is not None and not read.reason:
            yield from chunk_texts(path, read.text, unpack_places(packed))
