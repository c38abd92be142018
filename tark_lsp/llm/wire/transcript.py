"""What all wires do to a history before they encode it: pair calls with results, fit ids, drop what is foreign."""

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace

from tark_lsp.messages import Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult

SAFE_ID = re.compile(r"[a-zA-Z0-9_-]{1,40}")
"""What every provider takes: Anthropic's alphabet, Chat Completions' length."""

NO_RESULT = "No result: this call was not run."


def sendable(messages: Sequence[Message], ref: str) -> list[Message]:
    """The history as the model `ref` may see it. Ids are unique in all of it; the same history gives the same ids.

    - Thinking, opaque parts and echoes of another model are dropped, and so is what is left empty by that.
    - Each call gets exactly one result, in a `tool` message right after it, in the calls' order; stray results go.
    """
    ids = _Ids()
    sent: list[Message] = []
    for index, message in enumerate(messages):
        if message.role == "tool":
            continue  # taken with the calls before it
        parts = tuple(message.parts) if message.model == ref or message.role == "user" else _native(message.parts)
        calls = [part for part in parts if isinstance(part, ToolCall)]
        new_ids = [ids.fit(call.id) for call in calls]
        renamed = iter(new_ids)
        parts = tuple(replace(part, id=next(renamed)) if isinstance(part, ToolCall) else part for part in parts)
        if not parts:
            continue
        sent.append(replace(message, parts=parts))
        if calls:
            results = _results(messages, index + 1)
            answers = (results.get(call.id) or ToolResult(call.id, NO_RESULT, is_error=True) for call in calls)
            paired = (replace(answer, call_id=new) for answer, new in zip(answers, new_ids, strict=True))
            sent.append(Message("tool", tuple(paired)))
    return sent


def _native(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Parts of another model's message, as words and calls only."""
    kept = (part for part in parts if not isinstance(part, Thinking | Opaque))
    return tuple(replace(part, echo=None) if isinstance(part, Text | ToolCall) else part for part in kept)


def _results(messages: Sequence[Message], start: int) -> dict[str, ToolResult]:
    """The results in the tool messages that follow; the first of each call."""
    results: dict[str, ToolResult] = {}
    for message in messages[start:]:
        if message.role != "tool":
            break
        for part in message.parts:
            if isinstance(part, ToolResult):
                results.setdefault(part.call_id, part)
    return results


class _Ids:
    """An id over 40 characters or outside the alphabet becomes its hash; one that was used before gets a number."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def fit(self, given: str) -> str:
        fitted = given
        if not SAFE_ID.fullmatch(given):
            digest = hashlib.sha256(given.encode("utf-8", "replace")).digest()
            fitted = "call_" + base64.b32encode(digest).decode().lower()[:26]
        unique, number = fitted, 1
        while unique in self._used:
            number += 1
            unique = f"{fitted[:34]}_{number}"
        self._used.add(unique)
        return unique
