"""What tools can ask the language servers of the user's editor, and what these answer: frozen values.

Lines count from 1 and ends are included, as in tool results. Columns count from 0, in code points.
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
    """About the symbol at a place of a file, about all symbols of a file, or (without `path`) about those of the
    workspace that are like `query`."""

    want: Want
    path: Path | None = None
    line: int = 1
    column: int = 0
    query: str = ""


@dataclass(frozen=True, slots=True)
class CodePlace:
    """`name_line` is where the name stands. `kind` is in our words (`function`), or empty. `container` is the name of
    what is around the symbol, joined with dots, or empty. `calls`: the lines of the calls, in a call hierarchy."""

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
    """`places` are the definitions, references or symbols; of a call hierarchy the callers. `outgoing` are the
    definitions that are called. `text` is a hover, in Markdown."""

    places: tuple[CodePlace, ...] = ()
    outgoing: tuple[CodePlace, ...] = ()
    text: str = ""
