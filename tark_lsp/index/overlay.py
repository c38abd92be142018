"""Open documents whose text differs from their files: kept in memory, and answered from instead of the files.

Their chunks are scored as tantivy scores those on disk (BM25, k1 = 1.2, b = 0.75, the frequencies of words are those of
the disk), so that the scores of both can be compared.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from tark_lsp.index.model import ParsedFile
from tark_lsp.index.parsing import parse_file
from tark_lsp.index.text_index import TextIndex, lines_of, names_by_chunk, path_text, spaced, words_of

K1, B = 1.2, 0.75
USUAL_LENGTH: Mapping[str, float] = {"body": 120.0, "symbol": 3.0, "path": 8.0}
"""Words of an average chunk, for each field; tantivy does not say what it counts."""


@dataclass(frozen=True, slots=True)
class OverlaidChunk:
    words: Mapping[str, Counter[str]]
    """By field."""
    defines: frozenset[str]


@dataclass(frozen=True, slots=True)
class OverlaidFile:
    parsed: ParsedFile
    chunks: tuple[OverlaidChunk, ...]

    @classmethod
    def of(cls, path: str, text: str) -> "OverlaidFile":
        parsed = parse_file(path, text)
        lines, names = lines_of(spaced(text)), names_by_chunk(parsed)
        in_path = Counter(words_of(path_text(path)))
        chunks = []
        for number, chunk in enumerate(parsed.chunks):
            defined = names.get(number, [])
            words = {
                "body": Counter(words_of("\n".join(lines[chunk.start_line - 1 : chunk.end_line]))),
                "symbol": Counter(words_of(" ".join(defined))),
                "path": in_path,
            }
            chunks.append(OverlaidChunk(words, frozenset(defined)))
        return cls(parsed, tuple(chunks))


@dataclass(frozen=True, slots=True)
class Weights:
    """How rare each word of a query is on disk, by field and word, multiplied with the boost of the field."""

    by_field: Mapping[str, Mapping[str, float]]
    defines: Mapping[str, float]

    def score(self, chunk: OverlaidChunk) -> float:
        """0 if nothing matches."""
        total = sum(weight for name, weight in self.defines.items() if name in chunk.defines)
        for field, weights in self.by_field.items():
            counts = chunk.words[field]
            length = 1 - B + B * counts.total() / USUAL_LENGTH[field]
            for word, weight in weights.items():
                if count := counts.get(word, 0):
                    total += weight * count * (K1 + 1) / (count + K1 * length)
        return total


def rarity(index: TextIndex, field: str, word: str) -> float:
    """The inverse document frequency as tantivy computes it."""
    frequency = index.frequency(field, word)
    return math.log(1 + (max(index.documents, frequency) - frequency + 0.5) / (frequency + 0.5))
