"""Encodes answers as OpenAI streams Chat Completions, and reads the messages of such a request."""

from collections.abc import Iterator
from typing import Any

from tark_lsp.llm.scripted.playback import HistoryEntry, Playback, arguments_text, objects, texts_of
from tark_lsp.llm.scripted.scenario import ScriptedError
from tark_lsp.llm.wire.json_values import encode_json


def frames(playback: Playback) -> Iterator[bytes]:
    reply = playback.reply
    chunk = {"id": "chatcmpl-script", "object": "chat.completion.chunk", "created": 0, "model": playback.model}

    def choice(delta: dict[str, Any], finish: str | None = None) -> bytes:
        return _frame({**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    yield choice({"role": "assistant", "content": ""})
    for piece in playback.pieces(reply.thinking):
        yield choice({"reasoning_content": piece})
    for piece in playback.pieces(reply.text):
        yield choice({"content": piece})
    for index, (number, call) in enumerate(playback.calls):
        start = {"name": call.name, "arguments": ""}
        yield choice(
            {"tool_calls": [{"index": index, "id": f"call_script_{number}", "type": "function", "function": start}]}
        )
        for piece in playback.pieces(arguments_text(call)):
            yield choice({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    if reply.cut:
        return
    yield choice({}, "tool_calls" if reply.calls else "stop")
    read, written = playback.input_tokens, playback.thinking_tokens + playback.text_tokens
    usage = {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
        "completion_tokens_details": {"reasoning_tokens": playback.thinking_tokens},
    }
    yield _frame({**chunk, "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def history(body: dict[str, Any]) -> list[HistoryEntry]:
    """Each result is a message."""
    messages = [message for message in objects(body.get("messages")) if message["role"] not in ("system", "developer")]
    names = {
        call["id"]: call["function"]["name"] for message in messages for call in objects(message.get("tool_calls"))
    }
    return [
        HistoryEntry(
            texts_of(message.get("content")), [names[message["tool_call_id"]]] if message["role"] == "tool" else ()
        )
        for message in messages
    ]


def error_body(error: ScriptedError) -> bytes:
    kind = "server_error" if error.status >= 500 else "invalid_request_error"
    return encode_json({"error": {"message": error.message, "type": kind, "param": None, "code": None}})


def _frame(value: dict[str, Any]) -> bytes:
    return b"data: " + encode_json(value) + b"\n\n"
