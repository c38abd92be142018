"""Recorded answers of both wires: the same events however they are cut, and what the official SDKs made of them."""

import json
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.errors import ModelError
from tark_lsp.llm.answer import Answer
from tark_lsp.llm.events import MessageBuilder, StreamEvent
from tark_lsp.llm.wire.wire import load_wire
from tark_lsp.messages import Message, Opaque, Thinking
from tests.llm.recordings import SHARED, needs_shared, stream_bytes, stream_files

CHAT = ("openai-chat", "openai-compat", "openrouter", "ollama-openai", "copilot")
RESPONSES = b'"type":"response.created"'
"""Some of the files beside the chat streams are in OpenAI's Responses format."""

FILES = [path for path in stream_files(*CHAT, "anthropic") if RESPONSES not in path.read_bytes().replace(b": ", b":")]

LONGEST_BYTE_BY_BYTE = 200_000

pytestmark = needs_shared


def wire_of(path: Path) -> str:
    return "anthropic-messages" if path.parent.name == "anthropic" else "openai-chat"


def read(path: Path, sizes: "list[int] | int") -> tuple[list[StreamEvent], ModelError | None]:
    """Cut into pieces of `sizes` bytes, again and again."""
    body = stream_bytes(path)
    answer = Answer(load_wire(wire_of(path)).parser())
    events: list[StreamEvent] = []
    start = turn = 0
    while start < len(body) and answer.failure is None:
        size = sizes if isinstance(sizes, int) else sizes[turn % len(sizes)]
        events += answer.feed(body[start : start + size])
        start += size
        turn += 1
    if answer.failure is None:
        events += answer.close()
    return events, answer.failure


@cache
def read_whole(path: Path) -> tuple[list[StreamEvent], ModelError | None]:
    return read(path, 1 << 30)


def golden(path: Path) -> dict[str, Any]:
    name = path.name.removesuffix(".sse").removesuffix(".chunks.txt").removesuffix(".lines")
    file = SHARED / "streams" / "golden" / path.parent.name / f"{name}.json"
    if not file.exists():
        pytest.skip("no SDK has read this one")
    return dict(json.loads(file.read_text("utf-8")))


def name_of(path: Path) -> str:
    return f"{path.parent.name}-{path.name[:60]}"


def test_there_are_recordings() -> None:
    assert len(FILES) >= 100


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_cuts_change_nothing(path: Path) -> None:
    events, failure = read_whole(path)
    body = stream_bytes(path)
    seeded = random.Random(path.name)
    cuts: list[list[int] | int] = [[seeded.randint(1, 200) for _ in range(50)] for _ in range(3)]
    if len(body) <= LONGEST_BYTE_BY_BYTE:
        cuts.append(1)
    for sizes in cuts:
        again, failure_again = read(path, sizes)
        assert again == events
        assert repr(failure_again) == repr(failure)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_golden(path: Path) -> None:
    expected = golden(path)
    events, failure = read_whole(path)
    builder = MessageBuilder()
    for event in events:
        builder.add(event)
    message = builder.message("provider/model")
    assert (failure is None) == (expected["error"] is None)
    assert message.text == expected["text"]
    assert "".join(part.text for part in message.parts if isinstance(part, Thinking)) == expected["thinking"]
    check_calls([(call.id, call.name, call.arguments) for call in message.tool_calls], expected["tool_calls"])
    if failure is None:
        assert builder.raw_stop == (expected["finish"] or "")
        check_usage(builder, expected["usage"] or {})
    if "signatures" in expected:
        assert list(signatures(message)) == expected["signatures"]


def signatures(message: Message) -> Iterator[str]:
    """As golden/ has them: 40 characters of what is redacted."""
    for part in message.parts:
        match part:
            case Thinking(echo={"signature": str(signature)}):
                yield signature
            case Opaque(echo={"type": "redacted_thinking", "data": str(data)}):
                yield f"redacted:{data[:40]}"


def check_calls(calls: list[tuple[str, str, str]], expected: list[dict[str, str]]) -> None:
    assert [(call_id, name) for call_id, name, _ in calls] == [(call["id"], call["name"]) for call in expected]
    for (_, _, arguments), call in zip(calls, expected, strict=True):
        try:
            value = json.loads(arguments)
        except ValueError:  # cut off: the SDK closes what is open, we never do
            assert not call["arguments"].startswith(arguments)
            assert call["arguments"][:20] == arguments[:20]
        else:
            assert value == json.loads(call["arguments"] or "{}")


def check_usage(builder: MessageBuilder, expected: dict[str, Any]) -> None:
    usage = builder.usage
    if "prompt_tokens" in expected:
        reasoning = (expected.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0
        cached = (expected.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        assert usage.input_tokens == expected["prompt_tokens"]
        assert usage.output_tokens in (expected["completion_tokens"], expected["completion_tokens"] + reasoning)
        assert (usage.reasoning_tokens, usage.cached_tokens) == (reasoning, cached)
    else:
        read = expected.get("cache_read_input_tokens") or 0
        written = expected.get("cache_creation_input_tokens") or 0
        assert usage.input_tokens == expected.get("input_tokens", 0) + read + written
        assert usage.output_tokens == expected.get("output_tokens", 0)
        assert (usage.cached_tokens, usage.cache_write_tokens) == (read, written)
