"""Usage: what requests to models used and cost, one row each, and sums. It has no text, and stays without sessions.

If no price is known, a request has no cost. A sum has the number of such requests, and does not count them as free.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tark_lsp.messages import Usage
from tark_lsp.sessions.rows import UsageRow

if TYPE_CHECKING:
    from tark_lsp.sessions.session_file import SessionFile

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
"""Stored sessions come last, so that their titles win. A deleted session has only usage."""
WHERE = "FROM usage WHERE time >= ? AND (? IS NULL OR session = ?)"
KEYS: Mapping[By, str] = {
    "model": "model",
    "day": "strftime('%Y-%m-%d', time, 'unixepoch', 'localtime')",
    "session": "session",
    "turn": "turn",
}
"""Days are local: in the time zone of this machine at that time, including summer time."""
ORDER: Mapping[By, str] = {"model": "coalesce(sum(cost_usd), 0) DESC, count(*) DESC, model"}
"""Models by cost, the highest first; everything else by time."""


@dataclass(frozen=True, slots=True)
class UsageSum:
    """The sum of the requests with the same `key`: the name of a model, a day (YYYY-MM-DD), the id of a session or
    turn.

    `usage.cost_usd`: the sum over requests with a known price; None if there are none. `unpriced`: the number of other
    requests. `seconds`: how long the requests took. `first`, `last`: when they ended, in seconds since 1970.
    """

    key: str
    requests: int = 0
    unpriced: int = 0
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)
    first: float = 0.0
    last: float = 0.0


def add_usage(file: "SessionFile", row: UsageRow) -> None:
    """Add the usage of one model request, no matter which process holds the session."""
    usage = row.usage
    tokens = (usage.input_tokens, usage.cached_tokens, usage.cache_write_tokens, usage.output_tokens)
    about = (row.session_id, row.turn_id, row.model, row.purpose, row.time, row.seconds, row.stop)
    values = (*about, *tokens, usage.reasoning_tokens, usage.cost_usd, row.workspace)
    file.write(lambda connection: connection.execute(ADD, values))


def usage_sums(read: Read, by: By, since: float = 0.0, session_id: str | None = None) -> list[UsageSum]:
    """The sums of the requests that ended at `since` (seconds since 1970) or later, of one session or of all."""
    sql = f"SELECT {KEYS[by]} AS part, {SUMS} {WHERE} GROUP BY part ORDER BY {ORDER.get(by, 'min(time)')}"
    return [_sum(*row) for row in read(sql, since, session_id, session_id)]


def usage_total(read: Read, since: float = 0.0, session_id: str | None = None) -> UsageSum:
    ((count, *sums),) = read(f"SELECT {SUMS} {WHERE}", since, session_id, session_id)
    return _sum("total", count, *sums) if count else UsageSum("total")


def usage_titles(read: Read) -> dict[str, str]:
    """The title of each session that is stored or has usage; empty if it was deleted."""
    return dict(read(NAMED))


def usage_json(total: UsageSum, by: str = "") -> dict[str, Any]:
    """The JSON of the answers of `tark.usage` and `tark-lsp usage`. `by` names the key; "" for a total."""
    usage = total.usage
    return {
        **({by: total.key} if by else {}),
        "requests": total.requests,
        "inputTokens": usage.input_tokens,
        "cachedTokens": usage.cached_tokens,
        "cacheWriteTokens": usage.cache_write_tokens,
        "outputTokens": usage.output_tokens,
        "reasoningTokens": usage.reasoning_tokens,
        "costUsd": usage.cost_usd,
        "unpricedRequests": total.unpriced,
        "seconds": round(total.seconds, 3),
    }


def usage_cells(total: UsageSum) -> tuple[str, ...]:
    """A row of a displayed table: requests, input, cached, output, reasoning, cost, time."""
    usage = total.usage
    counts = (total.requests, usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.reasoning_tokens)
    return (*(f"{count:,}" for count in counts), cost_text(usage.cost_usd, total.unpriced), f"{total.seconds:,.1f} s")


def cost_text(cost: float | None, unpriced: int = 0) -> str:
    """The cost in dollars for display; empty if there is none. `unpriced`: the number of requests without a price."""
    known = "" if cost is None else f"${cost:.4f}"
    if not unpriced:
        return known
    return f"{known} + {unpriced} unknown" if known else "unknown"


def since_time(text: str, now: float) -> float:
    """Returns seconds since 1970 for `7d` (7 days before `now`) or for ISO 8601 (local time if it has no zone).

    Raises ValueError.
    """
    if (days := re.fullmatch(r"(\d{1,5})d", text.strip())) is not None:
        return now - int(days[1]) * 86_400
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError, OSError) as error:  # the last two: a year that this system does not support
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
