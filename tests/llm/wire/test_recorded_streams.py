"""Recorded answers of every wire: the same events however they are cut, and what the official SDKs made of them.

`gemini-json-array` is left out: those are answers without `alt=sse`, which we always ask for.
"""

import base64
import json
import pickle
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.errors import ModelError
from tark_lsp.llm.answer import AnswerDecoder
from tark_lsp.llm.events import Done, MessageBuilder, StreamEvent, ToolCallComplete
from tark_lsp.llm.wire.wire import load_wire
from tark_lsp.messages import FIND_TOOLS, Message, Opaque, Text, Thinking, ToolCall, Usage
from tests.cases import every
from tests.exhaustive import examples
from tests.llm.wire.recordings import SHARED, needs_shared, stream_bytes, stream_files

WIRE_OF_FOLDER = {
    "openai-chat": "openai-chat",
    "openai-compat": "openai-chat",
    "openrouter": "openai-chat",
    "ollama-openai": "openai-chat",
    "copilot": "openai-chat",
    "anthropic": "anthropic-messages",
    "openai-responses": "openai-responses",
    "responses-compat": "openai-responses",
    "gemini": "gemini-content",
    "ollama": "ollama-chat",
}
RESPONSES = b'"type":"response.created"'
"""Some of the files beside the chat streams are in OpenAI's Responses format."""

OLLAMA_GENERATE = b'"response":'
"""Some of Ollama's are of /api/generate, which has no conversation: we never ask it."""

FILES = [
    path
    for path in stream_files(*WIRE_OF_FOLDER)
    if not (path.parent.name == "ollama" and OLLAMA_GENERATE in path.read_bytes())
]

LONGEST_BYTE_BY_BYTE = 200_000
LONGEST_CUT_EVERYWHERE = 1_000
MOST_CUTS = examples(45)

pytestmark = needs_shared


def wire_of(path: Path) -> str:
    wire = WIRE_OF_FOLDER[path.parent.name]
    responses = wire == "openai-chat" and RESPONSES in path.read_bytes().replace(b": ", b":")
    return "openai-responses" if responses else wire


def opened(path: Path) -> AnswerDecoder:
    wire = load_wire(wire_of(path))
    return AnswerDecoder(wire.parser(), wire.framing)


def read(path: Path, sizes: "list[int] | int") -> tuple[list[StreamEvent], ModelError | None]:
    """Cut into pieces of `sizes` bytes, again and again."""
    body = stream_bytes(path)
    answer = opened(path)
    events: list[StreamEvent] = []
    start = turn = 0
    while start < len(body) and answer.failure is None:
        size = sizes if isinstance(sizes, int) else sizes[turn % len(sizes)]
        events += answer.feed_bytes(body[start : start + size])
        start += size
        turn += 1
    if answer.failure is None:
        events += answer.close()
    return events, answer.failure


@cache
def read_whole(path: Path) -> tuple[list[StreamEvent], ModelError | None]:
    return read(path, 1 << 30)


def built(events: list[StreamEvent]) -> tuple[Message, MessageBuilder]:
    builder = MessageBuilder()
    for event in events:
        builder.add_event(event)
    return builder.build_message("provider/model"), builder


def golden(path: Path) -> dict[str, Any]:
    name = path.name.removesuffix(".sse").removesuffix(".chunks.txt").removesuffix(".lines")
    file = SHARED / "streams" / "golden" / path.parent.name / f"{name}.json"
    if not file.exists():
        pytest.skip("no SDK has read this one")
    return dict(json.loads(file.read_text("utf-8")))


def name_of(path: Path) -> str:
    return f"{path.parent.name}-{path.name[:60]}"


def test_there_are_recordings() -> None:
    assert len(FILES) >= 180
    assert {wire_of(path) for path in FILES} == set(WIRE_OF_FOLDER.values())


@pytest.mark.slow  # it takes seconds
@every("path", FILES, name_of)
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


# --- cut off anywhere ---------------------------------------------------------------------------------------------


