"""A message is the same after JSON and back, and no other JSON is accepted."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.messages import Image, Message, Opaque, Text, Thinking, ToolCall, ToolResult
from tark_lsp.sessions.message_json import message_of_text, message_text, without_echoes

TEXTS = st.text(st.characters(codec=None), max_size=20)
"""With lone surrogates."""
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
ECHOES = st.dictionaries(TEXTS, JSON, max_size=3)
MAYBE = st.none() | ECHOES
IMAGES = st.builds(Image, TEXTS, TEXTS)
ASSISTANT = st.one_of(
    st.builds(Text, TEXTS, MAYBE),
    st.builds(Thinking, TEXTS, MAYBE),
    st.builds(ToolCall, TEXTS, TEXTS, TEXTS, MAYBE),
    st.builds(Opaque, ECHOES),
)
PARTS: dict[str, st.SearchStrategy[Any]] = {
    "user": st.builds(Text, TEXTS, MAYBE) | IMAGES,
    "assistant": ASSISTANT,
    "tool": st.builds(ToolResult, TEXTS, TEXTS, st.booleans(), st.lists(IMAGES, max_size=2).map(tuple)),
}
MESSAGES = st.sampled_from(["user", "assistant", "tool"]).flatmap(
    lambda role: st.builds(Message, st.just(role), st.lists(PARTS[role], max_size=4).map(tuple), TEXTS)
)


@given(MESSAGES)
def test_all_of_it_comes_back(message: Message) -> None:
    stored = message_text(message)
    assert stored.isascii()
    assert message_of_text(stored) == message


def test_an_empty_echo_is_not_none() -> None:
    message = Message("assistant", (Thinking("", {}), Text("a")))
    parts = message_of_text(message_text(message)).parts
    assert [getattr(part, "echo", 0) for part in parts] == [{}, None]


def test_without_what_only_its_provider_understands() -> None:
    parts = Text("a", {"x": 1}), Thinking("b", {"signature": "s"}), Opaque({"y": 2}), ToolCall("1", "n", "{}", {})
    kept = Text("a"), Thinking("b"), ToolCall("1", "n", "{}")
    assert without_echoes(Message("assistant", parts, "p/m")) == Message("assistant", kept, "p/m")
    seen = Message("user", (Text("a"), Image("image/png", "AAAA")))
    assert without_echoes(seen) == seen


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"role": "user"},
        {"role": "system", "parts": []},
        {"role": "user", "parts": 1},
        {"role": "user", "parts": [1]},
        {"role": "user", "parts": [{"type": "video"}]},
        {"role": "user", "parts": [{"type": ["text"]}]},
        {"role": "user", "parts": [{"type": "text"}]},
        {"role": "user", "parts": [{"type": "text", "text": 1}]},
        {"role": "user", "parts": [{"type": "text", "text": "", "echo": "e"}]},
        {"role": "assistant", "parts": [{"type": "opaque"}]},
        {"role": ["user"], "parts": []},
        {"role": "user", "parts": [{"type": "opaque", "echo": {}}]},
        {"role": "user", "parts": [{"type": "thinking", "text": "a"}]},
        {"role": "user", "parts": [{"type": "call", "id": "1", "name": "n", "arguments": "{}"}]},
        {"role": "user", "parts": [{"type": "result", "callId": "1", "content": ""}]},
        {"role": "assistant", "parts": [{"type": "result", "callId": "1", "content": ""}]},
        {"role": "assistant", "parts": [{"type": "image", "mimeType": "image/png", "data": ""}]},
        {"role": "tool", "parts": [{"type": "text", "text": "a"}]},
        {"role": "user", "parts": [{"type": "image", "mimeType": "image/png", "data": None}]},
        {"role": "tool", "parts": [{"type": "result", "callId": "1", "content": "", "images": ["x"]}]},
        {"role": "user", "parts": [], "model": 3},
    ],
)
def test_nothing_else_is_a_message(value: Any) -> None:
    with pytest.raises(ValueError, match="not a message"):
        message_of_text(json.dumps(value))
