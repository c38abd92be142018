"""Reconstructs one turn from its stored updates and messages, so that clients can draw it again. Pure.

If a turn has ended, its messages contain all its text. If it runs (perhaps in another process), its last text is only
in its updates.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tark_lsp.agent.events import CallStatus
from tark_lsp.agent.kinds import KINDS, slash_name
from tark_lsp.agent.prompt import typed_text
from tark_lsp.messages import Message, ToolResult
from tark_lsp.server.protocol.readable_text import readable_result
from tark_lsp.sessions.rows import StoredMessage, TurnRow
from tark_lsp.visible import cut

Json = dict[str, Any]
OVER = frozenset(status for status in CallStatus if status.over)
LONGEST_PROMPT = 300
"""The most characters of a turn's prompt. Its message has the whole prompt."""
LONGEST_TEXT = 1_000_000
"""The most characters of one text, because more can overload a client. `export` has the whole text."""


@dataclass(frozen=True, slots=True)
class RunningTurn:
    """A turn of this server. `seq`: the number of its last update. `is_queued`: it waits for another turn of its
    session. `steering`: the user's prompts to it while it runs."""

    seq: int
    is_queued: bool
    steering: tuple[str, ...]


class ShownTurn:
    """`calls` are the turn's tool calls by id, each with the fields of all its updates.

    begun    ids of calls in earlier messages that are not given; None if all messages are given
    goes_on  whether messages follow after the given ones
    running  None if this server does not know the turn
    undone   whether "all" or "partly" of the changes are undone
    """

    def __init__(
        self,
        turn: TurnRow,
        updates: Iterable[tuple[int, Mapping[str, Any]]],
        begun: frozenset[str] | None = None,
        *,
        goes_on: bool = False,
        running: RunningTurn | None = None,
        undone: str | None = None,
    ) -> None:
        self.id = turn.id
        self.over = turn.end is not None
        self.calls: dict[str, Json] = {}
        self._turn = turn
        self._running = running
        self._goes_on = goes_on
        self._undone = undone
        self._said: list[tuple[int, str, str]] = []
        self._notices: list[Json] = []
        self._latest: dict[str, Mapping[str, Any]] = {}
        self._begun = begun is not None
        self._seq = 0
        self._answer: Json | None = None
        for seq, update in updates:
            match update:  # validated, because it may come from a file
                case {"kind": "toolCall", "toolCallId": str(call_id)}:
                    self.calls.setdefault(call_id, {}).update(update)
                case {"kind": "text" | "thinking" as kind, "delta": str(delta)}:
                    self._said.append((seq, kind, delta))
                case {"kind": "notice", "level": str(level), "message": str(message)}:
                    self._notices.append({"level": level, "message": message})
                case {"kind": "start" | "plan" | "usage" as kind}:
                    self._latest[kind] = update
        self._unplaced = dict.fromkeys(call for call in self.calls if call not in (begun or ()))

    def add_message(self, stored: StoredMessage, entry: Json) -> None:
        """Take the turn's next message. The text of the first one is replaced by what the user typed."""
        if stored.message.role == "user" and not self._begun:
            self._begun = True
            entry["text"] = bounded(typed(self._turn, stored.message))
        if stored.message.role == "assistant":
            self._seq, self._answer = stored.seq, entry
        for call_id in stored.call_ids.values():
            self._unplaced.pop(call_id, None)

    def rest(self) -> Sequence[Json]:
        """The entries that are in no message: the prompt of a turn without messages, and text that still streams. Call
        this after all messages. The calls of an interrupted answer are added to the message with its beginning."""
        if self._goes_on:
            return ()
        entry = {"turnId": self.id, "time": iso(self._turn.began)}
        asked = [] if self._begun else [{**entry, "role": "user", "text": bounded(self._turn.prompt)}]
        words = {
            kind: bounded("".join(delta for seq, each, delta in self._said if each == kind and seq > self._seq))
            for kind in ("text", "thinking")
        }
        calls = [call_json(call_id, self.calls[call_id], None, over=self.over) for call_id in self._unplaced]
        if self.over and self._answer is not None:
            if calls:
                self._answer.setdefault("toolCalls", []).extend(calls)
            return asked
        if not calls and not any(words.values()):
            return asked
        thinking = {"thinking": words["thinking"]} if words["thinking"] else {}
        made = {"toolCalls": calls} if calls else {}
        return [*asked, {**entry, "role": "assistant", "text": words["text"], **thinking, **made}]

    def json(self) -> Json:
        """The turn's JSON. `seq` is the number of the last update that this server sent."""
        turn, end = self._turn, self._turn.end or {}
        start, plan = self._latest.get("start", {}), self._latest.get("plan", {})
        optional = {
            "seq": None if self._running is None else self._running.seq,
            "model": start.get("model") or turn.model,
            "mode": start.get("mode"),
            "range": start.get("range"),
            "uri": start.get("uri"),
            "ended": None if turn.ended is None else iso(turn.ended),
            "stopReason": end.get("stopReason"),
            "error": end.get("error"),
            "plan": plan.get("entries") or None,
            "notices": self._notices or None,
            "usage": self._usage() or None,
            "edits": end.get("edits") or None,
            "changedByCommand": end.get("changedByCommand") or None,
            "undone": self._undone,
            "steers": None if self._running is None or self.over else list(self._running.steering) or None,
        }
        return {
            "turnId": turn.id,
            "prompt": cut(turn.prompt, LONGEST_PROMPT),
            "kind": turn.kind,
            "began": iso(turn.began),
            "state": self._state(),
            **{key: value for key, value in optional.items() if value is not None},
        }

    def _state(self) -> str:
        if self.over:
            return "ended"
        queued = self._running.is_queued if self._running is not None else not self._latest
        return "queued" if queued else "running"

    def _usage(self) -> Json:
        told = {key: value for key, value in self._latest.get("usage", {}).items() if key != "kind"}
        final = (self._turn.end or {}).get("usage")
        return {**told, **(final if isinstance(final, Mapping) else {})}


