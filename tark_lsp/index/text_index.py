"""The text index: which chunks have which words, and which files define or use which names. tantivy, in a folder.

Each chunk is one document. No text is stored. Identifiers are split into their words, in texts and in queries alike.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath

import tantivy
from tantivy import Occur, Query

from tark_lsp.index.chunk_text import chunk_key, chunk_text
from tark_lsp.index.model import Chunk, ParsedFile

HEAP_BYTES = 30_000_000
THREADS = 1
"""Beside the thread that parses; a second one makes no difference on two cores, and twice as many segments."""
LONGEST_WORD = 60
BEGINNINGS = re.compile(r"[A-Z0-9](?:(?<=[a-z0-9][A-Z])|(?<=[A-Za-z][0-9])|(?<=[A-Z][A-Z])(?=[a-z]))")
"""Where a word begins inside an identifier, beside `_` and the like, which tantivy's tokenizer takes for spaces.

The same rules as in identifiers.py, as one expression that begins with a set: texts pass it at 90 MB/s.
"""
WORDS = ("body", "symbol", "outer", "path")
"""Fields with split words. `symbol` has the names that are defined in a chunk, `outer` its qualified name."""
NAMES = ("defines", "uses", "lower")
"""Fields with whole names: defined in the chunk; used in the file (in its first chunk); `defines` in lower case."""
EVERYTHING = 10_000_000
"""More documents than an index has."""
MOST_WORDS = 64
"""Of a query. More would be a pasted text, whose first words say enough."""


@dataclass(frozen=True, slots=True)
class ChunkHit:
    file: int
    chunk: int
    score: float


class TextIndex:
    """Raises ValueError and OSError if its files fail; tantivy can also panic on damaged ones (`Panic`)."""

    def __init__(self, folder: Path, *, writable: bool) -> None:
        self._index = tantivy.Index(_schema(), str(folder))
        self._index.register_tokenizer("words", _analyzer())
        self._index.config_reader("manual")
        self._searcher = self._index.searcher()
        self._writer = self._index.writer(HEAP_BYTES, THREADS) if writable else None
        self.generation = 0
        """Another number whenever other documents can be seen."""

    @property
    def documents(self) -> int:
        return self._searcher.num_docs

    def add(self, file: int, path: str, text: str, parsed: ParsedFile) -> None:
        """If the file has words already, `remove` comes first."""
        assert self._writer is not None
        for document in documents(file, path, text, parsed):
            self._writer.add_document(document)

    def remove(self, file: int) -> None:
        assert self._writer is not None
        # `delete_documents_by_term` takes a number for a signed one, so it would find nothing.
        self._writer.delete_documents_by_query(Query.term_query(self._index.schema, "file", file))

    def commit(self) -> None:
        assert self._writer is not None
        self._writer.commit()
        self.reload()

    def reload(self) -> None:
        """See what was committed, by this process or another."""
        self._index.reload()
        self._searcher = self._index.searcher()
        self.generation += 1

    def close(self) -> None:
        """Without a commit: what was added since the last one is lost."""
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
        query = Query.const_score_query(Query.term_query(self._index.schema, field, name, "basic"), 1.0)
        return self._files(query)

    def files_with_words(self, words: Sequence[str]) -> list[int]:
        """The ids of all files with a chunk whose symbols have all these words."""
        terms = [(Occur.Must, Query.term_query(self._index.schema, "symbol", word, "freq")) for word in words]
        return self._files(Query.const_score_query(Query.boolean_query(terms), 1.0)) if terms else []

    def names_with_prefix(self, prefix: str, limit: int) -> list[str]:
        """Names in lower case that begin with the prefix (in lower case)."""
        return [name for name, _ in self._searcher.terms_with_prefix("lower", prefix, limit=limit)]

    def frequency(self, field: str, word: str) -> int:
        """How many chunks have the word; for scores that are comparable with those of this index."""
        return self._searcher.doc_freq(field, word)

    def term(self, field: str, word: str) -> Query:
        return Query.term_query(self._index.schema, field, word, "basic" if field in NAMES else "freq")

    def keys(self) -> dict[int, tuple[int, int]]:
        """The keys of all chunks (chunk_text.py), with the id of a file and the number of a chunk that has each."""
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
    """The words of a text or query as they are in the index."""
    return _ANALYZER.analyze(spaced(text))


def spaced(text: str) -> str:
    """Words inside identifiers divided by spaces. Lines stay what they are."""
    return BEGINNINGS.sub(_behind_a_space, text)


@lru_cache(maxsize=10_000)
def _spaced_name(name: str) -> str:
    return spaced(name)


def _behind_a_space(match: re.Match[str]) -> str:
    return f" {match[0]}"


def lines_of(text: str) -> list[str]:
    """The lines that chunks count, without their endings."""
    return (text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text).split("\n")


def documents(file: int, path: str, text: str, parsed: ParsedFile) -> Iterable[tantivy.Document]:
    lines = lines_of(spaced(text))
    path_words = spaced(path_text(path))
    defined = names_by_chunk(parsed)
    uses = sorted({reference.name for reference in parsed.references})
    keys = [chunk_key(text) for text in chunk_texts(path, text, parsed.chunks)]
    for number, chunk in enumerate(parsed.chunks):
        document = tantivy.Document()
        document.add_unsigned("file", file)
        document.add_unsigned("chunk", number)
        document.add_unsigned("key", keys[number])
        document.add_text("body", "\n".join(lines[chunk.start_line - 1 : chunk.end_line]))
        document.add_text("outer", _spaced_name(chunk.symbol))
        document.add_text("path", path_words)
        for name in defined.get(number, ()):
            document.add_text("symbol", _spaced_name(name))
            document.add_text("defines", name)
            document.add_text("lower", name.lower())
        for name in uses if number == 0 else ():
            document.add_text("uses", name)
        yield document


def chunk_texts(path: str, text: str, chunks: Sequence[Chunk]) -> Iterator[str]:
    """The texts that the vectors of the chunks are made of."""
    lines = lines_of(text)
    for chunk in chunks:
        yield chunk_text(path, chunk.symbol, "\n".join(lines[chunk.start_line - 1 : chunk.end_line]))


def path_text(path: str) -> str:
    """The last parts of a path, which say what a file is about. The others are the same for most files."""
    return " ".join(PurePath(path).parts[-4:]).encode("utf-8", "replace").decode()


def names_by_chunk(parsed: ParsedFile) -> dict[int, list[str]]:
    """For each chunk the names of the definitions that begin in it. Those outside of all chunks are in the first."""
    starts = [(chunk.start_line, chunk.end_line) for chunk in parsed.chunks]
    found: dict[int, list[str]] = {}
    for definition in parsed.definitions:
        line = definition.name_line
        number = next((number for number, (start, end) in enumerate(starts) if start <= line <= end), 0)
        found.setdefault(number, []).append(definition.name)
    return found


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
