"""Data that a model needs back with its answer, stored as the `encrypted_content` of a reasoning item.

Anthropic and Gemini sign thinking and calls, OpenRouter sends details, OpenAI sends encrypted items. A client of the
Responses API sends a reasoning item back unchanged, so the item carries all this data. It is tagged with the model,
and only that model gets it back. It is encoded, not encrypted: it holds only what the provider sent to this client.
"""

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from tark_lsp.errors import ProtocolError
from tark_lsp.llm.events import Echo
from tark_lsp.llm.wire.json_values import decode_untyped_json, encode_json, is_too_deep

MARK = "tark1."
"""How Tark's states begin. Others are from another gateway, or from OpenAI itself."""

KINDS = ("text", "thinking", "call", "opaque")


@dataclass(frozen=True, slots=True)
class State:
    """`echoes` in the order in which they arrived. `model` is `<provider>/<model>`."""

    model: str
    echoes: tuple[Echo, ...] = ()


def write_state(model: str, echoes: Sequence[Echo]) -> str:
    rows = [[echo.of, dict(echo.echo), echo.call_id] for echo in echoes]
    return MARK + base64.urlsafe_b64encode(encode_json({"model": model, "echoes": rows})).decode()


def read_state(text: str) -> State | None:
    """None if it is not Tark's, or is damaged."""
    if not text.startswith(MARK):
        return None
    try:
        value = decode_untyped_json(base64.urlsafe_b64decode(text[len(MARK) :].encode("ascii")))
        echoes = tuple(_echo(row) for row in value["echoes"])
        return State(str(value["model"]), echoes)
    except (ValueError, KeyError, TypeError, RecursionError, binascii.Error, ProtocolError):
        return None


def _echo(row: Any) -> Echo:
    of, echo, call_id = row
    if of not in KINDS or not isinstance(echo, Mapping) or not isinstance(call_id, str):
        raise ValueError("not an echo")
    if is_too_deep(echo) or not isinstance(echo.get("type", ""), str):
        raise ValueError("not an echo of a provider")
    return Echo(cast("Literal['text', 'thinking', 'call', 'opaque']", of), dict(echo), call_id)
