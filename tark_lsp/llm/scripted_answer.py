"""A scripted reply as the bytes a real provider would send, and the last message out of the bytes of a request."""

import json
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from tark_lsp.llm.scenario import Asked, Reply, ScriptedCall
from tark_lsp.llm.wire.json_values import decode_any, encode

CHARACTERS_PER_TOKEN = 4
"""Scripts have usage, too, so that everything that counts tokens is exercised; it is reckoned, not measured."""


def read_request(body: bytes) -> Asked:
    """The last message of a request of either wire. Raises ProtocolError for a body that is no JSON."""
    sent = decode_any(body).get("messages") or ()
    messages = [message for message in sent if message.get("role") not in ("system", "developer")] or [{}]
    names = {call_id: name for message in messages for call_id, name in _calls(message)}
    last: list[dict[str, Any]] = [messages[-1]]
    if last[0].get("role") == "tool":  # Chat: one message for each result
        earlier = [message.get("role") == "tool" for message in messages]
        first = len(earlier) - earlier[::-1].index(False) if False in earlier else 0
        last = messages[first:]
    texts: list[str] = []
    ids: list[str] = []
    for message in last:
        ids.append(message.get("tool_call_id", ""))
        for block in _blocks(message.get("content")):
            texts.append(block.get("text", ""))
            if block.get("type") == "tool_result":
                ids.append(block.get("tool_use_id", ""))
                texts += [inner.get("text", "") for inner in _blocks(block.get("content"))]
    return Asked("\n".join(text for text in texts if text), tuple(names[id_] for id_ in ids if id_ in names))


def _blocks(content: object) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _calls(message: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for call in message.get("tool_calls") or ():
        yield call["id"], call["function"]["name"]
    for block in _blocks(message.get("content")):
        if block.get("type") == "tool_use":
            yield block["id"], block["name"]


Frames: TypeAlias = Iterator[bytes]
"""One SSE event each."""


def _chat_frames(reply: Reply, model: str, tokens: tuple[int, int], first_call: int) -> Frames:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        return _frame(
            {
                "id": "chatcmpl-script",
                "object": "chat.completion.chunk",
                "created": 0,
                "model": model,
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
            }
        )

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(reply.thinking, reply.chunk):
        yield chunk({"reasoning_content": piece})
    for piece in _pieces(reply.text, reply.chunk):
        yield chunk({"content": piece})
    for index, call in enumerate(reply.calls):
        function = {"name": call.name, "arguments": ""}
        call_id = f"call_script_{first_call + index}"
        yield chunk({"tool_calls": [{"index": index, "id": call_id, "type": "function", "function": function}]})
        for piece in _pieces(_arguments(call), reply.chunk):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    if reply.cut:
        return
    yield chunk({}, "tool_calls" if reply.calls else "stop")
    read, written = tokens
    usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    yield _frame({"id": "chatcmpl-script", "object": "chat.completion.chunk", "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def _messages_frames(reply: Reply, model: str, tokens: tuple[int, int], first_call: int) -> Frames:
    index = 0

    def event(kind: str, **fields: Any) -> bytes:
        return f"event: {kind}\n".encode() + _frame({"type": kind, **fields})

    def block(start: dict[str, Any], deltas: list[dict[str, Any]]) -> Frames:
        nonlocal index
        yield event("content_block_start", index=index, content_block=start)
        for delta in deltas:
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
        index += 1

    read, written = tokens
    usage = {"input_tokens": read, "output_tokens": 1}
    message = {"id": "msg_script", "type": "message", "role": "assistant", "model": model, "content": []}
    yield event("message_start", message={**message, "stop_reason": None, "stop_sequence": None, "usage": usage})
    if reply.thinking:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(reply.thinking, reply.chunk)]
        deltas.append({"type": "signature_delta", "signature": "scripted"})
        yield from block({"type": "thinking", "thinking": "", "signature": ""}, deltas)
    if reply.text:
        deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(reply.text, reply.chunk)]
        yield from block({"type": "text", "text": ""}, deltas)
    for number, call in enumerate(reply.calls):
        start = {"type": "tool_use", "id": f"toolu_script_{first_call + number}", "name": call.name, "input": {}}
        pieces = _pieces(_arguments(call), reply.chunk)
        yield from block(start, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces])
    if reply.cut:
        return
    stop = {"stop_reason": "tool_use" if reply.calls else "end_turn", "stop_sequence": None}
    yield event("message_delta", delta=stop, usage={"output_tokens": written})
    yield event("message_stop")


FRAMES: dict[str, Callable[[Reply, str, tuple[int, int], int], Frames]] = {
    "openai-chat": _chat_frames,
    "anthropic-messages": _messages_frames,
}


def answer_frames(reply: Reply, wire: str, request_body: bytes, first_call: int) -> Frames:
    """The reply in SSE events of `wire`. `first_call`: the number its first call gets, to keep ids unique."""
    model = str(decode_any(request_body).get("model", ""))
    written = len(reply.thinking) + len(reply.text) + sum(len(_arguments(call)) for call in reply.calls)
    tokens = (len(request_body) // CHARACTERS_PER_TOKEN, written // CHARACTERS_PER_TOKEN + 1)
    return FRAMES[wire](reply, model, tokens, first_call)


def error_body(reply: Reply, wire: str) -> bytes:
    """The body of `reply.error`, as providers of this wire shape it."""
    message = reply.error.message if reply.error else ""
    if wire == "anthropic-messages":
        return encode({"type": "error", "error": {"type": "scripted_error", "message": message}})
    return encode({"error": {"message": message, "type": "scripted_error", "param": None, "code": None}})


def _frame(value: dict[str, Any]) -> bytes:
    return b"data: " + encode(value) + b"\n\n"


def _arguments(call: ScriptedCall) -> str:
    return json.dumps(call.arguments, ensure_ascii=False) if call.arguments_json is None else call.arguments_json


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))
