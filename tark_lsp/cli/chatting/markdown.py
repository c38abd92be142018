"""Draws one block of a model's Markdown with rich. The text can neither control the terminal nor hide anything."""

from typing import ClassVar

from markdown_it import MarkdownIt
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import Markdown, MarkdownElement, TableElement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from tark_lsp.cli.visible import visible

MAX_DRAWN = 60_000
"""Characters. A longer block is not drawn as Markdown: parsing and colouring it would delay the keyboard."""
MIN_COLUMNS = 24
"""Columns. With fewer, lists and tables would lose words."""
CODE_THEME = "ansi_dark"
"""The terminal's own 16 colours, without a background."""


def draw_block(text: str) -> RenderableType:
    return _Markdown(text) if len(text) <= MAX_DRAWN else Text(visible(text))


class _Table(TableElement):
    """A word that is too long for its column continues on the next line."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in super().__rich_console__(console, options):
            for column in table.columns if isinstance(table, Table) else ():
                column.overflow = "fold"
            yield table


class _Markdown(Markdown):
    """Hides nothing: HTML, images, references and entities stay as written. The address of a link is shown beside its
    text and is not a hyperlink, which could show one address and open another.
    """

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {**Markdown.elements, "table_open": _Table}

    def __init__(self, text: str) -> None:
        super().__init__("", hyperlinks=False, code_theme=CODE_THEME)
        parser = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
        self.parsed = parser.disable(["image", "reference", "entity"]).parse(visible(text))
        self._text = visible(text)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width < MIN_COLUMNS:
            yield Text(self._text)
            return
        for segment in super().__rich_console__(console, options):
            # Markdown can create characters: the text of <http://a/%1b> contains a real escape.
            if isinstance(segment, Segment):
                yield Segment(visible(segment.text), segment.style)
