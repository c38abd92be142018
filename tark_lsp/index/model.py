"""The data of the index: what it knows about a file, and its answers. Frozen values without behaviour.

Lines count from 1 and end lines are inclusive, as in tool results. Columns count from 0, in code points.
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
    """One definition in a file. `start_line`: its first line, without decorators, attributes and comments above.

    `name_line`, `name_column`: the position of its name. `qualified_name`: its name and those around it, joined with
    dots (`Shape.area`) in every language. `signature`: its head without the body, on one line, at most 300 characters.
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
    """A use of a name. `inside`: the qualified name of the innermost definition around it, or empty."""

    name: str
    kind: ReferenceKind
    line: int
    column: int
    inside: str


@dataclass(frozen=True, slots=True)
class Import:
    """`module`: as written in the file (`a.b`, `./x`, `std::fmt`). `names`: those that are imported from it."""

    module: str
    names: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive lines of a file that a search finds as one. `symbol`: the qualified name of the definition that they
    belong to, or empty."""

    start_line: int
    end_line: int
    symbol: str


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """`language`: a name in the table of languages. Empty without a grammar; then there are only chunks."""

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
    """A chunk without a vector. `key` identifies its text (chunk_text.py): another text has another key."""

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
    """How central it is; set only in answers to `Central`."""


@dataclass(frozen=True, slots=True)
class FoundReference:
    path: Path
    reference: Reference


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """An answer of the index. `share`: the share of files that were indexed when it was made, from 0 to 1.

    `complete` is False if there are more results than `items`. `notes`: sentences for the reader of the answer.
    """

    items: Sequence[T]
    share: float = 1.0
    complete: bool = True
    notes: tuple[str, ...] = ()
