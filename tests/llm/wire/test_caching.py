"""Prompt caching: what was sent once is sent again byte for byte, with cache marks if the wire has them."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tark_lsp.llm.provider import load_providers
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.wire.wire import WIRES, Quirks, TargetModel, load_wire
from tark_lsp.messages import Message
from tests.llm.wire.histories import HISTORIES, TOOLS, ref_of, user
from tests.llm.wire.wire_answers import answer_of, with_results

WIRE = pytest.mark.parametrize("wire", list(WIRES))
MESSAGES = {"openai-responses": "input", "gemini-content": "contents"}
"""Where a body has the conversation, if not in `messages`."""

UNMARKED = Quirks(cache_control=False, cache_key=True)


def session(wire: str) -> tuple[Message, ...]:
    """A long one: the wire's own answers, with what they want back, and all that is odd but answers without words."""
    messages: list[Message] = []
    for name, history in HISTORIES.items():
        silent = (message.role == "assistant" and not _is_said(message) for message in history)
        if any(silent) or name == "a huge result":
            continue
        messages += [
            user("Next."),
            *with_results(answer_of(wire)),
            *history,
            user("And?"),
            *with_results(answer_of(wire)),
        ]
    return tuple(messages)


def _is_said(message: Message) -> bool:
    return bool(message.text.strip() or message.tool_calls)


def requests(history: tuple[Message, ...]) -> Iterator[int]:
    """Where the model is asked: before each of its answers, but not while only the person speaks."""
    for place, message in enumerate(history):
        if message.role == "assistant" and place and history[place - 1].role != "assistant":
            yield place


def encoded(wire: str, history: tuple[Message, ...], quirks: Quirks = UNMARKED) -> bytes:
    target = TargetModel(ref_of(wire), "m", quirks)
    return load_wire(wire).encode(ChatRequest("Be brief.", history, TOOLS, session_id="s1"), target)


def taken_apart(wire: str, body: bytes) -> tuple[str, dict[str, Any]]:
    """The conversation as it was sent, open at its end, and the rest; Ollama's window may grow with the prompt."""
    name, text = MESSAGES.get(wire, "messages"), body.decode()
    start = text.index(f'"{name}":[') + len(f'"{name}":')
    _, end = json.JSONDecoder().raw_decode(text, start)
    return text[start : end - 1], {
        key: value for key, value in json.loads(body).items() if key not in (name, "options")
    }


@WIRE
def test_earlier_bytes_are_sent_again(wire: str) -> None:
    """Each request starts with the whole request before it."""
    history = session(wire)
    before: tuple[str, dict[str, Any]] | None = None
    for place in requests(history):
        said, others = taken_apart(wire, encoded(wire, history[:place]))
        if before is not None:
            assert said.startswith(before[0]), place
            assert others == before[1], place
        before = said, others


MARKED = {
    "anthropic-messages": (Quirks(), "cache_control"),
    "openai-chat": (Quirks(cache_field="cache_control"), "cache_control"),
    "copilot": (Quirks(cache_field="copilot_cache_control"), "copilot_cache_control"),
}


def marks(value: Any, field: str) -> Iterator[Any]:
    """The body without its marks."""
    if isinstance(value, dict):
        if field in value:
            assert value[field] == {"type": "ephemeral"}
            yield {name: inner for name, inner in value.items() if name != field}
        for inner in value.values():
            yield from marks(inner, field)
    elif isinstance(value, list):
        for inner in value:
            yield from marks(inner, field)


@pytest.mark.parametrize("name", list(MARKED))
def test_marks(name: str) -> None:
    """At most four, on what can bear one, and one is where the request before had its last: there the cache ends."""
    quirks, field = MARKED[name]
    wire = "openai-chat" if name == "copilot" else name
    history = session(wire)
    last: Any = None
    for place in requests(history):
        body = json.loads(encoded(wire, history[:place], quirks))
        marked = list(marks(body, field))
        assert 2 <= len(marked) <= 4
        assert all(not isinstance(block.get("text"), str) or block["text"].strip() for block in marked)
        assert not any(block.get("type") in ("thinking", "redacted_thinking") for block in marked)
        assert last is None or last in marked, place
        last = marked[-1]


@WIRE
def test_without_quirks_nothing_is_marked(wire: str) -> None:
    body = encoded(wire, session(wire)[:4])
    assert b"cache_control" not in body
    assert (b'"prompt_cache_key":"s1"' in body) == wire.startswith("openai")
    assert b"s1" not in load_wire(wire).encode(
        ChatRequest("", (user("Hi"),), session_id="s1"), TargetModel("p/m", "m", Quirks())
    )


CACHES = [
    ("anthropic", "claude-sonnet-4-5", "cache_control"),
    ("openrouter", "anthropic/claude-sonnet-4.5", "cache_control"),
    ("openrouter", "google/gemini-3-pro", "cache_control"),
    ("openrouter", "openai/gpt-5", ""),
    ("openai", "gpt-5", "prompt_cache_key"),
    ("openai", "gpt-4o", "prompt_cache_key"),
    ("gemini", "gemini-3-pro", ""),
    ("mistral", "mistral-large", ""),
    ("ollama", "qwen3", ""),
]
"""Which provider is told what; "": it caches by itself, and refuses or ignores any word of it."""


@pytest.mark.parametrize(("provider", "model", "field"), CACHES)
def test_cache_fields_of_each_provider(provider: str, model: str, field: str) -> None:
    route = load_providers()[provider].find_route(model)
    request = ChatRequest("Be brief.", (user("Hi"),), TOOLS, session_id="s1")
    body = load_wire(route.wire).encode(request, TargetModel(f"{provider}/{model}", model, route.quirks))
    told = [name for name in ("cache_control", "prompt_cache_key") if f'"{name}"'.encode() in body]
    assert told == ([field] if field else [])
