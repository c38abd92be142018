"""Shared by the results of all tools: the length limit with its note, the failure line, and plain text."""

import json
import re
from collections.abc import Sequence

from tark_lsp.context.result_handles import LONGEST_KEPT, how_to_read, lines_of
from tark_lsp.errors import FailureForModel
from tark_lsp.tools.tool import Counted, ToolContext

CHARACTERS_PER_TOKEN = 4
"""A rule of thumb for code. The limit does not need to be exact."""

TERMINAL_ESCAPE = re.compile(
    r"""
    \x1b \[ [0-?]* [ -/]* [@-~]                # CSI: colours, cursor (ECMA-48, 5.4)
    | \x1b [\]PX^_] .*? (?: \x07 | \x1b\\ | $)   # OSC, DCS, SOS, PM, APC up to their terminator
    | \x1b [ -/]* [0-~]                        # two-character escapes
    | [\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f]  # the remaining control characters, including C1
    """,
    re.VERBOSE | re.MULTILINE,
)


def character_limit(result_tokens: int) -> int:
    return max(1, result_tokens) * CHARACTERS_PER_TOKEN


def result_text(result: str | Counted) -> str:
    return result if isinstance(result, str) else result.text


def failure_line(error: FailureForModel) -> str:
    """A failure as one line of JSON (tools.md, "Results")."""
    body = {"code": error.code, "message": error.message, "retry_hint": error.hint, **error.details}
    return json.dumps({"ok": False, "error": body}, ensure_ascii=False, default=str)


def cap_result(ctx: ToolContext, lines: Sequence[str], rest: str = "", *, limit: int | None = None) -> str:
    """As many of the lines as fit into `limit` characters. If some are left out, all are stored for `read_file`.

    Without `limit`, the limit of one result applies. `rest`: a better way to get the other lines, if there is one.
    An item of `lines` can have several lines, for example a snippet.
    """
    limit = limit or character_limit(ctx.result_tokens)
    lines = mask_items(ctx, lines)  # before anything is cut, because half a secret is not recognised
    kept = fit_lines(lines, limit)
    if len(kept) == len(lines):
        return "\n".join(kept)
    whole = "\n".join(lines)[:LONGEST_KEPT]
    numbered = lines_of(whole)
    told = "\n".join(kept or fit_lines(numbered, limit) or [f"{numbered[0][:limit]} [cut]"])
    start = len(lines_of(told)) + 1 if kept else len(fit_lines(numbered, limit)) + 1
    on = f"read on with {how_to_read(ctx.results.keep_result(whole), start)}"
    left_out = count_noun(max(1, len(numbered) + 1 - start), "more line")
    return f"{told}\n[{left_out} left out; {f'{rest}, or ' if rest else ''}{on}]"


def mask_items(ctx: ToolContext, items: Sequence[str]) -> Sequence[str]:
    """The items with masked secrets. A secret can extend over several items."""
    whole = "\n".join(items)
    if (masked := ctx.masks.mask_text(whole)) == whole:
        return items
    lines = iter(masked.split("\n"))  # their number is unchanged: each token replaces text of one line
    return ["\n".join(next(lines) for _ in range(item.count("\n") + 1)) for item in items]


def cap_lines(lines: Sequence[str], limit: int, rest: str) -> str:
    """Join as many whole lines as fit into `limit` characters. If the first line does not fit, it is cut.

    If something is left out, a last line says how much. `rest` is appended to it and says how to get the rest.
    """
    kept = fit_lines(lines, limit)
    if len(kept) == len(lines):
        return "\n".join(kept)
    if not kept:
        kept = [f"{lines[0][:limit]} [cut]"]
    return "\n".join([*kept, f"[{count_noun(len(lines) - len(kept), 'more line')} left out; {rest}]"])


def fit_lines(lines: Sequence[str], limit: int) -> list[str]:
    """The first lines that fit into `limit` characters, including their line endings."""
    used = 0
    for index, line in enumerate(lines):
        used += len(line) + 1
        if used > limit:
            return list(lines[:index])
    return list(lines)


def plain_text(text: str) -> str:
    """The text without terminal escapes and control characters. For a line overwritten with CR, only its last state."""
    text = TERMINAL_ESCAPE.sub("", text).replace("\r\n", "\n")
    return "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n"))


def count_noun(number: int, noun: str) -> str:
    """`1 line`, `2 lines`, `12,345 lines`."""
    if number == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{number:,} {plural}"
