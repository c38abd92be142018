"""The text index: which chunks have which words, and which files define or use which names. It uses tantivy.

Each chunk is one document. No text is stored. Identifiers are split into words, both in texts and in queries.
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import tantivy
from tantivy import Occur, Query

from tark_lsp.index.chunk_fields import Fields, spaced
from tark_lsp.index.priority import lower_priority

HEAP_BYTES = 30_000_000
THREADS = 1
"""Threads besides the one that parses. A second one is not faster on two cores, and makes twice as many segments."""
LONGEST_WORD = 60
WORDS = ("body", "symbol", "outer", "path")
"""Fields with split words. `symbol`: the names that are defined in a chunk. `outer`: the chunk's qualified name."""
NAMES = ("defines", "uses", "lower")
"""Fields with whole names. `defines`: defined in the chunk. `uses`: used in the file; only in its first chunk. `lower`:
`defines` in lower case."""
EVERYTHING = 10_000_000
"""More documents than an index has."""
MOST_WORDS = 64
"""Words of a query. A longer one is probably a pasted text, whose first words are enough."""


@dataclass(frozen=True, slots=True)
class ChunkHit:
    file: int
    chunk: int
    score: float


class TextIndex:
    """Raises ValueError and OSError if its files fail. tantivy can also panic on damaged ones (`keeper.guarded`)."""

    def __init__(self, folder: Path, *, writable: bool) -> None:
        self._index = tantivy.Index(_schema(), str(folder))
        self._index.register_tokenizer("words", _analyzer())
        self._index.config_reader("manual")
        self._searcher = self._index.searcher()
        self.writing: ThreadPoolExecutor | None = None
        """The thread that commits. This thread and those that tantivy starts in it have a low priority."""
        self._writer: tantivy.IndexWriter | None = None
        if writable:
            self.writing = ThreadPoolExecutor(1, "commit", initializer=lower_priority)
            self._writer = self.writing.submit(self._index.writer, HEAP_BYTES, THREADS).result()
        self.generation = 0
        """Changes whenever the visible documents may have changed."""

    @property
    def documents(self) -> int:
        return self._searcher.num_docs

    def add(self, file: int, chunks: Iterable[Fields]) -> None:
        """If the index already has words of this file, call `remove` first."""
        assert self._writer is not None
        for number, fields in enumerate(chunks):
            document = tantivy.Document.from_dict({**fields, "file": [file], "chunk": [number]}, self._index.schema)
            self._writer.add_document(document)

    def remove(self, file: int) -> None:
        assert self._writer is not None
        # `delete_documents_by_term` treats a number as signed, so it would find nothing.
        self._writer.delete_documents_by_query(Query.term_query(self._index.schema, "file", file))

    def begin_commit(self) -> Future[object]:
        """Do not add or remove anything until the future is done. Then call `reload` to see what was committed."""
        assert self._writer is not None
        assert self.writing is not None
        return self.writing.submit(self._writer.commit)

    def commit(self) -> None:
        self.begin_commit().result()
        self.reload()

    def reload(self) -> None:
        """Make commits visible, of this process or another one."""
        self._index.reload()
        self._searcher = self._index.searcher()
        self.generation += 1

    def close(self) -> None:
        """Close without a commit: changes since the last one are lost. A running commit is completed."""
        if self.writing is not None:
            self.writing.shutdown()
        self._writer = None

    def search(self, query: Query, limit: int) -> list[ChunkHit]:
        """The best chunks first."""
        found = self._searcher.search(query, limit=max(1, limit), count=False).hits
        addresses = [address for _, address in found]
        files = self._searcher.fast_field_values("file", addresses)
        chunks = self._searcher.fast_field_values("chunk", addresses)
        return [
            ChunkHit(int(file or 0), int(chunk or 0), float(score))
            for (score, _), file, chunk in zip(found, files, chunks, strict=True)
        ]

    def files_with(self, field: str, name: str) -> list[int]:
        """The ids of all files with this name in a field of `NAMES`."""
        return self._files(Query.const_score_query(self.term(field, name), 1.0))

    def files_with_words(self, words: Sequence[str]) -> list[int]:
        """The ids of all files that have a chunk with all these words in its symbols."""
        terms = [(Occur.Must, self.term("symbol", word)) for word in words]
        return self._files(Query.const_score_query(Query.boolean_query(terms), 1.0)) if terms else []

    def names_with_prefix(self, prefix: str, limit: int) -> list[str]:
        """Names in lower case that begin with the prefix (in lower case)."""
        return [name for name, _ in self._searcher.terms_with_prefix("lower", encodable(prefix), limit=limit)]

    def frequency(self, field: str, word: str) -> int:
        """How many chunks have the word, to compute scores that are comparable with those of this index."""
        return self._searcher.doc_freq(field, encodable(word))

    def term(self, field: str, word: str) -> Query:
        return Query.term_query(self._index.schema, field, encodable(word), "basic" if field in NAMES else "freq")

    def keys(self) -> dict[int, tuple[int, int]]:
        """The keys of all chunks (chunk_text.py), each with the file's id and the chunk's number."""
        found = self._searcher.search(
            Query.all_query(), limit=max(1, min(self.documents, EVERYTHING)), count=False
        ).hits
        addresses = [address for _, address in found]
        columns = [self._searcher.fast_field_values(field, addresses) for field in ("key", "file", "chunk")]
        return {int(key or 0): (int(file or 0), int(chunk or 0)) for key, file, chunk in zip(*columns, strict=True)}

    def _files(self, query: Query) -> list[int]:
        found = self._searcher.search(query, limit=max(1, min(self.documents, EVERYTHING)), count=False).hits
        files = self._searcher.fast_field_values("file", [address for _, address in found])
        return [*dict.fromkeys(int(file or 0) for file in files)]


def words_of(text: str) -> list[str]:
    """The words of a text or query in the form that the index uses."""
    return _ANALYZER.analyze(spaced(encodable(text)))


def encodable(text: str) -> str:
    """Replace lone surrogates, which a model can send in JSON but tantivy does not accept. Files cannot have them."""
    return text.encode("utf-8", "replace").decode()


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("file", indexed=True, fast=True)
    builder.add_unsigned_field("chunk", fast=True)
    builder.add_unsigned_field("key", fast=True)
    for field in WORDS:
        builder.add_text_field(field, tokenizer_name="words", index_option="freq")
    for field in NAMES:
        builder.add_text_field(field, tokenizer_name="raw", index_option="basic")
    return builder.build()


def _analyzer() -> tantivy.TextAnalyzer:
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    builder = builder.filter(tantivy.Filter.remove_long(LONGEST_WORD))
    return builder.filter(tantivy.Filter.lowercase()).filter(tantivy.Filter.stemmer("english")).build()


_ANALYZER = _analyzer()
