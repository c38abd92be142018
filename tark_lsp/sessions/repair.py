"""Completes a turn that was interrupted because its process ended, so that its history can be sent again; pure.

The result is the same as when run_turn() ends a turn: shown text stays and is marked, and every call has a result.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote

from tark_lsp.agent import history
from tark_lsp.agent.events import CallStatus
from tark_lsp.agent.results import failure_text
from tark_lsp.messages import Message, StopReason, Text, ToolCall, ToolResult
from tark_lsp.sessions.rows import StoredMessage, TurnRow

Update: TypeAlias = Mapping[str, Any]

MARK = "[interrupted]"
LOOK_FIRST = "look at the current state before you do it again"
UNKNOWN = failure_text("interrupted", "the server ended while it ran: whether it was done is not known", LOOK_FIRST)
NOT_RUN = failure_text("interrupted", "the server ended before it was run")
STILL_WAITS = "The server ended before all of it was decided. What is not decided waits for your review."
UNKNOWN_EDIT = "The server ended while it was applied: look whether the file has it."
LOST: Mapping[str, str] = {
    CallStatus.COMPLETED: failure_text("interrupted", "it was done, but its result is lost", LOOK_FIRST),
    CallStatus.FAILED: failure_text("interrupted", "it failed, and why is lost", LOOK_FIRST),
    CallStatus.REJECTED: failure_text("interrupted", "the person said no"),
    CallStatus.IN_PROGRESS: UNKNOWN,
}
"""The result sent to the model for a call whose result is lost, by its last status; other calls were not run."""
OVER = frozenset(status for status in CallStatus if status.over)
NOTHING_USED = {"inputTokens": 0, "cachedTokens": 0, "outputTokens": 0, "reasoningTokens": 0, "costUsd": None}
ERROR = {
    "code": "interrupted",
    "message": "the server ended while this turn ran",
    "hint": "what was done until then is kept: send a prompt to continue",
}


@dataclass(frozen=True, slots=True)
class TurnRepair:
    """What to add to the history and to the updates, and the JSON of the turn's end."""

    messages: tuple[Message, ...]
    updates: tuple[Update, ...]
    end: Mapping[str, Any]


def repair(
    turn: TurnRow,
    stored: Sequence[StoredMessage],
    updates: Sequence[tuple[int, Update]],
    waiting: Iterable[Path] = (),
) -> TurnRepair:
    """`stored`: the messages of the turn. `updates`: what was shown of it, with `seq`. `waiting`: the files with
    undecided hunks of the turn.

    If the end was already sent but not stored, it is used.
    """
    for _, update in updates:
        if update.get("kind") == "end":
            return TurnRepair((), (), {key: value for key, value in update.items() if key != "kind"})
    calls = _calls(update for _, update in updates)
    files = {_spelled(path.as_uri()) for path in waiting}
    closing = {call: _closed(state, files) for call, state in calls.items() if state.get("status") not in OVER}
    calls |= {call: {**calls[call], **last} for call, last in closing.items() if "content" in last}
    messages = missing_messages(turn.model or "", stored, updates, calls)
    answers = [message for message in (*(row.message for row in stored), *messages) if message.role == "assistant"]
    usage = {key: value for _, update in updates if update.get("kind") == "usage" for key, value in update.items()}
    end = {
        "sessionId": turn.session_id,
        "turnId": turn.id,
        "stopReason": StopReason.ERROR,
        "text": answers[-1].text.removesuffix(MARK).rstrip() if answers else "",
        "edits": [],
        "changedByCommand": [],
        "usage": {key: usage.get(key, value) for key, value in NOTHING_USED.items()},
        "error": ERROR,
    }
    closed = ({"kind": "toolCall", "toolCallId": call, **last} for call, last in closing.items())
    return TurnRepair(messages, (*closed, {"kind": "end", **end}), end)


def _closed(state: Update, waiting: Set[str]) -> Update:
    """The last fields of a call that had not ended. An edit whose hunks wait is not cancelled."""
    diffs = [part for part in state.get("content", ()) if part.get("type") == "diff"]
    if any(_spelled(diff["uri"]) in waiting for diff in diffs):
        return {"status": CallStatus.COMPLETED, "content": [*diffs, {"type": "text", "text": STILL_WAITS}]}
    if diffs and state.get("status") == CallStatus.IN_PROGRESS:
        return {"status": CallStatus.FAILED, "content": [*diffs, {"type": "text", "text": UNKNOWN_EDIT}]}
    return {"status": CallStatus.CANCELLED}


def _spelled(uri: str) -> str:
    """The same for all spellings that editors use."""
    return unquote(uri).casefold()


def missing_messages(
    model: str, stored: Sequence[StoredMessage], updates: Sequence[tuple[int, Update]], calls: Mapping[str, Update]
) -> tuple[Message, ...]:
    """The messages that the history needs to be valid. `calls` has the last state of each call, by Tark's id."""
    if not stored:
        return ()
    last = stored[-1]
    if last.message.tool_calls:
        results = (_result(call, calls.get(last.call_ids.get(call.id, ""), {})) for call in last.message.tool_calls)
        return (Message("tool", tuple(results)),)
    shown = "".join(update["delta"] for seq, update in updates if seq > last.seq and update.get("kind") == "text")
    if last.message.role == "assistant" and not shown:  # the model had answered, and the turn was about to end
        return ()
    return (Message("assistant", (Text(f"{shown}\n\n{MARK}".strip()),), model),)


def valid_history(messages: Sequence[Message]) -> Sequence[Message]:
    """Returns the messages unchanged if they are a valid history. Otherwise (the file was edited) they are repaired: no
    result without a call, no call without a result, no empty message."""
    try:
        history.check_history(messages)
    except history.InvalidHistory:
        return tuple(_repaired(messages))
    return messages


def _repaired(messages: Sequence[Message]) -> Iterator[Message]:
    for at, message in enumerate(messages):
        if message.role == "tool" or not message.parts:
            continue
        calls = {call.id: call for call in message.tool_calls}
        parts = (part for part in message.parts if not isinstance(part, ToolCall) or calls[part.id] is part)
        yield replace(message, parts=tuple(parts))
        if message.role == "assistant" and calls:
            following = messages[at + 1 : at + 2]
            given = (part for result in following if result.role == "tool" for part in result.parts)
            results = {part.call_id: part for part in given if isinstance(part, ToolResult)}
            yield history.results_message(tuple(calls.values()), results, UNKNOWN)


def _calls(updates: Iterable[Update]) -> dict[str, Update]:
    """The last state of each tool call."""
    calls: dict[str, Update] = {}
    for update in updates:
        if update.get("kind") == "toolCall":
            call = update["toolCallId"]
            calls[call] = {**calls.get(call, {}), **update}
    return calls


def _result(call: ToolCall, state: Update) -> ToolResult:
    """The result that was shown, if it is known, else a result that says that it is lost."""
    status = state.get("status")
    if status in OVER:
        for piece in state.get("content", ()):
            if piece.get("type") == "text":
                return ToolResult(call.id, piece["text"], is_error=status != CallStatus.COMPLETED)
    return ToolResult(call.id, LOST.get(str(status), NOT_RUN), is_error=True)
