"""Writes the events of a turn as `tark/update` and progress, as docs/protocol.md specifies."""

from typing import Any

from tark_lsp.agent import events
from tark_lsp.agent.kinds import mode_of
from tark_lsp.agent.state import Turn, TurnEnd
from tark_lsp.messages import StopReason
from tark_lsp.server.documents.targets import Targets
from tark_lsp.server.protocol.hunks import HunksJson
from tark_lsp.server.protocol.outgoing import error_json, outcome_json, range_json, usage_json
from tark_lsp.server.protocol.readable_text import readable_result
from tark_lsp.server.turns.answer_display import AnswerDisplay
from tark_lsp.server.turns.turn_record import TurnRecord
from tark_lsp.tools.tool import Location
from tark_lsp.visible import cut, visible
from tark_lsp.workspace.edits import ProposedEdit


class UpdateWriter:
    def __init__(self, hunks: HunksJson, targets: Targets, display: AnswerDisplay) -> None:
        self._hunks = hunks
        self._targets = targets
        self._display = display

    def write_start(self, record: TurnRecord) -> None:
        fields: dict[str, Any] = {
            "prompt": record.request.prompt,
            "turnKind": record.kind.name,  # `kind` is the field that names the update
            "model": record.session.model if record.turn is None else record.turn.resources.model.name,
            "mode": mode_of(record.kind, record.session.mode),
            **({} if record.kind.agent is None else {"agent": record.kind.agent.name}),
        }
        if record.target is not None and not record.target.whole:
            fields["range"] = self._targets.range_json(record.target)
            fields["uri"] = record.target.uri
        record.updates.send("start", **fields)

    def write_event(self, record: TurnRecord, event: events.AgentEvent) -> None:
        """Sends the event to the client, and to the turn's follower."""
        updates = record.updates
        if record.follower is not None:
            record.follower.on_turn_event(event)
        match event:
            case events.TextChunk(delta):
                updates.add_text("text", delta)
            case events.ThinkingChunk(delta):
                updates.add_text("thinking", delta)
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
                    self._display.show_notice(level, message)
            case events.Step(message):
                record.progress.report(visible(message))

    def end_payload(self, record: TurnRecord, end: TurnEnd) -> dict[str, Any]:
        """The turn's end: the update `end`, and the answer to `tark.turn.wait`."""
        payload: dict[str, Any] = {
            "sessionId": record.session.id,
            "turnId": record.id,
            "stopReason": end.stop_reason,
            "text": end.text,
            "edits": [{"uri": self._hunks.uri(path), "state": state} for path, state in end.edits.items()],
            "changedByCommand": [self._hunks.uri(path) for path in end.changed_by_command],
            "usage": usage_json(end.usage, *record.context),
        }
        if end.error is not None:
            payload["error"] = error_json(end.error)
        return payload

    def _call(self, event: events.CallChanged, diffs: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
        """`diffs` are kept until the call ends, because its last update repeats them."""
        fields: dict[str, Any] = {"toolCallId": event.call_id, "status": event.status}
        optional = {
            "name": event.name,
            "title": event.title,
            "toolKind": event.kind,
            "arguments": event.arguments,
            "locations": None if event.locations is None else [self._location(place) for place in event.locations],
            "outcome": None if event.facts is None else outcome_json(event.facts),
        }
        fields |= {key: value for key, value in optional.items() if value is not None}
        content: list[dict[str, Any]] = [self._diff(edit) for edit in event.edits or ()]
        if content:
            diffs[event.call_id] = content
        if event.status.over:
            content = diffs.pop(event.call_id, [])
        if event.text is not None:
            failed = event.status is not events.CallStatus.COMPLETED
            content = [*content, {"type": "text", "text": readable_result(event.text, failed=failed)}]
        return {**fields, "content": content} if content else fields

    def _location(self, place: Location) -> dict[str, Any]:
        location: dict[str, Any] = {"uri": self._hunks.uri(place.path)}
        if place.start_line is not None and place.end_line is not None:
            location["range"] = range_json(place.start_line, 0, place.end_line, 0)
        return location

    def _diff(self, edit: ProposedEdit) -> dict[str, Any]:
        return {"type": "diff", "uri": self._hunks.uri(edit.path), "hunks": self._hunks.proposed(edit)}


def progress_summary(end: TurnEnd, turn: Turn | None) -> str:
    """`2 files changed · 3 tools · 8.1k tokens · $0.012`, or the error."""
    if end.error is not None:
        return cut(visible(end.error.message), 120)
    tokens = end.usage.input_tokens + end.usage.output_tokens
    done = sum(state in ("applied", "partly") for state in end.edits.values())
    tools = 0 if turn is None else turn.tools_run
    parts = [
        "" if end.stop_reason is StopReason.END_TURN else end.stop_reason.replace("_", " "),
        f"{_count(done, 'file')} changed" if done else "",
        _count(tools, "tool"),
        (f"{tokens / 1000:.1f}k tokens" if tokens >= 1000 else f"{tokens} tokens") if tokens else "",
        f"${end.usage.cost_usd:.3f}" if end.usage.cost_usd else "",
    ]
    return " · ".join(part for part in parts if part) or "done"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}" if number else ""