def places_to_cut(path: Path, body: bytes) -> list[int]:
    """Every byte of a short answer; of a long one the ends of its lines, the bytes about them, and others by chance."""
    if len(body) <= LONGEST_CUT_EVERYWHERE:
        return list(range(len(body) + 1))
    seeded = random.Random(path.name)
    ends = [place for place, byte in enumerate(body) if byte == ord("\n")]
    ends = ends if len(ends) <= MOST_CUTS // 3 else seeded.sample(ends, MOST_CUTS // 3)
    near = {place + shift for place in ends for shift in (-1, 0, 1, 2)}
    return sorted(near | {seeded.randrange(len(body)) for _ in range(MOST_CUTS // 3)} & set(range(len(body) + 1)))


def cuts(path: Path) -> Iterator[tuple[int, list[StreamEvent], ModelError | None]]:
    """What an answer is that ends there; a copy of the one that goes on is closed, so each byte is read once."""
    body = stream_bytes(path)
    answer = opened(path)
    events: list[StreamEvent] = []
    start = 0
    for place in places_to_cut(path, body):
        if answer.failure is None:
            events += answer.feed_bytes(body[start:place])
        start = place
        ending = pickle.loads(pickle.dumps(answer, pickle.HIGHEST_PROTOCOL))  # faster than deepcopy
        last = ending.close() if ending.failure is None else []
        yield place, events + last, ending.failure


@pytest.mark.slow
@pytest.mark.property
@every("path", FILES, name_of)
def test_cut_off_anywhere(path: Path) -> None:
    """It is done or a named error, and no call is complete that is not wholly there."""
    whole, _ = read_whole(path)
    complete = [event for event in whole if isinstance(event, ToolCallComplete)]
    message = built(whole)[0]
    checked: tuple[list[StreamEvent], str] | None = None
    for place, events, failure in cuts(path):
        if checked == (events, repr(failure)):
            continue  # the same answer as one byte before
        checked = events, repr(failure)
        ended = [event for event in events if isinstance(event, Done)]
        assert len(ended) == (failure is None), place
        assert failure is None or (type(failure) is not ModelError and failure.code), place
        given = [event for event in events if isinstance(event, ToolCallComplete)]
        assert given == complete[: len(given)], place
        made = built(events)[0]
        assert is_beginning(made, message), place
        if failure is None and path.parent.name != "gemini":  # its end is the body's end and nothing else
            assert given == complete, place
            assert made.text == message.text, place


def is_beginning(message: Message, whole: Message) -> bool:
    calls, all_calls = message.tool_calls, whole.tool_calls
    if [(call.id, call.name) for call in calls] != [(call.id, call.name) for call in all_calls[: len(calls)]]:
        return False
    return whole.text.startswith(message.text) and thoughts(whole).startswith(thoughts(message))


def thoughts(message: Message) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, Thinking))


# --- against the SDKs ---------------------------------------------------------------------------------------------


SDK_MISSES_THE_END = {
    "openai-stream-multiple-output-items": "written by hand, without fields that the SDK needs to see the end",
    "vertexai-streaming-failure-empty-content": "no finish reason: the SDK takes it for an answer, it is a broken one",
    "vertexai-streaming-failure-invalid-json": "not an answer at all: the SDK takes it for an empty one",
}
"""Why we say something else of how an answer ended."""


@every("path", FILES, name_of)
def test_golden(path: Path) -> None:
    expected = golden(path)
    events, failure = read_whole(path)
    message, builder = built(events)
    silent = any(name in path.name for name in SDK_MISSES_THE_END)
    assert silent or (failure is None) == (expected["error"] is None)
    assert message.text == expected["text"] or (blocked(expected) and blocked(expected) in message.text)
    assert thoughts(message) == expected["thinking"]
    check_calls(message, expected["tool_calls"])
    if failure is None and not silent:
        assert builder.raw_stop == (expected["finish"] or blocked(expected))
        check_usage(builder.usage, expected["usage"] or {})
    check_signatures(message, expected)


def blocked(expected: dict[str, Any]) -> str:
    """Gemini's reason where it refused the question: there is no answer, so our words say why."""
    return str(expected.get("prompt_feedback", {}).get("block_reason", ""))


def check_signatures(message: Message, expected: dict[str, Any]) -> None:
    """As golden/ has them: Anthropic's whole, 40 characters of what is redacted; Gemini's lengths; a count."""
    given = list(signatures(message))
    match expected["parser"]:
        case "messages":
            assert given == expected["signatures"]
        case "gemini":
            assert [len(base64.b64decode(value)) for value in given] == expected["signatures"]
        case "responses":
            compacted = [
                part for part in message.parts if isinstance(part, Opaque) and part.echo.get("encrypted_content")
            ]
            assert len(given) + len(compacted) == expected["encrypted"]


def signatures(message: Message) -> Iterator[str]:
    """What proves that thinking is the model's own."""
    for part in message.parts:
        match part:
            case Opaque({"type": "redacted_thinking", "data": str(data)}):
                yield f"redacted:{data[:40]}"
            case Thinking(echo={"signature": str(value)}):
                yield value
            case Thinking(echo={"encrypted_content": str(value)}) if value:
                yield value
            case Text(echo={"thoughtSignature": str(value)}) | Thinking(echo={"thoughtSignature": str(value)}):
                yield value
            case ToolCall(echo={"thoughtSignature": str(value)}) | Opaque({"thoughtSignature": str(value)}):
                yield value


def check_calls(message: Message, expected: list[dict[str, Any]]) -> None:
    """Vertex can send arguments piece by piece, which the SDK leaves in pieces: calls without a name."""
    calls = [call for call in message.tool_calls if call.name != FIND_TOOLS]  # no call to the SDK, but ours to answer
    pieces: list[list[dict[str, Any]]] = []
    for call in expected:
        if call["name"]:
            pieces.append([])
        pieces[-1] += call.get("partial", {}).get("partial_args", [])
    named = [call for call in expected if call["name"]]
    assert [call.name for call in calls] == [call["name"] for call in named]
    for made, call, parts in zip(calls, named, pieces, strict=True):
        assert made.id
        assert call["id"] in (made.id, None)
        try:
            value = json.loads(made.arguments)
        except ValueError:  # cut off: the SDK closes what is open, we never do
            assert not call["arguments"].startswith(made.arguments)
            assert call["arguments"][:20] == made.arguments[:20]
        else:
            assert (
                dict(leaves(value)) == put_together(parts) if parts else value == json.loads(call["arguments"] or "{}")
            )


def leaves(value: Any, place: str = "$") -> Iterator[tuple[str, Any]]:
    match value:
        case dict():
            for name, inner in value.items():
                yield from leaves(inner, f"{place}.{name}")
        case list():
            for index, inner in enumerate(value):
                yield from leaves(inner, f"{place}[{index}]")
        case _:
            yield place, value


def put_together(pieces: list[dict[str, Any]]) -> dict[str, Any]:
    """The value at each place: strings add up, the rest comes whole."""
    values: dict[str, Any] = {}
    for piece in pieces:
        kind = next((name for name in piece if name.endswith("_value")), "null_value")
        if kind == "string_value":
            values[piece["json_path"]] = values.get(piece["json_path"], "") + piece[kind]
        else:
            values[piece["json_path"]] = None if kind == "null_value" else piece[kind]
    return values


def check_usage(usage: Usage, expected: dict[str, Any]) -> None:
    def count(*names: str) -> int:
        value: Any = expected
        for name in names:
            value = (value or {}).get(name)
        return value or 0

    cached: tuple[int, int] = (0, 0)
    match expected:
        case {"prompt_tokens": int(prompt)}:  # Chat; xAI counts reasoning beside the completion, Vercel Gemini's
            reasoning = count("completion_tokens_details", "reasoning_tokens")
            output = count("completion_tokens")
            assert usage.output_tokens in (output, output + reasoning)
            beside = reasoning > output or count("total_tokens") == prompt + output + reasoning
            assert usage.output_tokens == output or beside
            total, cached = prompt + usage.output_tokens, (count("prompt_tokens_details", "cached_tokens"), 0)
            cached = (cached[0], count("prompt_tokens_details", "cache_write_tokens"))
        case {"total_token_count": int(total)}:  # Gemini
            reasoning, cached = count("thoughts_token_count"), (count("cached_content_token_count"), 0)
            assert usage.output_tokens == count("candidates_token_count") + reasoning
        case {"total_tokens": int(total)}:  # Responses
            reasoning = count("output_tokens_details", "reasoning_tokens")
            details = ("cached_tokens", "cache_write_tokens")
            cached = (count("input_tokens_details", details[0]), count("input_tokens_details", details[1]))
            assert usage.output_tokens == count("output_tokens")
        case _:  # Anthropic: what was cached stands beside the input
            reasoning, cached = 0, (count("cache_read_input_tokens"), count("cache_creation_input_tokens"))
            total = count("input_tokens") + sum(cached) + count("output_tokens")
    assert usage.input_tokens + usage.output_tokens == total
    assert usage.reasoning_tokens == reasoning
    assert (usage.cached_tokens, usage.cache_write_tokens) == cached
