"""The functions that answer the questions, one for each kind, and a table of them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tark_lsp.errors import ToolError
from tark_lsp.index.calls import callees, callers
from tark_lsp.index.central import central
from tark_lsp.index.model import ChunkPlace, Definition, Found, FoundDefinition, FoundReference, Hit
from tark_lsp.index.overlay import Weights, rarity, usual_lengths
from tark_lsp.index.packed_vectors import unpack_vectors
from tark_lsp.index.questions import (
    Callees,
    Callers,
    Central,
    DefinitionsOf,
    KeepVectors,
    Question,
    ReferencesTo,
    Search,
    SymbolsIn,
    SymbolsLike,
    Unembedded,
)
from tark_lsp.index.ranking import BOOSTS, CANDIDATES, Terms, boosts_of, candidates_query, rank, terms_of, with_places
from tark_lsp.index.text_index import words_of
from tark_lsp.index.view import View

MOST_DEFINITIONS = 200
"""Definitions in one answer. Nobody would read more."""
MOST_SYMBOLS = 5_000
SEPARATORS = re.compile(r"\.|::|#|/")
"""The separators between the parts of a qualified name in different languages."""
PREFIX_NAMES = 200
LIKE_FILES, MOST_LIKE_FILES = 40, 400
"""Files that are read per step and at most for symbols that resemble a query; those with the shortest names first."""

Answer = Callable[[View, Any], Found[Any]]


def search(view: View, question: Search) -> Found[Hit]:
    terms = with_places(terms_of(question.query), view.text)
    found = candidates(view, terms)
    ranked = rank(question.query, found, question.limit, _nearest(view, question))
    return Found(ranked, complete=len(found) <= question.limit)


def _nearest(view: View, question: Search) -> list[Hit]:
    """The chunks whose vectors are nearest to the query's vector. Open documents are found only by their words."""
    dense = view.dense
    if dense is None:
        return []
    vector = unpack_vectors(question.vector, 1)[0] if question.vector else ()
    found = dense.chunks_of(question.nearest) or dense.nearest(question.query, vector, CANDIDATES)
    return [*view.hits((hit.file, hit.chunk, hit.score) for hit in found)]


def unembedded(view: View, question: Unembedded) -> Found[ChunkPlace]:
    if view.dense is None:
        return Found(())
    found = view.dense.missing(view.text, question.limit, question.after)
    items = [
        ChunkPlace(hit.path, hit.start_line, hit.end_line, hit.symbol, key)
        for key, place in found.items()
        for hit in view.hits([(*place, 0.0)])
    ]
    return Found(items, complete=len(found) < question.limit)


def keep_vectors(view: View, question: KeepVectors) -> Found[ChunkPlace]:
    """Raises ToolError if the vectors are from another embedder or cannot be used."""
    if view.dense is None:
        raise ToolError("stale", "the index uses no vectors now")
    view.dense.put(question.embedder, question.keys, unpack_vectors(question.vectors, len(question.keys)))
    view.dense.give_up(question.without)
    return Found(())


def candidates(view: View, terms: Terms) -> list[Hit]:
    """The best chunks by BM25, from files and open documents. The scores of both are comparable."""
    found = view.text.search(candidates_query(view.text, terms), CANDIDATES + 10 * len(view.overlay))
    hits = [*view.hits((hit.file, hit.chunk, hit.score) for hit in found)][:CANDIDATES]
    if view.overlay:
        weights = _weights(view, terms)
        for path, file in view.overlay.items():
            for chunk, scored in zip(file.parsed.chunks, file.chunks, strict=True):
                if (score := weights.score(scored)) > 0:
                    hits.append(Hit(Path(path), chunk.start_line, chunk.end_line, chunk.symbol, score))
    return hits


def _weights(view: View, terms: Terms) -> Weights:
    weights: dict[str, dict[str, float]] = {field: {} for field in (*BOOSTS, "defines")}
    for field, word, boost in boosts_of(terms):
        weights[field][word] = boost * rarity(view.text, field, word)
    defines = weights.pop("defines")
    return Weights(weights, defines, usual_lengths(view.totals))


def definitions_of(view: View, question: DefinitionsOf) -> Found[FoundDefinition]:
    parts = [part for part in SEPARATORS.split(question.name) if part]
    if not parts:
        return Found(())

    def is_meant(definition: Definition) -> bool:
        return definition.name == parts[-1] and (
            len(parts) == 1 or definition.qualified_name.split(".")[-len(parts) :] == parts
        )

    if question.path is not None:
        found = [item for item in _in_file(view, str(question.path)) if is_meant(item.definition)]
        return _cut(found, MOST_DEFINITIONS)
    files = view.text.files_with("defines", parts[-1])
    return _cut(_definitions(view, files, is_meant, parts[-1]), MOST_DEFINITIONS)


