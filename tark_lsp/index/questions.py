"""The questions that the index answers: one frozen class for each, with the type of its answer's items.

All paths are absolute. Answers contain no text of files: read the lines of a hit in the usual way, so that rules, masks
and unsaved changes apply. Answers never contain files that the model must not see.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from tark_lsp.index.model import ChunkPlace, FoundDefinition, FoundReference, Hit

T = TypeVar("T")


class Question(Generic[T]):
    """The base of all questions. `T`: the type of the answer's items."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Search(Question[Hit]):
    """The chunks that match `query`, the best first. The query can be a question, names, or both."""

    query: str
    limit: int
    vector: str = ""
    """The vector of the query (packed_vectors.py), if the server has an embedder."""
    nearest: tuple[tuple[int, float], ...] = ()
    """Keys of the nearest chunks with their similarity, if the vectors are stored outside of the index."""
    local: bool = False
    """Request no vector from outside of this machine: for searches that the user did not ask for."""


@dataclass(frozen=True, slots=True)
class Unembedded(Question[ChunkPlace]):
    """Chunks without a vector of the embedder in use, in the order of their keys."""

    limit: int
    after: int = 0
    """Only chunks with a higher key: needed if the vectors are stored outside of the index, which cannot know them."""


@dataclass(frozen=True, slots=True)
class KeepVectors(Question[ChunkPlace]):
    """Store vectors for these keys, packed in the same order (packed_vectors.py). The answer has no items.

    `without`: keys that get no vector until the index changes.
    """

    embedder: str
    keys: tuple[int, ...]
    vectors: str
    without: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class DefinitionsOf(Question[FoundDefinition]):
    """Definitions named `name`: a plain name, or the end of a qualified one (`area`, `Shape.area`, `Shape::area`)."""

    name: str
    path: Path | None = None
    """Only definitions in this file."""


@dataclass(frozen=True, slots=True)
class SymbolsIn(Question[FoundDefinition]):
    """All definitions of a file, in the order of their lines."""

    path: Path


@dataclass(frozen=True, slots=True)
class SymbolsLike(Question[FoundDefinition]):
    """Definitions with names like `query`: equal ones, then those that begin with it, then those with all its words."""

    query: str
    limit: int


@dataclass(frozen=True, slots=True)
class ReferencesTo(Question[FoundReference]):
    """Uses of a name (only its last part counts), without its definitions, by path and line."""

    name: str
    limit: int


@dataclass(frozen=True, slots=True)
class Callers(Question[FoundDefinition]):
    """Definitions that call this one, found by its name and the imports of their files. The most likely ones first."""

    definition: FoundDefinition
    limit: int


@dataclass(frozen=True, slots=True)
class Callees(Question[FoundDefinition]):
    """Definitions in the workspace that this one calls, by the same rules as for `Callers`."""

    definition: FoundDefinition
    limit: int


@dataclass(frozen=True, slots=True)
class Central(Question[FoundDefinition]):
    """The most central definitions: PageRank over references, personalised by open files and mentioned names."""

    paths: tuple[Path, ...]
    names: tuple[str, ...]
    limit: int
