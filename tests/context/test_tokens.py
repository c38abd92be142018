"""Estimates against the counts of o200k_base, and that they are linear, whatever the text."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.context.tokens import (
    IMAGE_TOKENS,
    SAMPLE_CHARACTERS,
    SAMPLES,
    SizeCache,
    definition_tokens,
    format_tokens,
    message_tokens,
    text_tokens,
)
from tark_lsp.messages import Image, Message, Opaque, Text, Thinking, ToolCall, ToolDefinition, ToolResult

SAMPLE: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "token_samples.json").read_text("utf-8"))
"""Texts, each with its tokens by o200k_base."""


@pytest.mark.parametrize("name", SAMPLE)
def test_estimates_are_near_a_real_tokenizer(name: str) -> None:
    text, tokens = SAMPLE[name]["text"], SAMPLE[name]["tokens"]
    low, high = (0.65, 1.4) if name in ("base64", "russian", "chinese") else (0.85, 1.2)
    assert low < text_tokens(text) / tokens < high


@given(st.text(max_size=300), st.text(max_size=300))
def test_a_text_takes_no_less_than_its_parts_but_for_what_joins(one: str, other: str) -> None:
    assert text_tokens("") == 0
    assert text_tokens(one) >= 0
    assert abs(text_tokens(one + other) - text_tokens(one) - text_tokens(other)) < 3


@given(st.text(alphabet=st.characters(exclude_categories=()), min_size=1, max_size=50))
def test_any_text_has_a_size(text: str) -> None:
    assert text_tokens(text) < 3.5 * len(text) + 1


@pytest.mark.parametrize("unit", ["a", "1", ".", "中", "\n", "🎉", "word ", "\ud800"])
def test_a_very_long_text_is_sampled(unit: str) -> None:
    few = unit * 10_000
    many = unit * (16 * SAMPLES * SAMPLE_CHARACTERS // len(unit))
    tracemalloc.start()
    tokens = text_tokens(many)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < len(many), "bytes; to look at all of it takes several for each character"
    assert tokens / len(many) == pytest.approx(text_tokens(few) / len(few), rel=0.01, abs=1e-4)


ECHO: dict[str, Any] = {"signature": "x" * 800, "deep": [{"more": "y" * 80}], "number": 7}
PARTS: dict[str, tuple[Message, float]] = {
    "an image": (Message("user", (Image("image/png", "A" * 1_000_000),)), IMAGE_TOKENS),
    "a result with images": (
        Message("tool", (ToolResult("1", "", images=(Image("image/png", ""),) * 2),)),
        2 * IMAGE_TOKENS,
    ),
    "an echo": (Message("assistant", (Thinking("", ECHO),)), 110),
    "an opaque part": (Message("assistant", (Opaque(ECHO),)), 110),
    "a call": (Message("assistant", (ToolCall("1", "read_file", "{}"),)), text_tokens("read_file") + text_tokens("{}")),
}


@pytest.mark.parametrize("name", PARTS)
def test_messages(name: str) -> None:
    message, tokens = PARTS[name]
    assert tokens <= message_tokens(message) <= tokens + 20


def test_a_tool_is_its_name_its_words_and_its_schema() -> None:
    small = ToolDefinition("read", "Reads.")
    large = ToolDefinition("read", "Reads.", {"properties": {"path": {"description": "a word " * 100}}})
    assert definition_tokens(small) < 25
    assert definition_tokens(large) > definition_tokens(small) + 180


def test_each_message_is_estimated_once_and_forgotten_with_the_history() -> None:
    first, second = (Message("user", (Text(word),)) for word in ("one", "two"))
    sizes = SizeCache(message_tokens)
    assert sizes.sizes_of([first, second, first]) == [message_tokens(item) for item in (first, second, first)]
    assert sizes.sizes_of([second]) == [message_tokens(second)]
    assert len(sizes._known) == 1
    assert sizes.sizes_of([]) == []


@pytest.mark.parametrize(
    ("tokens", "words"),
    [(0, "0"), (812, "812"), (999.4, "999"), (999.6, "1.0k"), (1_249, "1.2k"), (13_400, "13k"), (2_600_000, "2.6M")],
)
def test_for_people(tokens: float, words: str) -> None:
    assert format_tokens(tokens) == words
