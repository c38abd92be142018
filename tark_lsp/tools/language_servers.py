"""Questions of tools to the language servers of the user's editor, and their answers: frozen values.

Lines count from 1 and end lines are inclusive, as in tool results. Columns count from 0, in code points.
"""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Want(StrEnum):
    """The fields of `tark/clientState` (protocol.md, "Client state")."""

    DEFINITION = "definition"
    REFERENCES = "references"
    SYMBOLS = "symbols"
    HOVER = "hover"
    CALL_HIERARCHY = "callHierarchy"


@dataclass(frozen=True, slots=True)
class CodeQuestion:
    """A question about the symbol at a position, about all symbols of a file, or (without `path`) about symbols of the
    workspace with names like `query`."""

    want: Want
    path: Path | None = None
    line: int = 1
    column: int = 0
    query: str = ""


@dataclass(frozen=True, slots=True)
class CodePlace:
    """`name_line`: the line of the name. `kind`: a value of SymbolKind (`function`), or empty. `container`: the names
    around the symbol, joined with dots, or empty. `calls`: in a call hierarchy, the lines of the calls."""

    path: Path
    start_line: int
    end_line: int
    name_line: int
    name: str = ""
    kind: str = ""
    container: str = ""
    calls: tuple[int, ...] = ()

    @property
    def qualified_name(self) -> str:
        return f"{self.container}.{self.name}" if self.container else self.name


@dataclass(frozen=True, slots=True)
class CodeAnswer:
    """`places`: the definitions, references or symbols; in a call hierarchy, the callers. `outgoing`: the definitions
    that are called. `text`: a hover, in Markdown."""

    places: tuple[CodePlace, ...] = ()
    outgoing: tuple[CodePlace, ...] = ()
    text: str = ""