def symbols_in(view: View, question: SymbolsIn) -> Found[FoundDefinition]:
    found = sorted(_in_file(view, str(question.path)), key=lambda item: _place(item.definition))
    return _cut(found, MOST_SYMBOLS)


def symbols_like(view: View, question: SymbolsLike) -> Found[FoundDefinition]:
    """Exact matches first, then names that begin with the query, then names with all its words. Shorter ones first."""
    query = question.query.strip().lower()
    words = words_of(question.query)
    if not query:
        return Found(())

    def likeness(definition: Definition) -> int:
        name = definition.name.lower()
        if name == query:
            return 0
        if name.startswith(query):
            return 1
        return 2 if words and set(words) <= {*words_of(definition.name)} else 3

    found: dict[tuple[Path, Definition], FoundDefinition] = {}

    def take(files: list[int]) -> None:
        for item in _definitions(view, files, lambda definition: likeness(definition) < 3):
            found[item.path, item.definition] = item

    def is_enough() -> bool:
        """Whether the remaining files can only add longer names, or names that contain the words."""
        return sum(likeness(item.definition) < 2 for item in found.values()) > question.limit

    names = sorted(view.text.names_with_prefix(query, PREFIX_NAMES), key=len)
    files = [file for name in names for file in view.text.files_with("lower", name)] + view.text.files_with_words(words)
    files = [*dict.fromkeys(files)]
    read = 0
    while read == 0 or (read < min(len(files), MOST_LIKE_FILES) and not is_enough()):
        take(files[read : read + LIKE_FILES])
        read += LIKE_FILES
    ranked = sorted(
        found.values(), key=lambda item: (likeness(item.definition), len(item.definition.name), *_key(item))
    )
    is_all = len(ranked) <= question.limit and read >= len(files)
    return Found(ranked[: question.limit], complete=is_all)


def _key(item: FoundDefinition) -> tuple[str, int, int]:
    return str(item.path), *_place(item.definition)


def references_to(view: View, question: ReferencesTo) -> Found[FoundReference]:
    parts = [part for part in SEPARATORS.split(question.name) if part]
    if not parts:
        return Found(())
    name = parts[-1]
    rows = {row.path: row for row in view.rows(view.text.files_with("uses", name))}
    found: list[FoundReference] = []
    for path in sorted({*rows, *view.overlay}):
        references = view.overlay[path].parsed.references if path in view.overlay else view.references(rows[path], name)
        places = sorted((use for use in references if use.name == name), key=lambda use: (use.line, use.column))
        found += (FoundReference(Path(path), use) for use in places)
        if len(found) > question.limit:
            break
    return _cut(found, question.limit)


ANSWERS: Mapping[type[Question[Any]], Answer] = {
    Search: search,
    Unembedded: unembedded,
    KeepVectors: keep_vectors,
    DefinitionsOf: definitions_of,
    SymbolsIn: symbols_in,
    SymbolsLike: symbols_like,
    ReferencesTo: references_to,
    Central: central,
    Callers: callers,
    Callees: callees,
}


def _definitions(
    view: View, files: list[int], is_meant: Callable[[Definition], bool], name: str | None = None
) -> Iterator[FoundDefinition]:
    """Definitions in these files and in open documents, by path and line. `name`: of all definitions that are meant."""
    rows = {row.path: row for row in view.rows(files)}
    for path in sorted({*rows, *view.overlay}):
        found = view.overlay[path].parsed.definitions if path in view.overlay else view.definitions(rows[path], name)
        for definition in sorted(filter(is_meant, found), key=_place):
            yield FoundDefinition(Path(path), definition)


def _in_file(view: View, path: str) -> list[FoundDefinition]:
    if path in view.overlay:
        found = view.overlay[path].parsed.definitions
    else:
        row = view.store.file(path)
        rows = view.store.files([row.id]) if row is not None else {}
        found = view.definitions(rows[row.id]) if row is not None and row.id in rows else ()
    return [FoundDefinition(Path(path), definition) for definition in found]


def _place(definition: Definition) -> tuple[int, int]:
    return definition.start_line, definition.name_column


def _cut(found: Iterable[Any], limit: int) -> Found[Any]:
    items: list[Any] = []
    for item in found:
        if len(items) == limit:
            return Found(items, complete=False)
        items.append(item)
    return Found(items)
