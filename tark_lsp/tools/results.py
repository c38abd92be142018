"""What every tool's result has in common: the cap with its statement, the failure line, and text made fit to show."""

import json
import re
from collections.abc import Sequence

from tark_lsp.context.result_handles import LONGEST_KEPT, how_to_read, lines_of
from tark_lsp.errors import FailureForModel
from tark_lsp.tools.tool import ToolContext

CHARACTERS_PER_TOKEN = 4
"""A rule of thumb for code; the cap is meant to bound, not to count."""

TERMINAL_ESCAPE = re.compile(
    r"""
    \x1b \[ [0-?]* [ -/]* [@-~]                # CSI: colours, cursor (ECMA-48, 5.4)
    | \x1b [\]PX^_] .*? (?: \x07 | \x1b\\ | $)   # OSC, DCS, SOS, PM, APC up to their terminator
    | \x1b [ -/]* [0-~]                        # two-character escapes
    | [\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f]  # what control characters are left, C1 too
    """,
    re.VERBOSE | re.MULTILINE,
)


def character_limit(result_tokens: int) -> int:
    return max(1, result_tokens) * CHARACTERS_PER_TOKEN


def failure_line(error: FailureForModel) -> str:
    """The one line of JSON of tools.md ("Failures")."""
    body = {"code": error.code, "message": error.message, "retry_hint": error.hint, **error.details}
    return json.dumps({"ok": False, "error": body}, ensure_ascii=False, default=str)


def capped(ctx: ToolContext, lines: Sequence[str], rest: str = "", *, limit: int | None = None) -> str:
    """As many of the lines as fit into `limit` characters; where some are left out, all are kept to be read on.

    Without `limit` as many as one result may have. `rest` says how else to get at them, where there is a better way.
    A line may hold several, as a snippet does.
    """
    limit = limit or character_limit(ctx.result_tokens)
    kept = fitting(lines, limit)
    if len(kept) == len(lines):
        return "\n".join(kept)
    whole = "\n".join(lines)[:LONGEST_KEPT]
    numbered = lines_of(whole)
    told = "\n".join(kept or fitting(numbered, limit) or [f"{numbered[0][:limit]} [cut]"])
    start = len(lines_of(told)) + 1 if kept else len(fitting(numbered, limit)) + 1
    on = f"read on with {how_to_read(ctx.results.keep(whole), start)}"
    left_out = counted(max(1, len(numbered) + 1 - start), "more line")
    return f"{told}\n[{left_out} left out; {f'{rest}, or ' if rest else ''}{on}]"


def cap_lines(lines: Sequence[str], limit: int, rest: str) -> str:
    """Whole lines, joined, as many as fit into `limit` characters; a first line that does not fit is cut.

    Where something was left out, a last line says how much, and `rest` says how to get it.
    """
    kept = fitting(lines, limit)
    if len(kept) == len(lines):
        return "\n".join(kept)
    if not kept:
        kept = [f"{lines[0][:limit]} [cut]"]
    return "\n".join([*kept, f"[{counted(len(lines) - len(kept), 'more line')} left out; {rest}]"])


def fitting(lines: Sequence[str], limit: int) -> list[str]:
    """The first of the lines, as many as take no more than `limit` characters with their line endings."""
    used = 0
    for index, line in enumerate(lines):
        used += len(line) + 1
        if used > limit:
            return list(lines[:index])
    return list(lines)


def plain_text(text: str) -> str:
    """Without terminal escapes and control characters; of a line that was drawn over with CR only its last state."""
    text = TERMINAL_ESCAPE.sub("", text).replace("\r\n", "\n")
    return "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n"))


def counted(number: int, noun: str) -> str:
    """`1 line`, `2 lines`, `12,345 lines`."""
    if number == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{number:,} {plural}"
