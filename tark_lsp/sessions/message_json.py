"""Converts a message to JSON and back without loss: every part keeps its echo. Pure.

Lone surrogates, which models and editors send, are escaped, so the text is ASCII.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tark_lsp.messages import Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult

Json = dict[str, Any]


def message_text(message: Message) -> str:
    return json.dumps(message_json(message), separators=(",", ":"))


def message_of_text(text: str) -> Message:
    """Raises ValueError for a text that `message_text` did not write."""
    return message_of(json.loads(text))


def message_json(message: Message) -> Json:
    """`{role, parts: [{type, ...}], model?}`."""
    model = {"model": message.model} if message.model else {}
    return {"role": message.role, "parts": [_part_json(part) for part in message.parts], **model}


def message_of(value: Any) -> Message:
    """Raises ValueError for a value of another form."""
    try:
        role = value["role"]
        parts = tuple(READERS[_text(part["type"])](part) for part in value["parts"])
        model = _text(value.get("model", ""))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a message: {error!r}") from error
    belonging = PARTS.get(role) if isinstance(role, str) else None
    if belonging is None:
        raise ValueError(f"not a message: its role is {role!r}")
    if strange := next((part for part in parts if not isinstance(part, belonging)), None):
        raise ValueError(f"not a message: {type(strange).__name__} in one of the role {role}")
    return Message(role, parts, model)


def without_echoes(message: Message) -> Message:
    """The message without the parts that only its provider can read (signatures, encrypted thinking)."""
    kept = (part for part in message.parts if not isinstance(part, Opaque))
    return replace(
        message,
        parts=tuple(
            replace(part, echo=None) if isinstance(part, Text | Thinking | ToolCall) else part for part in kept
        ),
    )


def _part_json(part: Part) -> Json:
    match part:
        case Text(text, echo):
            return {"type": "text", "text": text, **_echo_json(echo)}
        case Thinking(text, echo):
            return {"type": "thinking", "text": text, **_echo_json(echo)}
        case ToolCall(id_, name, arguments, echo):
            return {"type": "call", "id": id_, "name": name, "arguments": arguments, **_echo_json(echo)}
        case ToolResult(call_id, content, is_error, images, found):
            error = {"isError": True} if is_error else {}
            shown = {"images": [_part_json(image) for image in images]} if images else {}
            names = {"found": list(found)} if found else {}
            return {"type": "result", "callId": call_id, "content": content, **error, **shown, **names}
        case Image(mime_type, data):
            return {"type": "image", "mimeType": mime_type, "data": data}
        case Opaque(echo):
            return {"type": "opaque", **_echo_json(echo)}


def _echo_json(echo: Mapping[str, Any] | None) -> Json:
    """Keeps an empty echo, because some wires need an empty value back."""
    return {} if echo is None else {"echo": dict(echo)}


def _image(part: Json) -> Image:
    return Image(_text(part["mimeType"]), _text(part["data"]))


def _result(part: Json) -> ToolResult:
    images = tuple(_image(image) for image in part.get("images", ()))
    found = tuple(map(_text, part.get("found", ())))
    return ToolResult(_text(part["callId"]), _text(part["content"]), part.get("isError", False) is True, images, found)


def _call(part: Json) -> ToolCall:
    return ToolCall(_text(part["id"]), _text(part["name"]), _text(part["arguments"]), _echo(part))


def _opaque(part: Json) -> Opaque:
    echo = _echo(part)
    if echo is None:
        raise ValueError("not a message: an opaque part without its echo")
    return Opaque(echo)


def _echo(part: Json) -> Mapping[str, Any] | None:
    echo = part.get("echo")
    if echo is not None and not isinstance(echo, dict):
        raise ValueError("not a message: an echo that is not an object")
    return echo


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"not a message: {value!r} instead of a text")
    return value


PARTS: Mapping[str, tuple[type[Part], ...]] = {
    "user": (Text, Image),
    "assistant": (Text, Thinking, ToolCall, Opaque),
    "tool": (ToolResult,),
}
"""The parts that a message of each role can have: other parts would be sent, but not shown."""
READERS: Mapping[str, Callable[[Json], Part]] = {
    "text": lambda part: Text(_text(part["text"]), _echo(part)),
    "thinking": lambda part: Thinking(_text(part["text"]), _echo(part)),
    "call": _call,
    "result": _result,
    "image": _image,
    "opaque": _opaque,
}
"""Reads each type of part. `message_of` turns KeyError and TypeError into ValueError."""
