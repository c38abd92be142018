"""What the index knows of a file, and what it answers: frozen values without behaviour.

Lines count from 1 and ends are included, as in tool results. Columns count from 0, in code points.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Generic, TypeVar


class SymbolKind(StrEnum):
    MODULE = "module"
    CLASS = "class"
    INTERFACE = "interface"
    ENUM = "enum"
    FUNCTION = "function"
    METHOD = "method"
    CONSTANT = "constant"
    VARIABLE = "variable"
    FIELD = "field"
    TYPE = "type"
    MACRO = "macro"


class ReferenceKind(StrEnum):
    CALL = "call"
    IMPORT = "import"
    USE = "use"


@dataclass(frozen=True, slots=True)
class Definition:
    """One definition in a file. `start_line` is the first line of what belongs to it (decorators, attributes, comments
    directly above are not included), `name_line` and `name_column` are where its name stands.

    `qualified_name` joins the names around it with dots (`Shape.area`), in every language.
    `signature` is its head on one line, without its body, at most 300 characters.
    """

    name: str
    qualified_name: str
    kind: SymbolKind
    start_line: int
    end_line: int
    name_line: int
    name_column: int
    signature: str


@dataclass(frozen=True, slots=True)
class Reference:
    """A name that is used. `inside` is the qualified name of the innermost definition around it, or empty."""

    name: str
    kind: ReferenceKind
    line: int
    column: int
    inside: str


@dataclass(frozen=True, slots=True)
class Import:
    """`module` as the file writes it (`a.b`, `./x`, `std::fmt`); `names` are those that it takes from it."""

    module: str
    names: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive lines of a file that are found together. `symbol` is the qualified name of the definition that they
    are or begin with, or empty."""

    start_line: int
    end_line: int
    symbol: str


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """`language` is a name of the table of languages, or empty if there is no grammar: then there are only chunks."""

    language: str
    definitions: tuple[Definition, ...]
    references: tuple[Reference, ...]
    imports: tuple[Import, ...]
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that matches a query. A higher `score` is better; scores of different queries cannot be compared."""

    path: Path
    start_line: int
    end_line: int
    symbol: str
    score: float


@dataclass(frozen=True, slots=True)
class ChunkPlace:
    """A chunk without a vector. `key` names its text (chunk_text.py): another text at this place has another one."""

    path: Path
    start_line: int
    end_line: int
    symbol: str
    key: int


@dataclass(frozen=True, slots=True)
class FoundDefinition:
    path: Path
    definition: Definition
    rank: float = 0.0
    """How central it is: only answers to `Central` have it."""


@dataclass(frozen=True, slots=True)
class FoundReference:
    path: Path
    reference: Reference


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """An answer of the index. `share` is the part of the files that was indexed when it was made, from 0 to 1.

    `complete` is False if there is more than `items`. `notes` are sentences that the reader of the answer should see.
    """

    items: Sequence[T]
    share: float = 1.0
    complete: bool = True
    notes: tuple[str, ...] = ()
