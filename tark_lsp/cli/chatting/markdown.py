"""Draws one block of a model's Markdown with rich, so that its text can neither steer the terminal nor hide."""

from typing import ClassVar

from markdown_it import MarkdownIt
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import Markdown, MarkdownElement, TableElement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from tark_lsp.cli.visible import visible

LARGEST_DRAWN = 60_000
"""Characters of a block that is drawn as Markdown; parsing and colouring more would make the keyboard wait."""
NARROWEST = 24
"""Columns; in fewer, lists and tables would lose words."""
CODE_THEME = "ansi_dark"
"""The terminal's own 16 colours, and no background."""


def draw_block(text: str) -> RenderableType:
    return _Markdown(text) if len(text) <= LARGEST_DRAWN else Text(visible(text))


class _Table(TableElement):
    """Of a word too long for its column all is shown, on more lines."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in super().__rich_console__(console, options):
            for column in table.columns if isinstance(table, Table) else ():
                column.overflow = "fold"
            yield table


class _Markdown(Markdown):
    """Without what would not be seen: HTML, images, references and entities stay as they were written; the address of
    a link is shown beside its words, and is no hyperlink, which could say one address and be another."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {**Markdown.elements, "table_open": _Table}

    def __init__(self, text: str) -> None:
        super().__init__("", hyperlinks=False, code_theme=CODE_THEME)
        parser = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
        self.parsed = parser.disable(["image", "reference", "entity"]).parse(visible(text))
        self._text = visible(text)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width < NARROWEST:
            yield Text(self._text)
            return
        for segment in super().__rich_console__(console, options):
            # Markdown itself can make characters: the words of <http://a/%1b> hold a real escape.
            if isinstance(segment, Segment):
                yield Segment(visible(segment.text), segment.style)
