"""AgentEvent -> `tark/update` and progress: what a client is told of a turn, in the words of the contract."""

from collections.abc import Callable
from typing import Any

from tark_lsp.agent import events
from tark_lsp.agent.state import Turn, TurnEnd
from tark_lsp.messages import StopReason
from tark_lsp.server.asking.visible import cut, visible
from tark_lsp.server.documents.targets import Target
from tark_lsp.server.protocol_json import range_json, usage_json
from tark_lsp.server.review.hunks_json import HunksJson
from tark_lsp.server.turns.spoken import spoken
from tark_lsp.server.turns.turn_record import TurnRecord
from tark_lsp.tools.tool import Location
from tark_lsp.workspace.edits import ProposedEdit


class Telling:
    def __init__(
        self, hunks: HunksJson, notice: Callable[[str, str], None], range_of: Callable[[Target], dict[str, Any]]
    ) -> None:
        """`notice(level, message)`: for people whose client has no `updates`."""
        self._hunks = hunks
        self._notice = notice
        self._range = range_of

    def start(self, record: TurnRecord) -> None:
        fields: dict[str, Any] = {
            "prompt": record.request.prompt,
            "turnKind": record.kind.name,  # the contract's `kind` is taken by the update itself
            "model": record.session.model if record.turn is None else record.turn.model.name,
            "mode": record.session.mode,
        }
        if record.target is not None and not record.target.whole:
            fields["range"] = self._range(record.target)
        record.updates.send("start", **fields)

    def event(self, record: TurnRecord, event: events.AgentEvent) -> None:
        """AgentEvent -> `tark/update` and progress, and to who follows the turn."""
        updates = record.updates
        if record.follower is not None:
            record.follower.event(event)
        match event:
            case events.TextChunk(delta):
                updates.text("text", delta)
            case events.ThinkingChunk(delta):
                updates.text("thinking", delta)
            case events.CallChanged():
                updates.send("toolCall", **self._call(event, record.diffs))
                if event.status is events.CallStatus.PENDING and event.title:
                    record.progress.report(visible(event.title))
            case events.PlanChanged(entries):
                updates.send("plan", entries=[dict(entry) for entry in entries])
            case events.UsageChanged(total, used, window):
                updates.send("usage", **usage_json(total, used, window))
            case events.Notice(level, message):
                updates.send("notice", level=level, message=message)
                if level != "info" and record.follower is None:
                    self._notice(level, message)
            case events.Step(message):
                record.progress.report(visible(message))

    def _call(self, event: events.CallChanged, diffs: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
        """`diffs` are kept until the call is over: its last update says all of it."""
        fields: dict[str, Any] = {"toolCallId": event.call_id, "status": event.status}
        optional = {
            "name": event.name,
            "title": event.title,
            "toolKind": event.kind,
            "arguments": event.arguments,
            "locations": None if event.locations is None else [self._location(place) for place in event.locations],
        }
        fields |= {key: value for key, value in optional.items() if value is not None}
        content: list[dict[str, Any]] = [self._diff(edit) for edit in event.edits or ()]
        if content:
            diffs[event.call_id] = content
        if event.status.over:
            content = diffs.pop(event.call_id, [])
        if event.text is not None:
            failed = event.status is not events.CallStatus.COMPLETED
            content = [*content, {"type": "text", "text": spoken(event.text, failed=failed)}]
        return {**fields, "content": content} if content else fields

    def _location(self, place: Location) -> dict[str, Any]:
        location: dict[str, Any] = {"uri": self._hunks.uri(place.path)}
        if place.start_line is not None and place.end_line is not None:
            location["range"] = range_json(place.start_line, 0, place.end_line, 0)
        return location

    def _diff(self, edit: ProposedEdit) -> dict[str, Any]:
        return {"type": "diff", "uri": self._hunks.uri(edit.path), "hunks": self._hunks.proposed(edit)}


def summary(end: TurnEnd, turn: Turn | None) -> str:
    """`2 edits · 3 tools · 8.1k tokens · $0.012`, or what went wrong."""
    if end.error is not None:
        return cut(visible(end.error.message), 120)
    tokens = end.usage.input_tokens + end.usage.output_tokens
    done = sum(state in ("applied", "partly") for state in end.edits.values())
    tools = 0 if turn is None else turn.tools_run
    parts = [
        "" if end.stop_reason is StopReason.END_TURN else end.stop_reason.replace("_", " "),
        _count(done, "edit"),
        _count(tools, "tool"),
        (f"{tokens / 1000:.1f}k tokens" if tokens >= 1000 else f"{tokens} tokens") if tokens else "",
        f"${end.usage.cost_usd:.3f}" if end.usage.cost_usd is not None else "",
    ]
    return " · ".join(part for part in parts if part) or "done"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}" if number else ""
