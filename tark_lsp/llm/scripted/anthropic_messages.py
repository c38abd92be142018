"""Encodes answers as Anthropic streams them, and reads the messages of such a request."""

from collections.abc import Iterator
from typing import Any

from tark_lsp.llm.scripted.playback import HistoryEntry, Playback, arguments_text, objects, texts_of
from tark_lsp.llm.scripted.scenario import ScriptedError
from tark_lsp.llm.wire.json_values import encode_json

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def frames(playback: Playback) -> Iterator[bytes]:
    reply = playback.reply
    index = 0

    def block(start: dict[str, Any], deltas: list[dict[str, Any]]) -> Iterator[bytes]:
        nonlocal index
        yield _event("content_block_start", index=index, content_block=start)
        for delta in deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
        index += 1

    usage = {"input_tokens": playback.input_tokens, "output_tokens": 1}
    message = {"id": "msg_script", "type": "message", "role": "assistant", "model": playback.model, "content": []}
    yield _event("message_start", message={**message, "stop_reason": None, "stop_sequence": None, "usage": usage})
    if reply.thinking:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in playback.pieces(reply.thinking)]
        deltas.append({"type": "signature_delta", "signature": "scripted"})
        yield from block({"type": "thinking", "thinking": "", "signature": ""}, deltas)
    if reply.text:
        deltas = [{"type": "text_delta", "text": piece} for piece in playback.pieces(reply.text)]
        yield from block({"type": "text", "text": ""}, deltas)
    for number, call in playback.calls:
        start = {"type": "tool_use", "id": f"toolu_script_{number}", "name": call.name, "input": {}}
        pieces = playback.pieces(arguments_text(call))
        yield from block(start, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces])
    if reply.cut:
        return
    stop = {"stop_reason": "tool_use" if reply.calls else "end_turn", "stop_sequence": None}
    yield _event("message_delta", delta=stop, usage={"output_tokens": playback.thinking_tokens + playback.text_tokens})
    yield _event("message_stop")


def history(body: dict[str, Any]) -> list[HistoryEntry]:
    """One message holds all results of an answer."""
    said: list[HistoryEntry] = []
    names: dict[str, str] = {}
    for message in objects(body.get("messages")):
        texts, results = texts_of(message["content"]), []
        for block in objects(message["content"]):
            if block["type"] == "tool_use":
                names[block["id"]] = block["name"]
            elif block["type"] == "tool_result":
                results.append(names[block["tool_use_id"]])
                texts += texts_of(block.get("content"))
        said.append(HistoryEntry(texts, results))
    return said


def error_body(error: ScriptedError) -> bytes:
    kind = ERROR_TYPES.get(error.status, "api_error")
    return encode_json({"type": "error", "error": {"type": kind, "message": error.message}, "request_id": "req_script"})


def _event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\n".encode() + b"data: " + encode_json({"type": kind, **fields}) + b"\n\n"
