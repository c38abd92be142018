"""Draws one hunk of a proposed edit as a coloured unified diff."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from tark_lsp.cli.visible import visible
from tark_lsp.workspace.lines import split_lines

CONTEXT_LINES = 3


def draw_hunk(hunk: Mapping[str, Any], lines: Sequence[str]) -> Text:
    """`hunk` is as in the update `hunks` (protocol.md), not applied yet. `lines`: the document's, empty if unknown."""
    first = hunk["range"]["start"]["line"]
    old, new = split_lines(hunk["oldText"]), split_lines(hunk["newText"])
    before = list(lines[max(0, first - CONTEXT_LINES) : first])
    after = list(lines[first + len(old) : first + len(old) + CONTEXT_LINES])
    start, around = first + 1 - len(before), len(before) + len(after)
    drawn = Text()
    drawn.append(f"@@ -{start},{around + len(old)} +{start},{around + len(new)} @@\n", style="cyan")
    for sign, style, part in ((" ", "dim", before), ("-", "red", old), ("+", "green", new), (" ", "dim", after)):
        for line in part:
            drawn.append(f"{sign}{visible(line.rstrip(chr(13) + chr(10)))}\n", style=style)
            if not line.endswith(("\n", "\r")):
                drawn.append("\\ no newline at the end\n", style="dim")
    return drawn
