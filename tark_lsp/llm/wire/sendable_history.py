"""Prepares a history for any wire: pairs calls with results, adapts ids, drops parts of other models."""

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tark_lsp.llm.wire.json_values import encode_json, read_object
from tark_lsp.messages import Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult

SAFE_ID = re.compile(r"[a-zA-Z0-9_-]{1,40}")
"""Ids that every provider accepts: Anthropic's alphabet, the length limit of Chat Completions."""

SAFE_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
"""Tool names that every provider accepts. Tark's names match, but the history also has names that models invented."""

IMAGES_LEFT_OUT = "[{} image(s) left out: this model does not accept images]"
NO_RESULT = "No result: this call did not run."


def sendable_history(messages: Sequence[Message], ref: str, id_length: int = 0) -> list[Message]:
    """The history as it can be sent to the model `ref`. Ids are unique, and the same history gives the same ids.

    `id_length`: ids have exactly this many letters and digits; 0: up to 40 characters of `SAFE_ID`.

    - Thinking, opaque parts and echoes of other models are dropped, and messages that become empty by that. They are
      also dropped from the user's messages: nothing unreadable is sent in the user's name.
    - Empty messages are dropped. Names and arguments of calls that a provider would reject are repaired.
    - Each call gets exactly one result, in a `tool` message right after it, in the order of the calls. Results without
      a call are dropped.
    """
    ids = _Ids(id_length)
    sent: list[Message] = []
    for index, message in enumerate(messages):
        if message.role == "tool":
            continue  # added together with the calls before it
        of_this_model = message.role == "assistant" and message.model == ref
        parts = tuple(message.parts) if of_this_model else _native(message.parts)
        calls = [part for part in parts if isinstance(part, ToolCall)]
        new_ids = [ids.fit(call.id) for call in calls]
        if renamed := {call.id: new for call, new in zip(calls, new_ids, strict=True) if call.id != new}:
            parts = _with_ids(parts, new_ids, renamed)
        if all(isinstance(part, Text) and not part.text.strip() and part.echo is None for part in parts):
            continue
        parts = tuple(_repaired(part) if isinstance(part, ToolCall) else part for part in parts)
        sent.append(replace(message, parts=parts))
        if calls:
            results = _results(messages, index + 1)
            answers = (results.get(call.id) or ToolResult(call.id, NO_RESULT, is_error=True) for call in calls)
            paired = (replace(answer, call_id=new) for answer, new in zip(answers, new_ids, strict=True))
            sent.append(Message("tool", tuple(paired)))
    return sent


def call_input(call: ToolCall) -> dict[str, Any]:
    """The arguments as an object. In a `sendable_history` they always are one."""
    return read_object(call.arguments) or {}


def result_text(result: ToolResult) -> str:
    """The text for wires without an error flag. Tark's own failures are JSON with `"ok": false`: they need no mark."""
    if result.is_error and not result.content.startswith('{"ok": false'):
        return f"Error: {result.content}"
    return result.content


def note_images_left_out(text: str, images: Sequence[Image]) -> str:
    """For models that do not accept images: the text, with a note about the images that are left out."""
    return "\n".join(filter(None, [text, IMAGES_LEFT_OUT.format(len(images))])) if images else text


def _native(parts: Sequence[Part]) -> tuple[Part, ...]:
    """The parts of another model's message, or of the user's, as text, images and calls only."""
    kept = (part for part in parts if not isinstance(part, Thinking | Opaque))
    return tuple(
        replace(part, echo=None) if isinstance(part, Text | ToolCall) and part.echo is not None else part
        for part in kept
    )


def _repaired(call: ToolCall) -> ToolCall:
    """Repairs a call that never ran, with an invalid name or arguments: many servers still parse it."""
    name, arguments = call.name, call.arguments
    if not SAFE_NAME.fullmatch(name):
        name = re.sub(r"[^a-zA-Z0-9_-]", "_", name if name[:1].isalpha() else f"_{name}", flags=re.ASCII)[:64]
    if read_object(arguments) is None:
        arguments = encode_json({"invalid_arguments": arguments}).decode()
    elif not arguments.strip():
        arguments = "{}"
    return call if (name, arguments) == (call.name, call.arguments) else replace(call, name=name, arguments=arguments)


def _with_ids(parts: Sequence[Part], ids: Sequence[str], renamed: Mapping[str, str]) -> tuple[Part, ...]:
    """Gives the calls these ids, in order. Echoes of thinking can also name a call (OpenRouter with Gemini)."""
    given = iter(ids)
    changed: list[Part] = []
    for part in parts:
        match part:
            case ToolCall():
                part = replace(part, id=next(given))
            case Thinking(_, echo) if echo:
                part = replace(part, echo=replace_ids(echo, renamed))
        changed.append(part)
    return tuple(changed)


def replace_ids(value: Any, renamed: Mapping[str, str]) -> Any:
    """`value` with every string that is an id replaced by the new id."""
    match value:
        case str():
            return renamed.get(value, value)
        case Mapping():
            return {name: replace_ids(inner, renamed) for name, inner in value.items()}
        case list():
            return [replace_ids(inner, renamed) for inner in value]
    return value


def _results(messages: Sequence[Message], start: int) -> dict[str, ToolResult]:
    """The first result of each call in the tool messages that follow."""
    results: dict[str, ToolResult] = {}
    for message in messages[start:]:
        if message.role != "tool":
            break
        for part in message.parts:
            if isinstance(part, ToolResult):
                results.setdefault(part.call_id, part)
    return results


class _Ids:
    """Makes ids valid and unique. An id that is too long or has other characters is hashed; a duplicate is numbered."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._used: set[str] = set()

    def fit(self, given: str) -> str:
        if self._length:
            return self._exact(given)
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

    def _exact(self, given: str) -> str:
        unique, number = given, 1
        while unique in self._used or not re.fullmatch(rf"[a-zA-Z0-9]{{{self._length}}}", unique):
            digest = hashlib.sha256(f"{number} {given}".encode("utf-8", "replace")).digest()
            unique = base64.b32encode(digest).decode().lower()[: self._length]
            number += 1
        self._used.add(unique)
        return unique
