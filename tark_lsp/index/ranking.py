"""Search in two steps: `candidates_query` finds chunks by BM25, `rank` decides their order and which are shown.

The numbers are those with the best results for one half of the questions of tests/benchmarks/bench_retrieval.py.
docs/index.md has their results for the other half.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from tantivy import Occur, Query

from tark_lsp.index.fusion import diversify, fuse_rankings
from tark_lsp.index.model import Hit
from tark_lsp.index.text_index import MOST_WORDS, TextIndex, words_of
from tark_lsp.index.word_forms import doer, other_spellings

CANDIDATES = 100
"""The maximum number of chunks from the first step."""
BOOSTS = {"body": 1.4, "symbol": 1.0, "outer": 0.5, "path": 0.4}
DEFINES_BOOST = 2.0
FIELDS_OF_NAMES = ("symbol", "outer")
SPELLING_WEIGHT = 0.5
"""The weight of a word in another spelling; that of the word itself is 1."""
FOLDER_WEIGHT = 1.25
"""The weight of hits in a folder that the query names, for example a library."""
PLACE_RATIO = 4
"""A word that is this many times more frequent in paths than in names of definitions is a place."""
PLACE_BOOSTS = {"body": 0.4, "symbol": 0.4, "outer": 0.4, "path": 6.0}
"""Factors of `BOOSTS` for a place: code that only mentions a library is not the code that is meant."""
TESTS_WEIGHT = 0.5
"""The weight of hits in tests, examples and docs, because they repeat the words of the code that they are about."""
DENSE_WEIGHT = 0.3
"""The weight of the ranking by vectors; that of the ranking by words is 1."""
FUSION_OFFSET = 10
"""Lower than usual (fusion.py), so that the best hits by words stay near the top."""
RELEVANCE = 0.9
"""The `balance` of `diversify`: the weight of the score. The rest is for different code."""
FEW_WORDS = 3
"""All words of a query with at most this many words count as names."""
STOP_WORDS = frozenset(
    (  # noqa: SIM905  # a list of sixty quoted words is harder to read
        "a add added an and are as at be by can do does fix fixed for from has have how i if in into is it its make new"
        " not of on only or should so that the their then there this to use used using was we what when where which"
        " will with you your also"
    ).split()
)
"""Common words of questions and messages that do not describe code."""
IDENTIFIER = re.compile(r"[^\W\d]\w*")
CODE_NAME = re.compile(r"[^\W_]_[^\W_]|[a-z][A-Z]|[A-Z]{2}[a-z]|\w\d")
"""Matches identifiers that do not look like words of a natural language."""
TESTS = re.compile(
    r"(^|[/\\])(tests?|__tests__|specs?|testdata|fixtures?|examples?|docs?|test_[^/\\]*)[/\\]"
    r"|(^|[/\\])test_[^/\\]*$|_test\.\w+$|\.(test|spec)\.\w+$",
    re.IGNORECASE,
)
COPIES = re.compile(r"/(_?vendor|_?vendored|third_party|node_modules|typeshed)/|\.pyi$|\.d\.[cm]?ts$", re.IGNORECASE)
"""Paths with copies of other projects, or with declarations for code that is elsewhere."""
COPIES_WEIGHT = 0.8
PARTS_OF_PATH = 4
"""How many parts are checked for TESTS, from the end: the workspace itself can be in a folder `tests`."""
ABOUT_TESTS = re.compile(r"\b(tests?|testing|tested|specs?|fixtures?|examples?|docs?)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a query: split words, whole identifiers as they are written, and other forms of the words."""

    words: tuple[str, ...]
    identifiers: tuple[str, ...]
    spellings: tuple[str, ...] = ()
    doers: tuple[str, ...] = ()
    places: frozenset[str] = frozenset()
    """The `words` that say where the code is, not what it does, for example the name of a library."""


def terms_of(query: str) -> Terms:
    """The terms of a query, without stop words unless there is nothing else."""
    telling = [word for word in re.findall(r"\w+", query) if word.lower() not in STOP_WORDS]
    found = [word for word in telling if IDENTIFIER.fullmatch(word)]
    names = found if len(found) <= FEW_WORDS else [word for word in found if CODE_NAME.search(word)]
    lower = [word.lower() for word in telling]
    words = _split(telling) if telling else _split([query])
    return Terms(
        words,
        tuple(dict.fromkeys(names))[:MOST_WORDS],
        _split(other for word in lower for other in other_spellings(word)),
        _split(doer(word) for word in lower),
    )


