"""What can be asked of the index: one frozen value for each question, which names the type of its answer's items.

All paths are absolute. Answers hold no text of files: read the lines of a hit where you read every other file, so that
rules, masks and unsaved changes count. Files that the model must not see are in no answer.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from tark_lsp.index.model import ChunkPlace, FoundDefinition, FoundReference, Hit

T = TypeVar("T")


class Question(Generic[T]):
    """The base of all questions; `T` is the type of the items of the answer."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Search(Question[Hit]):
    """The chunks that match the words of `query`, the best first: a question, names, or both."""

    query: str
    limit: int
    vector: str = ""
    """The vector of the query (packed_vectors.py), if the server has an embedder."""
    nearest: tuple[tuple[int, float], ...] = ()
    """Keys of chunks whose vectors are nearest to it, with their similarity, if they are kept somewhere else."""
    local: bool = False
    """Nothing outside of the machine is asked for a vector: for searches that nobody waits for."""


@dataclass(frozen=True, slots=True)
class Unembedded(Question[ChunkPlace]):
    """Chunks without a vector of the embedder in use, in the order of their keys."""

    limit: int
    after: int = 0
    """Only those with a higher key: for vectors that are kept somewhere else, which the index does not know."""


@dataclass(frozen=True, slots=True)
class KeepVectors(Question[ChunkPlace]):
    """Vectors for some keys, packed one after another (packed_vectors.py). The answer has no items.

    `without`: keys that get no vector, until the index changes.
    """

    embedder: str
    keys: tuple[int, ...]
    vectors: str
    without: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class DefinitionsOf(Question[FoundDefinition]):
    """Those named `name`: a plain name, or the end of a qualified one (`area`, `Shape.area`, `Shape::area`)."""

    name: str
    path: Path | None = None
    """Only those in this file."""


@dataclass(frozen=True, slots=True)
class SymbolsIn(Question[FoundDefinition]):
    """All definitions of a file, in the order of their lines."""

    path: Path


@dataclass(frozen=True, slots=True)
class SymbolsLike(Question[FoundDefinition]):
    """Definitions whose names are like `query`: equal, then those that begin with it, then those with all its words."""

    query: str
    limit: int


@dataclass(frozen=True, slots=True)
class ReferencesTo(Question[FoundReference]):
    """Uses of a name (its last part counts), without its definitions, in the order of paths and lines."""

    name: str
    limit: int


@dataclass(frozen=True, slots=True)
class Callers(Question[FoundDefinition]):
    """Definitions that call this one, by its name and the imports of their files: the likely ones first."""

    definition: FoundDefinition
    limit: int


@dataclass(frozen=True, slots=True)
class Callees(Question[FoundDefinition]):
    """Definitions of the workspace that this one calls, by the same rules."""

    definition: FoundDefinition
    limit: int


@dataclass(frozen=True, slots=True)
class Central(Question[FoundDefinition]):
    """The most central definitions: PageRank over references, personalised by open files and mentioned names."""

    paths: tuple[Path, ...]
    names: tuple[str, ...]
    limit: int
