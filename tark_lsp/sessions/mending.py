"""What a turn that was cut off with its process leaves, and what makes a history of it that can be sent. Pure.

As run_turn() ends a turn: the words that were shown stay, marked; every call has its result.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from tark_lsp.agent import history
from tark_lsp.agent.events import CallStatus
from tark_lsp.agent.results import failure
from tark_lsp.messages import Message, StopReason, Text, ToolCall, ToolResult
from tark_lsp.sessions.rows import StoredMessage, TurnRow

Update: TypeAlias = Mapping[str, Any]

MARK = "[interrupted]"
LOOK_FIRST = "look at what is there before you do it again"
UNKNOWN = failure("interrupted", "the server ended while it ran: whether it was done is not known", LOOK_FIRST)
NOT_RUN = failure("interrupted", "the server ended before it was run")
LOST: Mapping[str, str] = {
    CallStatus.COMPLETED: failure("interrupted", "it was done, but its result is lost", LOOK_FIRST),
    CallStatus.FAILED: failure("interrupted", "it failed, and why is lost", LOOK_FIRST),
    CallStatus.REJECTED: failure("interrupted", "the person said no"),
    CallStatus.IN_PROGRESS: UNKNOWN,
}
"""What the model is told of a call whose result is lost, by how far it got; the others were not run."""
OVER = frozenset(status for status in CallStatus if status.over)
NOTHING_USED = {"inputTokens": 0, "cachedTokens": 0, "outputTokens": 0, "reasoningTokens": 0, "costUsd": None}
ERROR = {
    "code": "interrupted",
    "message": "the server ended while this turn ran",
    "hint": "what was done until then is kept: say how to go on",
}


@dataclass(frozen=True, slots=True)
class Mended:
    """What is to be added to the history, and to what the person was shown, and the JSON of the turn's end."""

    messages: tuple[Message, ...]
    updates: tuple[Update, ...]
    end: Mapping[str, Any]


def mend(turn: TurnRow, stored: Sequence[StoredMessage], updates: Sequence[tuple[int, Update]]) -> Mended:
    """`stored` are the turn's messages, `updates` what was shown of it, by `seq`.

    One whose end was told already, but not stored, ended so.
    """
    for _, update in updates:
        if update.get("kind") == "end":
            return Mended((), (), {key: value for key, value in update.items() if key != "kind"})
    calls = _calls(update for _, update in updates)
    messages = leftovers(turn.model or "", stored, updates, calls)
    answers = [message for message in (*(each.message for each in stored), *messages) if message.role == "assistant"]
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
    closing = tuple(
        {"kind": "toolCall", "toolCallId": call, "status": CallStatus.CANCELLED}
        for call, state in calls.items()
        if state.get("status") not in OVER
    )
    return Mended(messages, (*closing, {"kind": "end", **end}), end)


def leftovers(
    model: str, stored: Sequence[StoredMessage], updates: Sequence[tuple[int, Update]], calls: Mapping[str, Update]
) -> tuple[Message, ...]:
    """The messages that are missing for the history to be sendable; `calls` by our id, as they were told last."""
    if not stored:
        return ()
    last = stored[-1]
    if last.message.tool_calls:
        results = (_result(call, calls.get(last.call_ids.get(call.id, ""), {})) for call in last.message.tool_calls)
        return (Message("tool", tuple(results)),)
    shown = "".join(update["delta"] for seq, update in updates if seq > last.seq and update.get("kind") == "text")
    if last.message.role == "assistant" and not shown:  # it had answered, and was about to end
        return ()
    return (Message("assistant", (Text(f"{shown}\n\n{MARK}".strip()),), model),)


def sendable(messages: Sequence[Message]) -> Sequence[Message]:
    """As they are, where that can be sent; else (a file that somebody changed) with what is missing or too much put
    right: no results without calls, no calls without results, nothing empty."""
    try:
        history.check(messages)
    except history.InvalidHistory:
        return tuple(_put_right(messages))
    return messages


def _put_right(messages: Sequence[Message]) -> Iterator[Message]:
    for at, message in enumerate(messages):
        if message.role == "tool" or not message.parts:
            continue
        calls = {call.id: call for call in message.tool_calls}
        parts = (part for part in message.parts if not isinstance(part, ToolCall) or calls[part.id] is part)
        yield replace(message, parts=tuple(parts))
        if message.role == "assistant" and calls:
            following = messages[at + 1 : at + 2]
            given = (part for each in following if each.role == "tool" for part in each.parts)
            results = {part.call_id: part for part in given if isinstance(part, ToolResult)}
            yield history.results_message(tuple(calls.values()), results, UNKNOWN)


def _calls(updates: Iterable[Update]) -> dict[str, Update]:
    """Each tool call as it was told last."""
    calls: dict[str, Update] = {}
    for update in updates:
        if update.get("kind") == "toolCall":
            call = update["toolCallId"]
            calls[call] = {**calls.get(call, {}), **update}
    return calls


def _result(call: ToolCall, state: Update) -> ToolResult:
    """What the person was told that the model was told, where that is known."""
    status = state.get("status")
    if status in OVER:
        for piece in state.get("content", ()):
            if piece.get("type") == "text":
                return ToolResult(call.id, piece["text"], is_error=status != CallStatus.COMPLETED)
    return ToolResult(call.id, LOST.get(str(status), NOT_RUN), is_error=True)
