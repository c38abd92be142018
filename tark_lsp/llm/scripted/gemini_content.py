"""Encodes answers as Gemini streams them, and reads the contents of such a request.

As in the recordings: lines end with CR LF, JSON has a space after its colons, every chunk has the token counts so far,
calls come whole and without ids, the first call has the signature, an empty text at the end can have a signature, and
no marker ends the stream.
"""

import json
from collections.abc import Iterator
from typing import Any

from tark_lsp.llm.scripted.playback import HistoryEntry, Playback, arguments_object, arguments_text, objects, texts_of
from tark_lsp.llm.scripted.scenario import ScriptedError

STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def frames(playback: Playback) -> Iterator[bytes]:
    reply = playback.reply
    signature = f"c2NyaXB0ZWQ{playback.first_call:05d}"
    for piece in playback.pieces(reply.thinking):
        yield _chunk(playback, {"text": piece, "thought": True})
    for piece in playback.pieces(reply.text):
        yield _chunk(playback, {"text": piece})
    for index, call in enumerate(reply.calls):
        arguments = arguments_object(call)
        if arguments is None:  # Gemini never sends a broken call: it ends with a finish reason for that
            message = f"Malformed function call: {call.name}({arguments_text(call)})"
            yield _chunk(playback, {"text": ""}, finishReason="MALFORMED_FUNCTION_CALL", finishMessage=message)
            return
        part: dict[str, Any] = {"functionCall": {"name": call.name, "args": arguments}}
        if index == 0:
            part["thoughtSignature"] = signature
        yield _chunk(playback, part)
    if reply.cut:
        return
    if reply.calls:
        yield _chunk(playback, {"text": ""}, finishReason="STOP", finishMessage="Model generated function call(s).")
    else:
        yield _chunk(playback, {"text": "", "thoughtSignature": signature}, finishReason="STOP")


def _chunk(playback: Playback, part: dict[str, Any], **finish: str) -> bytes:
    usage: dict[str, Any] = {"promptTokenCount": playback.input_tokens, "candidatesTokenCount": playback.text_tokens}
    usage["totalTokenCount"] = playback.input_tokens + playback.text_tokens + playback.thinking_tokens
    usage["promptTokensDetails"] = [{"modality": "TEXT", "tokenCount": playback.input_tokens}]
    if playback.thinking_tokens:
        usage["thoughtsTokenCount"] = playback.thinking_tokens
    response = {
        "candidates": [{"content": {"parts": [part], "role": "model"}, **finish, "index": 0}],
        "usageMetadata": usage,
        "modelVersion": playback.model,
        "responseId": f"script-{playback.first_call}",
    }
    return b"data: %b\r\n\r\n" % json.dumps(response, ensure_ascii=False, separators=(",", ": ")).encode()


def history(body: dict[str, Any]) -> list[HistoryEntry]:
    """All results of an answer are parts of one content, and name their tools."""
    said: list[HistoryEntry] = []
    for content in objects(body.get("contents")):
        parts = objects(content["parts"])
        results = [part["functionResponse"] for part in parts if "functionResponse" in part]
        texts = texts_of(parts)
        for result in results:
            texts += [value for value in result["response"].values() if isinstance(value, str)]
        said.append(HistoryEntry(texts, [result["name"] for result in results]))
    return said


def error_body(error: ScriptedError) -> bytes:
    """The body says how long to wait."""
    error_info: dict[str, Any] = {"code": error.status, "message": error.message}
    error_info["status"] = STATUSES.get(error.status, "UNKNOWN")
    if error.retry_after is not None:
        kind = "type.googleapis.com/google.rpc.RetryInfo"
        error_info["details"] = [{"@type": kind, "retryDelay": f"{error.retry_after}s"}]
    return json.dumps({"error": error_info}, ensure_ascii=False, indent=2).encode()
