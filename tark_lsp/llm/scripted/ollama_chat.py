"""Encodes answers as Ollama streams them, one JSON document per line, and reads the messages of such a request."""

from collections.abc import Iterator
from typing import Any

from tark_lsp.llm.scripted.playback import HistoryEntry, Playback, arguments_object, arguments_text, objects, texts_of
from tark_lsp.llm.scripted.scenario import ScriptedError
from tark_lsp.llm.wire.json_values import encode_json


def frames(playback: Playback) -> Iterator[bytes]:
    """Calls come whole, one per line, the first without an index. The last line has the token counts."""
    reply = playback.reply
    for piece in playback.pieces(reply.thinking):
        yield _line(playback, {"content": "", "thinking": piece})
    for piece in playback.pieces(reply.text):
        yield _line(playback, {"content": piece})
    for index, call in enumerate(reply.calls):
        arguments = arguments_object(call)
        if arguments is None:  # the server parses the model's calls itself, and fails on a broken one
            raw = arguments_text(call)
            yield encode_json({"error": f"error parsing tool call: raw='{raw}', err=invalid character"}) + b"\n"
            return
        place = {"index": index} if index else {}
        function = {**place, "name": call.name, "arguments": arguments}
        yield _line(playback, {"content": "", "tool_calls": [{"function": function}]})
    if reply.cut:
        return
    yield _line(
        playback,
        {"content": ""},
        done_reason="stop",
        done=True,
        total_duration=3_000_000,
        load_duration=1_000_000,
        prompt_eval_count=playback.input_tokens,
        prompt_eval_duration=1_000_000,
        eval_count=playback.thinking_tokens + playback.text_tokens,
        eval_duration=1_000_000,
    )


def _line(playback: Playback, message: dict[str, Any], **ending: Any) -> bytes:
    line = {"model": playback.model, "created_at": f"2026-01-01T00:00:00.{playback.first_call:06d}Z"}
    return encode_json({**line, "message": {"role": "assistant", **message}, **(ending or {"done": False})}) + b"\n"


def history(body: dict[str, Any]) -> list[HistoryEntry]:
    """Each result is a message, which names its tool."""
    return [
        HistoryEntry(texts_of(message.get("content")), [message["tool_name"]] if message["role"] == "tool" else ())
        for message in objects(body.get("messages"))
        if message["role"] != "system"
    ]


def error_body(error: ScriptedError) -> bytes:
    return encode_json({"error": error.message})
