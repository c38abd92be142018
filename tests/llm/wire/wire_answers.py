"""An answer in the bytes of each wire. The texts of its thinking and signatures are unique."""

import json
from collections.abc import Mapping
from typing import Any

from tark_lsp.llm.wire.wire import load_wire
from tark_lsp.messages import Message
from tests.llm.asking import built, parse
from tests.llm.wire.histories import ok, ref_of, tool

MARKS: Mapping[str, tuple[str, ...]] = {
    "openai-chat": ("ThoughtOfChat", "c2lnbmF0dXJlLW9mLWNoYXQ="),
    "openai-responses": ("ThoughtOfResponses", "c2VhbGVkLW9mLXJlc3BvbnNlcw=="),
    "anthropic-messages": ("ThoughtOfMessages", "c2lnbmF0dXJlLW9mLW1lc3NhZ2Vz", "cmVkYWN0ZWQtb2YtbWVzc2FnZXM="),
    "gemini-content": ("ThoughtOfGemini", "c2lnbmF0dXJlLW9mLWdlbWluaQ=="),
    "ollama-chat": ("ThoughtOfOllama",),
}
"""Words that stand in each wire's answer below and nowhere else: its thinking, then what it wants back unchanged."""

OWN_MARKS = {**MARKS, "gemini-content": MARKS["gemini-content"][1:]}
"""Those of them that go back to the model that made them; Gemini's thoughts are summaries, which it does not take."""


def _sse(*events: Mapping[str, Any]) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


def _chat() -> bytes:
    def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
        return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    thought, signature = MARKS["openai-chat"]
    detail = {"type": "reasoning.text", "index": 0, "format": "x"}
    function = {"name": "read_file", "arguments": '{"path":"a.py"}'}
    return (
        _sse(
            chunk(reasoning=thought, reasoning_details=[{**detail, "text": thought}]),
            chunk(reasoning_details=[{**detail, "signature": signature}]),
            chunk(content="Let me look."),
            chunk(tool_calls=[{"index": 0, "id": "chatcmpl-tool-" + "0" * 32, "function": function}]),
            chunk(tool_calls=[{"index": 1, "id": "functions.read_file:1", "function": function}]),
            chunk("tool_calls"),
            {
                "choices": [],
                "usage": {
                    "prompt_tokens": 9,
                    "completion_tokens": 9,
                    "total_tokens": 18,
                    "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
                    "completion_tokens_details": {"reasoning_tokens": 3},
                    "cost": 0.1,
                },
            },
        )
        + b"data: [DONE]\n\n"
    )


def _responses() -> bytes:
    thought, sealed = MARKS["openai-responses"]
    summary = [{"type": "summary_text", "text": thought}]
    words = {"type": "output_text", "text": "Let me look.", "annotations": []}
    items: list[dict[str, Any]] = [
        {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": sealed},
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [words]},
    ]
    for number in (1, 2):
        made = {"call_id": f"call_r{number}", "name": "read_file", "arguments": '{"path":"a.py"}'}
        items.append({"type": "function_call", "id": f"fc_{number}", "status": "completed", **made})
    events: list[dict[str, Any]] = [{"type": "response.created", "response": {"status": "in_progress"}}]
    for index, item in enumerate(items):
        start = {name: value for name, value in item.items() if name not in ("summary", "content", "arguments")}
        blank: dict[str, dict[str, Any]] = {"reasoning": {"summary": []}, "message": {"content": []}}
        begun = {**start, **blank.get(item["type"], {"arguments": ""})}
        place = {"output_index": index, "item_id": item["id"]}
        events.append({"type": "response.output_item.added", "output_index": index, "item": begun})
        match item["type"]:
            case "reasoning":
                where = {**place, "summary_index": 0}
                events += [
                    {"type": "response.reasoning_summary_text.delta", **where, "delta": thought},
                    {"type": "response.reasoning_summary_text.done", **where, "text": thought},
                ]
            case "message":
                events.append(
                    {"type": "response.output_text.delta", **place, "content_index": 0, "delta": words["text"]}
                )
            case _:
                events += [
                    {"type": "response.function_call_arguments.delta", **place, "delta": item["arguments"]},
                    {"type": "response.function_call_arguments.done", **place, "arguments": item["arguments"]},
                ]
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    details = {"input_tokens_details": {"cached_tokens": 4}, "output_tokens_details": {"reasoning_tokens": 3}}
    usage = {"input_tokens": 9, "output_tokens": 9, **details}
    events.append({"type": "response.completed", "response": {"status": "completed", "output": [], "usage": usage}})
    return _sse(*events)


def _messages() -> bytes:
    thought, signature, redacted = MARKS["anthropic-messages"]
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
        (
            {"type": "thinking", "thinking": "", "signature": ""},
            [
                {"type": "thinking_delta", "thinking": thought},
                {"type": "signature_delta", "signature": signature},
            ],
        ),
        ({"type": "redacted_thinking", "data": redacted}, []),
        ({"type": "text", "text": ""}, [{"type": "text_delta", "text": "Let me look."}]),
    ]
    for number in (1, 2):
        start = {"type": "tool_use", "id": f"toolu_{number}", "name": "read_file", "input": {}}
        blocks.append((start, [{"type": "input_json_delta", "partial_json": '{"path":"a.py"}'}]))
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"usage": {"input_tokens": 9, "cache_read_input_tokens": 4}}}
    ]
    for index, (start, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    end = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}
    return _sse(*events, end, {"type": "message_stop"})


def _gemini() -> bytes:
    thought, signature = MARKS["gemini-content"]
    made = {"functionCall": {"name": "read_file", "args": {"path": "a.py"}}}
    parts = (
        {"text": thought, "thought": True},
        {"text": "Let me look."},
        {**made, "thoughtSignature": signature},
        made,
    )
    events = [{"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]} for part in parts]
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 6, "thoughtsTokenCount": 3, "cachedContentTokenCount": 4}
    end = {"candidates": [{"content": {"role": "model", "parts": []}, "finishReason": "STOP"}], "usageMetadata": usage}
    return _sse(*events, end)


def _ollama() -> bytes:
    function = {"name": "read_file", "arguments": {"path": "a.py"}}
    messages: tuple[dict[str, Any], ...] = (
        {"content": "", "thinking": MARKS["ollama-chat"][0]},
        {"content": "Let me look."},
        {"content": "", "tool_calls": [{"function": function}]},
        {"content": "", "tool_calls": [{"function": function}]},
    )
    lines = [{"message": {"role": "assistant", **message}, "done": False} for message in messages]
    end = {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop", "eval_count": 9}
    return b"".join(json.dumps(line).encode() + b"\n" for line in (*lines, end))


ANSWERS = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic-messages": _messages,
    "gemini-content": _gemini,
    "ollama-chat": _ollama,
}


def answer_of(wire: str, model: str = "") -> Message:
    """Thinking, words and two calls as the wire's own parser read them, so with whatever echoes it makes."""
    events, failure = parse(load_wire(wire), [ANSWERS[wire]()])
    assert failure is None, failure
    message, builder = built(events, model or ref_of(wire))
    assert len(message.tool_calls) == 2
    assert not builder.incomplete_calls
    return message


def with_results(message: Message) -> tuple[Message, Message]:
    return message, tool(*(ok(made.id, f"result {number}") for number, made in enumerate(message.tool_calls, 1)))
