"""Colours the code in a diff. The colours are for a dark background, which the changed lines of a diff have."""

from collections.abc import Sequence

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_for_filename
from pygments.util import ClassNotFound
from rich.style import Style
from rich.syntax import PygmentsSyntaxTheme

MAX_COLOURED = 60_000
"""Characters. To colour more would block the keyboard for too long."""
PLAIN, COMMENT = Style(color="#e6edf3"), Style(color="#c9d1d9", italic=True)
COMMENT_TOKENS = "Token.Comment"
_THEME = PygmentsSyntaxTheme("github-dark")

Span = tuple[int, int, Style]
"""The first column, the column after the last one, and the style."""


def colour_lines(lines: Sequence[str], name: str) -> list[list[Span]]:
    """The coloured parts of each line. The lines have no newline. `name`: of the file; its suffix determines the
    language."""
    text = "\n".join(lines)
    lexer = _lexer(name) if len(text) <= MAX_COLOURED else None
    if lexer is None:
        return [[] for _ in lines]
    spans: list[list[Span]] = [[]]
    column = 0
    for token, value in lexer.get_tokens(text):
        style = (
            COMMENT
            if str(token).startswith(COMMENT_TOKENS)
            else Style(color=_THEME.get_style_for_token(token).color or PLAIN.color)
        )
        for number, piece in enumerate(value.split("\n")):
            if number:
                spans.append([])
                column = 0
            if piece:
                spans[-1].append((column, column + len(piece), style))
                column += len(piece)
    # A lexer that changes the text would colour the wrong columns.
    return spans if [_length(row) for row in spans] == [len(line) for line in lines] else [[] for _ in lines]


def _length(row: Sequence[Span]) -> int:
    return row[-1][1] if row else 0


def _lexer(name: str) -> Lexer | None:
    try:
        return get_lexer_for_filename(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
