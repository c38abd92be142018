"""Tool calls: one row of figures each, and sums by tool. They have no text, and are kept when sessions are deleted."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from tark_lsp.agent.call_figures import CallFigures
from tark_lsp.agent.events import CallStatus
from tark_lsp.sessions.usage import Read

if TYPE_CHECKING:
    from sqlite3 import Connection

EXISTS = "SELECT 1 FROM sqlite_master WHERE name = 'tool_calls'"
ADD = (
    "INSERT INTO tool_calls (session, turn, tool, time, seconds, waited, status, code, retry)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
COLUMNS = "tool, status, code, seconds, waited, retry"
WHERE = "FROM tool_calls WHERE time >= ? AND (? IS NULL OR session = ?)"
TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class ToolSum:
    """The calls of one tool.

    - `errors`: calls that failed; `timeouts`: failed calls that took too long.
    - `rejected`: calls that the user or a rule refused.
    - `retries`: calls of a tool whose last call in the turn had failed.
    - `p50`, `p95`: the seconds that 50 or 95 of 100 calls took at most (nearest rank); None if none ran to its end.
    - `seconds`: the sum of these times; `waited`: the sum of the times of waiting for the user.
    """

    tool: str
    calls: int = 0
    errors: int = 0
    timeouts: int = 0
    rejected: int = 0
    cancelled: int = 0
    retries: int = 0
    p50: float | None = None
    p95: float | None = None
    seconds: float = 0.0
    waited: float = 0.0


@dataclass(frozen=True, slots=True)
class FailedCall:
    """`time`: when it ended, in seconds since 1970."""

    time: float
    turn_id: str
    tool: str
    code: str
    seconds: float | None


def add_tool_calls(
    connection: "Connection", session_id: str, turn_id: str, time: float, calls: Sequence[CallFigures]
) -> None:
    """`time`: when they ended, in seconds since 1970."""
    for call in calls:
        figures = (call.seconds, call.waited, call.status.value, call.code, call.retry)
        connection.execute(ADD, (session_id, turn_id, call.tool, time, *figures))


def tool_sums(read: Read, since: float = 0.0, session_id: str | None = None) -> list[ToolSum]:
    """The sums by tool, most calls first, then the total as `total`. Empty if there are no calls."""
    calls = [_figures(*row) for row in _rows(read, COLUMNS, since, session_id)]
    by_tool: dict[str, list[CallFigures]] = defaultdict(list)
    for call in calls:
        by_tool[call.tool].append(call)
    sums = [_sum(tool, own) for tool, own in by_tool.items()]
    sums.sort(key=lambda one: (-one.calls, one.tool))
    return [*sums, _sum("total", calls)] if calls else []


def failed_calls(read: Read, since: float = 0.0, session_id: str | None = None) -> list[FailedCall]:
    """The failed calls, in the order in which they ended."""
    columns = "time, turn, tool, code, seconds"
    rows = _rows(read, columns, since, session_id, f"AND status = '{CallStatus.FAILED}' ORDER BY time, rowid")
    return [FailedCall(*row) for row in rows]


def tool_json(one: ToolSum | FailedCall) -> dict[str, Any]:
    """The JSON of `tark-lsp usage --tools --json`."""
    values = {field.name: getattr(one, field.name) for field in fields(one)}
    words = {name: name.split("_") for name in values}
    return {
        words[name][0] + "".join(word.title() for word in words[name][1:]): round(value, 3)
        if isinstance(value, float)
        else value
        for name, value in values.items()
    }


def percentile(ordered: Sequence[float], share: float) -> float | None:
    """The smallest value that at least this share of the values does not exceed; None if there are no values."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None


def _rows(read: Read, columns: str, since: float, session_id: str | None, more: str = "") -> list[Any]:
    if not read(EXISTS):  # no server of this version has used the file
        return []
    return read(f"SELECT {columns} {WHERE} {more}", since, session_id, session_id)


def _figures(tool: str, status: str, code: str, seconds: float | None, waited: float, retry: int) -> CallFigures:
    return CallFigures(tool, CallStatus(status), code, seconds, waited, bool(retry))


def _sum(tool: str, calls: Iterable[CallFigures]) -> ToolSum:
    calls = list(calls)
    ended = (CallStatus.COMPLETED, CallStatus.FAILED)
    took = sorted(call.seconds for call in calls if call.seconds is not None and call.status in ended)
    failed = [call for call in calls if call.status is CallStatus.FAILED]
    return ToolSum(
        tool,
        len(calls),
        len(failed),
        sum(call.code == TIMEOUT for call in failed),
        sum(call.status is CallStatus.REJECTED for call in calls),
        sum(call.status is CallStatus.CANCELLED for call in calls),
        sum(call.retry for call in calls),
        percentile(took, 0.5),
        percentile(took, 0.95),
        sum(took),
        sum(call.waited for call in calls),
    )
