"""What a model sends, and the places in a text that it could mean; pure."""

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from tark_lsp.workspace.lines import split_lines


class Way(Enum):
    """How the quoted lines match the lines of the text."""

    EXACT = "exactly"
    TRAILING = "but for white space at their ends"
    INDENTED = "but for their common indentation"
    PART = "as a part of lines"
    WIDTH = "but for tabs and spaces, or the width of indentation"
    LOOK_ALIKE = "but for characters that look alike"
    BLANK_LINES = "but for the number of blank lines"


@dataclass(frozen=True)
class Quote:
    """What the model sends: `old` must be found, and `new` must be there instead. Neither is changed by any step."""

    old: str
    new: str

    @cached_property
    def wanted(self) -> list[str]:
        return split_lines(self.old)

    @cached_property
    def fresh(self) -> list[str]:
        return split_lines(self.new)


@dataclass(frozen=True, slots=True)
class Spot:
    """The quote could mean `text[start:end]`. `line` counts from 0. For whole lines, `size` is their number."""

    line: int
    start: int
    end: int
    size: int
    way: Way
    quote: Quote
