"""Measures tool calls by the events of their turn: how long each took, how it ended, and whether it is a retry."""

import json
from dataclasses import dataclass

from tark_lsp.agent.events import CallChanged, CallStatus

UNKNOWN_TOOL = "unknown_tool"
OTHER = "_OTHER"
"""OpenTelemetry's value for unknown names: a tool name that a model made up, or a failure without a code."""


@dataclass(frozen=True, slots=True)
class CallFigures:
    """The figures of one call.

    seconds  from the start to the end, without waiting for the user; None if the call never ran
    waited   seconds of waiting for the user
    code     the error code, if the call failed or was rejected
    retry    whether the previous call of the same tool in the turn failed
    """

    tool: str
    status: CallStatus
    code: str = ""
    seconds: float | None = None
    waited: float = 0.0
    retry: bool = False


@dataclass(slots=True)
class _Call:
    retry: bool
    began: float | None = None
    waiting_since: float | None = None
    waited: float = 0.0


class CallMeter:
    """The calls of one turn. Times are in seconds, by any monotonic clock."""

    def __init__(self) -> None:
        self._calls: dict[str, _Call] = {}
        self._names: dict[str, str] = {}
        self._failed: dict[str, bool] = {}
        """By tool: whether the last call that ended failed."""

    def event(self, at: float, event: CallChanged) -> CallFigures | None:
        """The figures of the call, if this is its end."""
        name = self._names[event.call_id] = event.name or self._names.get(event.call_id, OTHER)
        call = self._calls.setdefault(event.call_id, _Call(self._failed.get(name, False)))
        if call.waiting_since is not None:
            call.waited += at - call.waiting_since
            call.waiting_since = None
        if event.status is CallStatus.WAITING:
            call.waiting_since = at
        if event.status in (CallStatus.WAITING, CallStatus.IN_PROGRESS) and call.began is None:
            call.began = at
        return self._end(at, event.call_id, event.status, event.text) if event.status.over else None

    def end(self, at: float) -> list[CallFigures]:
        """The figures of the calls that did not end before their turn did: they count as cancelled."""
        return [self._end(at, call_id, CallStatus.CANCELLED, None) for call_id in list(self._calls)]

    def _end(self, at: float, call_id: str, status: CallStatus, text: str | None) -> CallFigures:
        call, name = self._calls.pop(call_id), self._names.pop(call_id)
        code = failure_code(text) if status in (CallStatus.FAILED, CallStatus.REJECTED) else ""
        if call.waiting_since is not None:
            call.waited += at - call.waiting_since
        ran = call.began is not None and status is not CallStatus.REJECTED
        seconds = at - call.began - call.waited if ran and call.began is not None else None
        self._failed[name] = status is CallStatus.FAILED
        tool = OTHER if code == UNKNOWN_TOOL else name
        return CallFigures(tool, status, code, seconds, call.waited, call.retry)


def failure_code(text: str | None) -> str:
    """The error code in the result of a failed call, which is a line of JSON for the model (tools.md)."""
    try:
        return str(json.loads(text or "")["error"]["code"])
    except (ValueError, KeyError, TypeError):
        return OTHER
