"""Draws one hunk of a proposed edit as a unified diff, with coloured code and marked words."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

from rich.style import Style
from rich.text import Text

from tark_lsp.cli.changed_words import Columns, changed_words
from tark_lsp.cli.code_colours import PLAIN, Span, colour_lines
from tark_lsp.cli.visible import visible
from tark_lsp.workspace.lines import split_lines

CONTEXT_LINES = 3


class Look(NamedTuple):
    """The styles of lines with this `sign`. In a terminal without colours, changed words are still bold."""

    sign: str
    line: Style
    sign_style: Style
    word: Style


# The backgrounds are from the 256 colours of nearly all terminals. They look the same in light and dark themes.
REMOVED = Look(
    "-",
    PLAIN + Style(bgcolor="color(52)"),
    Style(color="color(217)", bgcolor="color(52)", bold=True),
    Style(bgcolor="color(88)", bold=True),
)
ADDED = Look(
    "+",
    PLAIN + Style(bgcolor="color(22)"),
    Style(color="color(157)", bgcolor="color(22)", bold=True),
    Style(bgcolor="color(28)", bold=True),
)


def draw_hunk(hunk: Mapping[str, Any], lines: Sequence[str], name: str = "") -> Text:
    """`hunk` is as in the update `hunks` (protocol.md), not applied yet. `lines`: the lines of the document; empty if
    unknown. `name`: the name of the file, which determines the language.
    """
    first = hunk["range"]["start"]["line"]
    old, new = split_lines(hunk["oldText"]), split_lines(hunk["newText"])
    before = list(lines[max(0, first - CONTEXT_LINES) : first])
    after = list(lines[first + len(old) : first + len(old) + CONTEXT_LINES])
    start, around = first + 1 - len(before), len(before) + len(after)
    drawn = Text()
    drawn.append(f"@@ -{start},{around + len(old)} +{start},{around + len(new)} @@\n", style="cyan")
    _draw_context(drawn, before)
    in_old, in_new = changed_words(_shown(old), _shown(new))
    _draw_changed(drawn, REMOVED, old, in_old, _coloured(before, old, after, name))
    _draw_changed(drawn, ADDED, new, in_new, _coloured(before, new, after, name))
    _draw_context(drawn, after)
    return drawn


def _shown(lines: Sequence[str]) -> list[str]:
    return [visible(line.rstrip("\r\n")) for line in lines]


def _coloured(before: Sequence[str], part: Sequence[str], after: Sequence[str], name: str) -> list[list[Span]]:
    """The colours of `part`. The lines before and after it matter, because they can begin a comment or a string."""
    spans = colour_lines(_shown([*before, *part, *after]), PurePath(name).name)
    return spans[len(before) : len(before) + len(part)]


def _draw_context(drawn: Text, lines: Sequence[str]) -> None:
    for line, shown in zip(lines, _shown(lines), strict=True):
        drawn.append(f" {shown}\n", style="dim")
        _draw_end(drawn, line)


def _draw_changed(
    drawn: Text, look: Look, lines: Sequence[str], words: Sequence[Columns], colours: Sequence[Sequence[Span]]
) -> None:
    for line, shown, marked, coloured in zip(lines, _shown(lines), words, colours, strict=True):
        text = Text(look.sign + shown, style=look.line)
        text.stylize(look.sign_style, 0, 1)
        for start, end, style in coloured:
            text.stylize(style, start + 1, end + 1)
        for start, end in marked:
            text.stylize(look.word, start + 1, end + 1)
        drawn.append_text(text).append("\n")
        _draw_end(drawn, line)


def _draw_end(drawn: Text, line: str) -> None:
    if not line.endswith(("\n", "\r")):
        drawn.append("\\ no newline at the end\n", style="dim")
