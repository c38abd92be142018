"""A session as clients get it: its settings, its messages with the results folded into their calls, its turns. Pure.

Of a turn that has ended the messages hold all words; of one that runs (perhaps in another process) the last words are
in its updates alone, and are given as a message of their own without an id.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from tark_lsp.errors import RequestError
from tark_lsp.messages import Image, Message, Thinking, ToolResult
from tark_lsp.server.documents.uris import uri_from_path
from tark_lsp.server.turns.spoken import spoken
from tark_lsp.sessions.rows import Holder, SessionRow, StoredMessage, TurnRow

Json = dict[str, Any]
OVER = frozenset({"completed", "failed", "rejected", "cancelled"})
"""Statuses of a tool call that gets no further."""


def session_json(row: SessionRow, *, read_only: bool = False, holder: Holder | None = None) -> Json:
    held = {} if holder is None else {"heldBy": {"pid": holder.pid, "host": holder.host}}
    return {
        "sessionId": row.id,
        "title": row.title,
        "created": iso(row.created),
        "updated": iso(row.updated),
        "folders": [uri_from_path(folder) for folder in row.folders],
        "turns": row.turns,
        "model": row.model,
        "mode": row.mode,
        "approval": row.approval,
        "thinking": row.thinking,
        "costUsd": row.cost_usd,
        **({} if row.parent is None else {"parent": row.parent}),
        "readOnly": read_only or holder is not None,
        **held,
    }


def iso(seconds: float) -> str:
    """A time as ISO 8601 in UTC; the nearest there is for one that a clock or a file has wrong."""
    inside = min(max(seconds, 0.0), 253_402_300_799.0)  # the end of year 9999
    return datetime.fromtimestamp(inside, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def turn_json(turn: TurnRow) -> Json:
    end = turn.end or {}
    optional = {
        "ended": None if turn.ended is None else iso(turn.ended),
        "stopReason": end.get("stopReason"),
        "error": end.get("error"),
    }
    return {
        "turnId": turn.id,
        "prompt": turn.prompt,
        "kind": turn.kind,
        "began": iso(turn.began),
        **{key: value for key, value in optional.items() if value is not None},
    }


def messages_json(
    session_id: str,
    messages: Sequence[StoredMessage],
    turns: Sequence[TurnRow],
    updates: Callable[[str], Iterable[tuple[int, Mapping[str, Any]]]],
) -> list[Json]:
    """`updates(turn_id)`: what the person was shown of the turn, by `seq`."""
    shown = {turn.id: _Shown(turn, updates(turn.id)) for turn in turns}
    told: list[Json] = []
    for index, stored in enumerate(messages):
        if stored.message.role == "tool":
            continue
        entry = _message_json(session_id, stored)
        of = shown.get(stored.turn_id)
        if of is not None:
            of.see(stored, entry)
        if stored.message.tool_calls:
            results = _results(messages[index + 1].message) if index + 1 < len(messages) else {}
            entry["toolCalls"] = list(_calls_json(stored, of, results))
        told.append(entry)
    return [*told, *(rest for of in shown.values() if (rest := of.rest()) is not None)]


class _Shown:
    """One turn as the person saw it. `calls` are its tool calls by id, what was said of each put together."""

    def __init__(self, turn: TurnRow, updates: Iterable[tuple[int, Mapping[str, Any]]]) -> None:
        self._turn = turn
        self.over = turn.end is not None
        self.calls: dict[str, Json] = {}
        self._said: list[tuple[int, str, str]] = []
        self._begun = False
        self._seq = 0
        self._answer: Json | None = None
        for seq, update in updates:
            match update:  # it may come from a file
                case {"kind": "toolCall", "toolCallId": str(call_id)}:
                    self.calls.setdefault(call_id, {}).update(update)
                case {"kind": "text" | "thinking" as kind, "delta": str(delta)}:
                    self._said.append((seq, kind, delta))
        self._unplaced = dict.fromkeys(self.calls)

    def see(self, stored: StoredMessage, entry: Json) -> None:
        """The next message of the turn, and what is told of it: of the first one what the person typed."""
        if stored.message.role == "user" and not self._begun:
            self._begun = True
            entry["text"] = self._turn.prompt
        if stored.message.role == "assistant":
            self._seq, self._answer = stored.seq, entry
        for call_id in stored.call_ids.values():
            self._unplaced.pop(call_id, None)

    def rest(self) -> Json | None:
        """What no message has yet; calls of an answer that was cut go to what is left of that."""
        words = {
            kind: "".join(delta for seq, each, delta in self._said if each == kind and seq > self._seq)
            for kind in ("text", "thinking")
        }
        calls = [_call_json(call_id, self.calls[call_id], None, over=self.over) for call_id in self._unplaced]
        if self.over and self._answer is not None:
            if calls:
                self._answer.setdefault("toolCalls", []).extend(calls)
            return None
        if not calls and not any(words.values()):
            return None
        rest = {"turnId": self._turn.id, "role": "assistant", "text": words["text"], "time": iso(self._turn.began)}
        thinking = {"thinking": words["thinking"]} if words["thinking"] else {}
        return {**rest, **thinking, **({"toolCalls": calls} if calls else {})}


def _calls_json(stored: StoredMessage, of: _Shown | None, results: Mapping[str, ToolResult]) -> Iterable[Json]:
    for position, call in enumerate(stored.message.tool_calls):
        call_id = stored.call_ids.get(call.id, f"call-{stored.number}-{position}")
        known = of.calls.get(call_id, {}) if of is not None else {}
        said = {"name": call.name, "arguments": call.arguments, **known}
        yield _call_json(call_id, said, results.get(call.id), over=of is None or of.over)


def _call_json(call_id: str, said: Mapping[str, Any], result: ToolResult | None, *, over: bool) -> Json:
    status = said.get("status", "pending")
    content = said.get("content")
    if result is not None:
        if status not in OVER:
            status = "failed" if result.is_error else "completed"
        shown = content if isinstance(content, list) else []
        if not any(isinstance(part, Mapping) and part.get("type") == "text" for part in shown):
            content = [*shown, {"type": "text", "text": spoken(result.content, failed=result.is_error)}]
    elif over and status not in OVER:
        status = "cancelled"
    optional = {**{name: said.get(name) for name in ("title", "toolKind", "locations")}, "content": content}
    return {
        "toolCallId": call_id,
        "name": said.get("name", ""),
        "status": status,
        "arguments": said.get("arguments", ""),
        **{key: value for key, value in optional.items() if value},
    }


def _results(message: Message) -> Mapping[str, ToolResult]:
    return {part.call_id: part for part in message.parts if isinstance(part, ToolResult)}


def message_id(session_id: str, number: int) -> str:
    return f"{session_id}.{number}"


def message_number(session_id: str, wanted: str) -> int:
    """Raises RequestError where it is no message of the session's."""
    before, _, number = wanted.rpartition(".")
    if before != session_id or not (number.isascii() and number.isdecimal()):
        raise RequestError(f"messageId: there is no message {wanted!r} in {session_id!r}")
    return int(number)


def _message_json(session_id: str, stored: StoredMessage) -> Json:
    parts = stored.message.parts
    thinking = "".join(part.text for part in parts if isinstance(part, Thinking))
    images = sum(isinstance(part, Image) for part in parts)
    return {
        "messageId": message_id(session_id, stored.number),
        "turnId": stored.turn_id,
        "role": stored.message.role,
        "text": stored.message.text,
        **({"thinking": thinking} if thinking else {}),
        "time": iso(stored.time),
        **({"images": images} if images else {}),
    }
