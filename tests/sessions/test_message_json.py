"""A message comes back from its JSON as it was, and nothing else is taken for one."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.messages import Image, Message, Opaque, Text, Thinking, ToolCall, ToolResult
from tark_lsp.sessions.message_json import message_of_text, message_text

TEXTS = st.text(st.characters(codec=None), max_size=20)
"""Lone surrogates, too."""
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
ECHOES = st.dictionaries(TEXTS, JSON, max_size=3)
MAYBE = st.none() | ECHOES
IMAGES = st.builds(Image, TEXTS, TEXTS)
PARTS = st.one_of(
    st.builds(Text, TEXTS, MAYBE),
    st.builds(Thinking, TEXTS, MAYBE),
    st.builds(ToolCall, TEXTS, TEXTS, TEXTS, MAYBE),
    st.builds(ToolResult, TEXTS, TEXTS, st.booleans(), st.lists(IMAGES, max_size=2).map(tuple)),
    IMAGES,
    st.builds(Opaque, ECHOES),
)
MESSAGES = st.builds(
    Message, st.sampled_from(["user", "assistant", "tool"]), st.lists(PARTS, max_size=4).map(tuple), TEXTS
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
        {"role": "user", "parts": [{"type": "opaque"}]},
        {"role": "user", "parts": [{"type": "image", "mimeType": "image/png", "data": None}]},
        {"role": "tool", "parts": [{"type": "result", "callId": "1", "content": "", "images": ["x"]}]},
        {"role": "user", "parts": [], "model": 3},
    ],
)
def test_nothing_else_is_a_message(value: Any) -> None:
    with pytest.raises(ValueError, match="no message"):
        message_of_text(json.dumps(value))
