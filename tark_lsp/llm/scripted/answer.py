"""Encodes a scripted reply as the bytes of a real provider, and reads the last message of a request.

It follows the vendors' formats, not Tark's parsers, so that encoder and parser check each other.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tark_lsp.llm.scripted import anthropic_messages, gemini_content, ollama_chat, openai_chat, openai_responses
from tark_lsp.llm.scripted.playback import CHARACTERS_PER_TOKEN, HistoryEntry, Playback, last_message, objects
from tark_lsp.llm.scripted.scenario import LastMessage, Reply, ScriptedError
from tark_lsp.llm.wire.json_values import decode_untyped_json


@dataclass(frozen=True, slots=True)
class ScriptedWire:
    """`frames` yields the events or lines of an answer, `history` reads a request, `error_body` encodes an error.

    `retry_after_in_body`: the body of an error says how long to wait, not a header.
    """

    frames: Callable[[Playback], Iterator[bytes]]
    history: Callable[[dict[str, Any]], Sequence[HistoryEntry]]
    error_body: Callable[[ScriptedError], bytes]
    content_type: str = "text/event-stream"
    retry_after_in_body: bool = False


SCRIPTED_WIRES: Mapping[str, ScriptedWire] = {
    "openai-chat": ScriptedWire(openai_chat.frames, openai_chat.history, openai_chat.error_body),
    "openai-responses": ScriptedWire(openai_responses.frames, openai_responses.history, openai_chat.error_body),
    "anthropic-messages": ScriptedWire(
        anthropic_messages.frames, anthropic_messages.history, anthropic_messages.error_body
    ),
    "gemini-content": ScriptedWire(
        gemini_content.frames, gemini_content.history, gemini_content.error_body, retry_after_in_body=True
    ),
    "ollama-chat": ScriptedWire(
        ollama_chat.frames, ollama_chat.history, ollama_chat.error_body, content_type="application/x-ndjson"
    ),
}


def read_request(body: bytes, wire: str) -> LastMessage:
    """Returns the last message of a request. Raises ProtocolError for a body that is not JSON."""
    return last_message(SCRIPTED_WIRES[wire].history(decode_untyped_json(body)))


def answer_frames(reply: Reply, wire: str, request_body: bytes, first_call: int) -> Iterator[bytes]:
    """The reply in events or lines of `wire`. `first_call`: the number of its first call, which keeps ids unique."""
    body = decode_untyped_json(request_body)
    searches = any(tool.get("type") == "tool_search" for tool in objects(body.get("tools")))
    read = len(request_body) // CHARACTERS_PER_TOKEN
    playback = Playback(reply, str(body.get("model", "script")), read, first_call, searches)
    return SCRIPTED_WIRES[wire].frames(playback)


def answer_headers(wire: str) -> dict[str, str]:
    return {"content-type": SCRIPTED_WIRES[wire].content_type}


def error_response(error: ScriptedError, wire: str) -> tuple[dict[str, str], bytes]:
    """Headers and body of an error, as a provider of this wire sends them."""
    scripted = SCRIPTED_WIRES[wire]
    headers = {"content-type": "application/json"}
    if error.retry_after is not None and not scripted.retry_after_in_body:
        headers["retry-after"] = str(error.retry_after)
    return headers, scripted.error_body(error)
