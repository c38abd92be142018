"""Reads and writes the JSON of answers and requests: tolerant of broken received text, strict about what is sent."""

import json
from typing import Any, NoReturn, TypeVar

import msgspec

from tark_lsp.errors import ProtocolError

T = TypeVar("T")

MAX_DEPTH = 200
"""The deepest nesting that is sent back to a provider. Beyond it the encoder fails, and many servers fail earlier."""

ANYTHING: msgspec.json.Decoder[Any] = msgspec.json.Decoder()


def decode_json(decoder: msgspec.json.Decoder[T], frame: bytes) -> T:
    """Raises ProtocolError, also for bytes that are not UTF-8: replacement characters could get into the user's files.

    Lone surrogates, which models write as escapes, are replaced: they are not a transmission error.
    """
    try:
        return decoder.decode(frame)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as first:
        try:
            text = frame.decode("utf-8")
        except UnicodeDecodeError as error:
            hint = "try again; if it happens again, something between you and the provider damages its answers"
            raise ProtocolError("the provider sent bytes that are not UTF-8", hint=hint) from error
        try:
            value = json.loads(text)
            return decoder.decode(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
        except (msgspec.DecodeError, ValueError, RecursionError):
            shown = frame[:200].decode("utf-8", "replace")
            raise ProtocolError(f"the provider sent data that does not match this wire: {first}: {shown}") from first


def decode_untyped_json(frame: bytes) -> Any:
    """Decodes JSON of any shape. Raises ProtocolError."""
    return decode_json(ANYTHING, frame)


def json_or_text(body: bytes) -> Any:
    """Decodes JSON; other bodies, such as web pages, become text."""
    try:
        return decode_untyped_json(body)
    except ProtocolError:
        return body.decode("utf-8", "replace")


def encode_json(value: Any) -> bytes:
    """Compact UTF-8, keys in insertion order. Lone surrogates, which no provider accepts, become `?`."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def read_object(text: str) -> dict[str, Any] | None:
    """The JSON object that a model wrote, `{}` for blank text. None: not an object, or one that providers reject."""
    try:
        value = json.loads(text if text.strip() else "{}", parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and not is_too_deep(value) else None


def is_too_deep(value: Any) -> bool:
    """Whether values are nested more than `MAX_DEPTH` levels deep."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_DEPTH):
        inner = [item.values() if isinstance(item, dict) else item for item in level]
        level = [item for items in inner for item in items if isinstance(item, dict | list)]
        if not level:
            return False
    return True


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
