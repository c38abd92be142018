"""Search in two steps: `candidates_query` finds chunks by BM25, `rank` decides on their order and which are shown."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tantivy import Occur, Query

from tark_lsp.index.model import Hit
from tark_lsp.index.text_index import MOST_WORDS, TextIndex, words_of

CANDIDATES = 100
"""Chunks that the first step finds at most."""
BOOSTS = {"body": 1.0, "symbol": 2.0, "path": 0.7}
DEFINES_BOOST = 4.0
IDENTIFIER = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class Terms:
    """What a query asks for: split words, and the whole identifiers as they are written."""

    words: tuple[str, ...]
    identifiers: tuple[str, ...]


def terms_of(query: str) -> Terms:
    words = tuple(dict.fromkeys(words_of(query)))[:MOST_WORDS]
    return Terms(words, tuple(dict.fromkeys(IDENTIFIER.findall(query)))[:MOST_WORDS])


def candidates_query(index: TextIndex, terms: Terms) -> Query:
    parts = [
        Query.boost_query(index.term(field, word), boost) for field, boost in BOOSTS.items() for word in terms.words
    ]
    parts += [Query.boost_query(index.term("defines", name), DEFINES_BOOST) for name in terms.identifiers]
    return Query.boolean_query([(Occur.Should, part) for part in parts]) if parts else Query.empty_query()


def rank(query: str, candidates: Sequence[Hit], limit: int) -> list[Hit]:
    """The hits to show, the best first. `candidates` come from the disk and from open documents, in any order."""
    del query
    return sorted(candidates, key=lambda hit: (-hit.score, str(hit.path), hit.start_line))[:limit]