def typed(turn: TurnRow, message: Message) -> str:
    """The text that the user typed for the turn, from its first message. If the model got a different text (a named
    prompt that was filled in, a prompt that was asked for, an imported session), that is added or returned instead."""
    words, prompt = typed_text(message), turn.prompt.strip()
    called = slash_name(prompt) is not None
    if prompt.endswith(words) if words else not prompt or called:
        return turn.prompt
    kind = KINDS.get(turn.kind)
    if kind is not None and words == kind.instructions.strip() and (not prompt or called):
        return turn.prompt  # the user typed and selected nothing
    told = words or message.text
    return f"{prompt}\n\n{told}" if called else told


def call_json(call_id: str, said: Mapping[str, Any], result: ToolResult | None, *, over: bool) -> Json:
    status = said.get("status", "pending")
    content = said.get("content")
    if result is not None:
        if status not in OVER:
            status = "failed" if result.is_error else "completed"
        shown = content if isinstance(content, list) else []
        if not any(isinstance(part, Mapping) and part.get("type") == "text" for part in shown):
            content = [*shown, {"type": "text", "text": readable_result(result.content, failed=result.is_error)}]
    elif over and status not in OVER:
        status = "cancelled"
    optional = {**{name: said.get(name) for name in ("title", "toolKind", "locations", "outcome")}, "content": content}
    return {
        "toolCallId": call_id,
        "name": said.get("name", ""),
        "status": status,
        "arguments": said.get("arguments", ""),
        **{key: value for key, value in optional.items() if value},
    }


def bounded(text: str) -> str:
    left_out = len(text) - LONGEST_TEXT
    return text if left_out <= 0 else f"{text[:LONGEST_TEXT]}\n[{left_out} more characters: export the session]"


def iso(seconds: float) -> str:
    """A time as ISO 8601 in UTC. A time that ISO 8601 cannot express becomes the nearest one."""
    inside = min(max(seconds, 0.0), 253_402_300_799.0)  # the end of year 9999
    return datetime.fromtimestamp(inside, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
