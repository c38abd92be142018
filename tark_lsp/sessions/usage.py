"""What requests to models used and cost: a row for each, and sums of them. No words are in it, so it outlives sessions.

Where no price is known a request has no cost; a sum says how many such it holds, and never counts them as free.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tark_lsp.messages import Usage
from tark_lsp.sessions.rows import UsageRow

if TYPE_CHECKING:
    from sqlite3 import Connection

Read: TypeAlias = Callable[..., list[Any]]
"""`read(sql, *values)` -> rows."""
By: TypeAlias = Literal["model", "day", "session", "turn"]

ADD = (
    "INSERT INTO usage (session, turn, model, purpose, time, seconds, stop, input_tokens, cached_tokens,"
    " cache_write_tokens, output_tokens, reasoning_tokens, cost_usd, workspace)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
SUMS = (
    "count(*), sum(cost_usd IS NULL), sum(seconds), sum(input_tokens), sum(cached_tokens), sum(cache_write_tokens),"
    " sum(output_tokens), sum(reasoning_tokens), sum(cost_usd), min(time), max(time)"
)
NAMED = "SELECT session, '' FROM usage UNION ALL SELECT id, title FROM sessions"
"""Those that are there after those that were: of what was deleted the usage stays."""
WHERE = "FROM usage WHERE time >= ? AND (? IS NULL OR session = ?)"
KEYS: Mapping[By, str] = {
    "model": "model",
    "day": "strftime('%Y-%m-%d', time, 'unixepoch', 'localtime')",
    "session": "session",
    "turn": "turn",
}
"""Days are those of the person: by this machine's time zone as it was then, summer time included."""
ORDER: Mapping[By, str] = {"model": "coalesce(sum(cost_usd), 0) DESC, count(*) DESC, model"}
"""The dearest first; all else in the order of time."""


@dataclass(frozen=True, slots=True)
class UsageSum:
    """Of the requests that share `key`: a model's name, a day (YYYY-MM-DD), the id of a session or turn.

    `usage.cost_usd` is of those with a known price, None where there is none; `unpriced` counts the others. `seconds`
    are those of the requests, `first` and `last` when they were over, in seconds since 1970.
    """

    key: str
    requests: int = 0
    unpriced: int = 0
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)
    first: float = 0.0
    last: float = 0.0


def add(connection: "Connection", row: UsageRow) -> None:
    usage = row.usage
    tokens = (usage.input_tokens, usage.cached_tokens, usage.cache_write_tokens, usage.output_tokens)
    about = (row.session_id, row.turn_id, row.model, row.purpose, row.time, row.seconds, row.stop)
    connection.execute(ADD, (*about, *tokens, usage.reasoning_tokens, usage.cost_usd, row.workspace))


def usage_sums(read: Read, by: By, since: float = 0.0, session_id: str | None = None) -> list[UsageSum]:
    """Of the requests that were over at `since` (seconds since 1970) or later; of one session, or of all."""
    sql = f"SELECT {KEYS[by]} AS part, {SUMS} {WHERE} GROUP BY part ORDER BY {ORDER.get(by, 'min(time)')}"
    return [_sum(*row) for row in read(sql, since, session_id, session_id)]


def usage_total(read: Read, since: float = 0.0, session_id: str | None = None) -> UsageSum:
    ((count, *sums),) = read(f"SELECT {SUMS} {WHERE}", since, session_id, session_id)
    return _sum("total", count, *sums) if count else UsageSum("total")


def usage_titles(read: Read) -> dict[str, str]:
    """The title of each session that is stored, or was and was paid for: then it is empty."""
    return dict(read(NAMED))


def usage_json(each: UsageSum, by: str = "") -> dict[str, Any]:
    """As `tark.usage` and `tark-lsp usage` give it; `by` names the key, "" for a total."""
    usage = each.usage
    return {
        **({by: each.key} if by else {}),
        "requests": each.requests,
        "inputTokens": usage.input_tokens,
        "cachedTokens": usage.cached_tokens,
        "cacheWriteTokens": usage.cache_write_tokens,
        "outputTokens": usage.output_tokens,
        "reasoningTokens": usage.reasoning_tokens,
        "costUsd": usage.cost_usd,
        "unpricedRequests": each.unpriced,
        "seconds": round(each.seconds, 3),
    }


def usage_cells(each: UsageSum) -> tuple[str, ...]:
    """As a row of a table for people: requests, input, cached, output, reasoning, cost, time."""
    usage = each.usage
    counts = (each.requests, usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.reasoning_tokens)
    return (*(f"{count:,}" for count in counts), cost_text(usage.cost_usd, each.unpriced), f"{each.seconds:,.1f} s")


def cost_text(cost: float | None, unpriced: int = 0) -> str:
    """Dollars as people read them, everywhere; `unpriced`: how many requests had no known price. Empty: none was made,
    or nobody said."""
    known = "" if cost is None else f"${cost:.4f}"
    if not unpriced:
        return known
    return f"{known} + {unpriced} unknown" if known else "unknown"


def since_time(text: str, now: float) -> float:
    """`7d` is that many days before `now`; else ISO 8601, by the person's clock where it names no zone.

    Seconds since 1970. Raises ValueError.
    """
    if (days := re.fullmatch(r"(\d{1,5})d", text.strip())) is not None:
        return now - int(days[1]) * 86_400
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError, OSError) as error:  # the last two: a year that no clock here has
        raise ValueError(f"{text!r} is neither a date (2026-11-22) nor a number of days (7d)") from error


def _sum(
    key: str,
    requests: int,
    unpriced: int,
    seconds: float,
    input_tokens: int,
    cached: int,
    written: int,
    output_tokens: int,
    reasoning: int,
    cost: float | None,
    first: float,
    last: float,
) -> UsageSum:
    usage = Usage(input_tokens, cached, written, output_tokens, reasoning, cost)
    return UsageSum(key, requests, unpriced, seconds, usage, first, last)
