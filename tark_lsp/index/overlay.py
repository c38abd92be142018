"""Open documents whose text differs from their files. They are kept in memory and replace the files in answers.

Their chunks are scored as tantivy scores those on disk (BM25, k1 = 1.2, b = 0.75, with the word frequencies of the
disk), so that the scores of both can be compared.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tark_lsp.index.chunk_fields import lines_of, names_by_chunk, path_text, spaced
from tark_lsp.index.disk_index import DiskIndex
from tark_lsp.index.file_rows import Seen, State, Totals, is_current
from tark_lsp.index.model import ParsedFile
from tark_lsp.index.parsing import parse_file, parse_without_grammar
from tark_lsp.index.reading import is_worth, read_for_index
from tark_lsp.index.scanning import look_at
from tark_lsp.index.text_index import TextIndex, words_of
from tark_lsp.index.worker import Permit

K1, B = 1.2, 0.75
BYTES_OF_WORD = 7.0
"""Average bytes per word of code, including spaces and punctuation."""
MOST_FILES = 1_000
"""Limit for files that are not open. It is exceeded only if the index is slower than the changes, or cannot be written.
Then the oldest files are dropped."""
WORDS_OF_SYMBOL, WORDS_OF_OUTER, WORDS_OF_PATH = 2.0, 2.0, 7.0


@dataclass(frozen=True, slots=True)
class OverlaidChunk:
    words: Mapping[str, Counter[str]]
    """By field."""
    defines: frozenset[str]


@dataclass(frozen=True)
class OverlaidFile:
    path: str
    text: str
    parsed: ParsedFile

    @classmethod
    def of(cls, path: str, text: str, *, plain: bool = False) -> "OverlaidFile":
        """`plain`: parse without a grammar."""
        return cls(path, text, parse_without_grammar(text) if plain else parse_file(path, text))

    @cached_property
    def chunks(self) -> tuple[OverlaidChunk, ...]:
        """The words of the chunks. Only a search by words needs them."""
        lines, names = lines_of(spaced(self.text)), names_by_chunk(self.parsed)
        in_path = Counter(words_of(path_text(self.path)))
        chunks = []
        for number, chunk in enumerate(self.parsed.chunks):
            defined = names.get(number, [])
            words = {
                "body": Counter(words_of("\n".join(lines[chunk.start_line - 1 : chunk.end_line]))),
                "symbol": Counter(words_of(" ".join(defined))),
                "outer": Counter(words_of(chunk.symbol)),
                "path": in_path,
            }
            chunks.append(OverlaidChunk(words, frozenset(defined)))
        return tuple(chunks)


class Overlay:
    """Open documents, and changed files until they are indexed again. `files`: the texts to answer from, by path."""

    def __init__(self, permit: Permit) -> None:
        self._permit = permit
        self._stamps: dict[str, Seen | None] = {}
        """The state of files that are not open, when they were read."""
        self.files: dict[str, OverlaidFile] = {}

    @property
    def waiting(self) -> int:
        """How many files wait to be indexed."""
        return len(self._stamps)

    def show_text(self, path: str, text: str, *, plain: bool) -> None:
        self.drop(path)
        if self._permit([path])[0]:
            self.files[path] = OverlaidFile.of(path, text if is_worth(path, text) else "", plain=plain)

    def show_files(self, paths: Sequence[str]) -> None:
        """Read these files, unless they are open."""
        paths = [path for path in paths if path not in self.files or path in self._stamps]
        for path, is_allowed in zip(paths, self._permit(paths) if paths else (), strict=True):
            self._stamps[path] = look_at(path)
            read = read_for_index(path) if is_allowed else None
            self.files[path] = OverlaidFile.of(path, read.text if read is not None and not read.reason else "")
        while len(self._stamps) > MOST_FILES:
            self.drop(next(iter(self._stamps)))

    def drop(self, path: str) -> None:
        self.files.pop(path, None)
        self._stamps.pop(path, None)

    def check_rules(self) -> None:
        for path in [*self.files]:
            if not self._permit([path])[0]:
                self.drop(path)

    def refresh(self, disk: DiskIndex | None, writer: DiskIndex | None) -> list[str]:
        """Read files again that changed, and drop those whose current content is indexed.

        Returns files that changed while they were indexed. `writer`: the same index, if this process writes it.
        """
        again: list[str] = []
        for path, seen in [*self._stamps.items()]:
            now = look_at(path)
            row = disk.store.file(path) if disk is not None else None
            if row is None:
                is_over = writer is not None or (disk is not None and now is None)  # a scan did not find it
            else:
                is_over = now is not None and is_current(row, now)
            if is_over:
                self.drop(path)
            elif writer is not None and row is not None and row.state in (State.CLEAN, State.SKIPPED):
                again.append(path)
            elif now != seen:
                self.show_files([path])
        return again


@dataclass(frozen=True, slots=True)
class Weights:
    """The rarity of each word of a query on disk, by field and word, multiplied by the boost of the field."""

    by_field: Mapping[str, Mapping[str, float]]
    defines: Mapping[str, float]
    lengths: Mapping[str, float]
    """Words of an average chunk, by field."""

    def score(self, chunk: OverlaidChunk) -> float:
        """The score of a chunk; 0 if nothing matches."""
        total = sum(weight for name, weight in self.defines.items() if name in chunk.defines)
        for field, weights in self.by_field.items():
            counts = chunk.words[field]
            length = 1 - B + B * counts.total() / self.lengths[field]
            for word, weight in weights.items():
                if count := counts.get(word, 0):
                    total += weight * count * (K1 + 1) / (count + K1 * length)
        return total


def usual_lengths(totals: Totals) -> Mapping[str, float]:
    """The estimated words of an average chunk by field: tantivy does not provide the numbers."""
    chunks = max(1, totals.chunks)
    return {
        "body": max(1.0, totals.bytes / chunks / BYTES_OF_WORD),
        "symbol": max(0.1, totals.definitions / chunks * WORDS_OF_SYMBOL),
        "outer": WORDS_OF_OUTER,
        "path": WORDS_OF_PATH,
    }


def rarity(index: TextIndex, field: str, word: str) -> float:
    """The inverse document frequency as tantivy computes it."""
    frequency = index.frequency(field, word)
    return math.log(1 + (max(index.documents, frequency) - frequency + 0.5) / (frequency + 0.5))