def _split(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words_of(" ".join(texts))))[:MOST_WORDS]


def with_places(terms: Terms, index: TextIndex) -> Terms:
    """Set `places`. Example: `keyring` is in most paths of that library, `header` mostly in names."""

    def is_place(word: str) -> bool:
        return index.frequency("path", word) > PLACE_RATIO * index.frequency("symbol", word)

    return replace(terms, places=frozenset(filter(is_place, terms.words)))


def boosts_of(terms: Terms) -> Iterator[tuple[str, str, float]]:
    """The field, word and boost of each part of the query that a chunk can match."""
    for field, boost in BOOSTS.items():
        for word in terms.words:
            yield field, word, boost * (PLACE_BOOSTS[field] if word in terms.places else 1.0)
        yield from ((field, word, boost * SPELLING_WEIGHT) for word in terms.spellings if word not in terms.words)
    for field in FIELDS_OF_NAMES:
        yield from ((field, word, BOOSTS[field]) for word in terms.doers if word not in terms.words)
    yield from (("defines", name, DEFINES_BOOST) for name in terms.identifiers)


def candidates_query(index: TextIndex, terms: Terms) -> Query:
    parts = [Query.boost_query(index.term(field, word), boost) for field, word, boost in boosts_of(terms)]
    return Query.boolean_query([(Occur.Should, part) for part in parts]) if parts else Query.empty_query()


def rank(query: str, candidates: Sequence[Hit], limit: int, nearest: Sequence[Hit] = ()) -> list[Hit]:
    """The hits to show, the best first. `candidates`: hits by words, from disk and open documents, in any order.

    `nearest`: hits by vectors. With them, the scores are those of reciprocal rank fusion.
    """
    weigh = _weight_of(query)
    by_words, by_vectors = (
        sorted((replace(hit, score=hit.score * weigh(hit)) for hit in hits), key=_order)
        for hits in (candidates, nearest)
    )
    if not by_vectors:
        ranked = by_words
    else:
        hits = {_place(hit): hit for hit in (*by_vectors, *by_words)}
        rankings = [[_place(hit) for hit in ranking] for ranking in (by_words, by_vectors)]
        fused = fuse_rankings(rankings, (1.0, DENSE_WEIGHT), FUSION_OFFSET)
        ranked = [replace(hits[place], score=score) for place, score in fused]
    return diversify(ranked, [hit.score for hit in ranked], _likeness, limit, RELEVANCE)


def _weight_of(query: str) -> Callable[[Hit], float]:
    is_about_tests = ABOUT_TESTS.search(query)
    named = {folder_name(word) for word in re.findall(r"\w{3,}", query) if word.lower() not in STOP_WORDS}

    def weigh(hit: Hit) -> float:
        *folders, _ = hit.path.parts
        weight = FOLDER_WEIGHT if any(folder_name(folder) in named for folder in folders) else 1.0
        if COPIES.search(hit.path.as_posix()):
            weight *= COPIES_WEIGHT
        is_test = TESTS.search("/".join(hit.path.parts[-PARTS_OF_PATH:]))
        return weight * TESTS_WEIGHT if is_test and not is_about_tests else weight

    return weigh


@lru_cache(maxsize=10_000)
def folder_name(part: str) -> str:
    """Normalise a folder or a word of a query: `_pytest` equals `pytest`, `tree-sitter` equals `tree_sitter`."""
    return part.strip("_.-@").lower().replace("-", "_")


def _likeness(one: Hit, other: Hit) -> float:
    """1 for two pieces of the same definition, of which one is enough, else 0."""
    return float(one.symbol == other.symbol and bool(one.symbol) and one.path == other.path)


def _order(hit: Hit) -> tuple[float, str, int]:
    return -hit.score, str(hit.path), hit.start_line


def _place(hit: Hit) -> tuple[str, int]:
    return str(hit.path), hit.start_line
