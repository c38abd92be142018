"""Draws one block of a model's Markdown with rich. The text cannot control the terminal or hide anything."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import Heading, HorizontalRule, ListItem, Markdown, MarkdownElement, TableElement
from rich.measure import Measurement
from rich.rule import Rule
from rich.segment import Segment
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from tark_lsp.cli.visible import visible

MAX_DRAWN = 60_000
"""Characters. A longer block is not drawn as Markdown, because that would block the keyboard for too long."""
MIN_COLUMNS = 24
"""Columns. In a narrower terminal, lists and tables would lose words."""
CODE_THEME = "ansi_dark"
"""The terminal's own 16 colours, without a background."""


MIN_COLUMN = 12
"""The least columns of a table cell with a long text."""
WIDE = 10_000
"""Columns: more than any table needs."""
THEME = Theme(
    {
        "markdown.h1": "bold underline cyan",
        "markdown.h2": "bold cyan",
        "markdown.h3": "bold",
        "markdown.h4": "italic bold",
        "markdown.code": "bold cyan",
        "markdown.block_quote": "italic",
        "markdown.item.bullet": "cyan",
        "markdown.table.border": "dim",
        "markdown.table.header": "bold",
        "markdown.link": "bold blue",
        "markdown.link_url": "underline blue",
    }
)
"""Without backgrounds, because each would be wrong on a light or on a dark terminal."""
CHECKBOXES = {"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "}


def draw_block(text: str) -> RenderableType:
    return _Markdown(text) if len(text) <= MAX_DRAWN else Text(visible(text))


class _Table(TableElement):
    """If cells need several lines, an empty line separates the rows. If even that is too narrow, each row becomes lines
    of `header: cell`.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in super().__rich_console__(console, options):
            if not isinstance(table, Table):
                yield table
                continue
            wide = options.update(width=WIDE)
            cells = [[Measurement.get(console, wide, cell) for cell in column.cells] for column in table.columns]
            headers = [Measurement.get(console, wide, column.header) for column in table.columns]
            columns = [[header, *column] for header, column in zip(headers, cells, strict=True)]
            words = [max(cell.minimum for cell in column) for column in columns]
            texts = [max(cell.maximum for cell in column) for column in columns]
            needed = Measurement.get(console, wide, table).maximum
            widths = column_widths(words, texts, options.max_width - (needed - sum(texts)))
            if widths is None:
                yield from _records(table)
                continue
            table.show_lines = needed > options.max_width
            for column, width in zip(table.columns, widths, strict=True):
                column.width, column.overflow = width, "fold"
            yield table


def column_widths(words: Sequence[int], texts: Sequence[int], room: int) -> list[int] | None:
    """The widths of the columns of a table, as equal as possible. None if the table does not fit.

    No word is cut. A column is at least 12 wide, unless its longest text is shorter, and never wider than its longest
    text. `room`: columns of the terminal.
    """

    def widths(level: int) -> list[int]:
        return [max(word, min(max(level, MIN_COLUMN), text)) for word, text in zip(words, texts, strict=True)]

    if sum(widths(0)) > room:
        return None
    level = max(level for level in range(room + 1) if sum(widths(level)) <= room)
    found = widths(level)
    for at, text in enumerate(texts):
        found[at] += found[at] == level < text and sum(found) < room
    return found


def _records(table: Table) -> Iterator[Text]:
    columns = table.columns
    rows = list(zip(*(column.cells for column in columns), strict=True)) or [("",) * len(columns)]
    for number, row in enumerate(rows):
        if number:
            yield Text()
        for column, cell in zip(columns, row, strict=True):
            # A cell is Text; "" if the model wrote fewer cells, or more cells than headers.
            header, content = (item if isinstance(item, Text) else Text(str(item)) for item in (column.header, cell))
            yield Text.assemble(header, ": ", content)


class _Heading(Heading):
    LEVEL_ALIGN: ClassVar = {}


class _Item(ListItem):
    def render_number(self, console: Console, options: ConsoleOptions, number: int, last_number: int) -> RenderResult:
        """Draws the number with a full stop, as in Markdown."""
        width = len(str(last_number)) + 3
        style = console.get_style("markdown.item.number")
        lines = console.render_lines(self.elements, options.update(width=options.max_width - width), style=self.style)
        for at, line in enumerate(lines):
            yield Segment(" " * width if at else f"{number}. ".rjust(width), style)
            yield from line
            yield Segment.line()


class _Rule(HorizontalRule):
    def __rich_console__(
        self,
        console: Console,
        options: ConsoleOptions,
    ) -> RenderResult:
        yield Rule(style="markdown.hr", characters="─")


class _Markdown(Markdown):
    """Markdown that hides nothing. HTML, images, references and entities stay as written. A link's address is shown
    beside its text. It is not a hyperlink, because that could show one address and open another.
    """

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "hr": _Rule,
        "list_item_open": _Item,
        "table_open": _Table,
    }

    def __init__(self, text: str) -> None:
        super().__init__("", hyperlinks=False, code_theme=CODE_THEME)
        parser = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
        self.parsed = parser.disable(["image", "reference", "entity"]).parse(visible(text))
        self._text = visible(text)
        _draw_checkboxes(self.parsed)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width < MIN_COLUMNS:
            yield Text(self._text)
            return
        with console.use_theme(THEME):
            for segment in super().__rich_console__(console, options):
                # Markdown can create characters: the text of <http://a/%1b> contains a real escape.
                if isinstance(segment, Segment):
                    yield Segment(visible(segment.text), segment.style)


def _draw_checkboxes(tokens: Sequence[Token]) -> None:
    """Replaces `[ ]` and `[x]` at the start of list items by boxes."""
    for item, inline in zip(tokens, tokens[2:], strict=False):
        if item.type == "list_item_open" and inline.children and inline.children[0].type == "text":
            first = inline.children[0]
            first.content = CHECKBOXES.get(first.content[:4], first.content[:4]) + first.content[4:]
