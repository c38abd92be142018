"""Error bodies that would take patterns long: each is classified in a moment, and its message is bounded."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from tark_lsp.errors import ContextOverflow, ModelError
from tark_lsp.llm.fallbacks import FALLBACKS, find_fallback
from tark_lsp.llm.wire.provider_errors import MESSAGE_CHARACTERS, provider_error
from tark_lsp.llm.wire.wire import TargetModel

SECONDS = 0.25
"""Milliseconds are usual; a pattern that is quadratic takes minutes for the largest of these."""

PIECES = (
    *("exceed", "exceeded ", "exceeds the ", "exceed\n", "context ", "context_length ", "longer than the ", "tokens "),
    *("maximum ", "prompt token count ", "input token count ", "input ", "model ", "a ", "x", " ", "\n", "1", "1."),
    *("try again in 1", "retry after ", "too many tokens ", "per ", "no ", "invalid_", "supported values ", "role"),
    *("role'developer", "'max_tokens'", "unknown ", "unsupported", "thinking.type", "thinking.type.enabled", "tools "),
    *("encrypted content ", "encrypted_content", "image_url ", "content'", "support ", "call id ", "thinking "),
    *("<title", "<title>", "<html", "<", "{", '"', "\\", "é", "\u2028", "\ud800"),
)
"""The starts of all patterns that contain a repetition, and of what follows them."""

SHAPES: dict[str, Callable[[str], Any]] = {
    "a message": lambda text: {"error": {"message": text}},
    "a code": lambda text: {"error": {"message": "x", "code": text}},
    "a type": lambda text: {"error": {"message": "x", "type": text}},
    "a field": lambda text: {"error": {"message": "x", "param": text}},
    "text": lambda text: text,
    "a page": lambda text: f"<html>{text}",
    "a string": lambda text: {"error": text},
    "a detail": lambda text: {"detail": [{"msg": text, "loc": [text]}]},
    "many errors": lambda text: {"errors": [{"message": text[:100]}] * (len(text) // 100)},
    "the provider behind": lambda text: {"error": {"message": "x", "metadata": {"raw": text}}},
    "reasons": lambda text: {"error": {"message": "x", "details": [{"reason": text[:100]}] * (len(text) // 100)}},
    "an unknown object": lambda text: {"error": {"odd": text}},
    "a deep object": lambda text: {"error": {"message": json.loads("[" * 900 + "]" * 900), "code": text}},
}


def classify(body: Any, status: int | None) -> ModelError:
    error = provider_error(body, status)
    find_fallback(TargetModel("p/m", "m"), error.message, FALLBACKS[:1])
    return error


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("size", [64 * 1024, 4 * 1024 * 1024], ids=["a refusal", "an event of a stream"])
def test_no_body_takes_long(shape: Callable[[str], Any], size: int) -> None:
    """An event of a stream can be as long as 16 MiB; a refusal is read up to 64 KiB."""
    pieces = PIECES if shape is SHAPES["a message"] and size < 1_000_000 else PIECES[::7]
    for piece in pieces:
        body = shape((piece * (size // len(piece) + 1))[:size])
        for status in (400, None):
            began = time.process_time()
            error = classify(body, status)
            assert time.process_time() - began < SECONDS, (piece, status)
            assert len(error.message) < MESSAGE_CHARACTERS + 500


@pytest.mark.parametrize("piece", PIECES)
def test_the_time_is_linear_even_without_the_bound(piece: str) -> None:
    """The patterns themselves: an error that is a little shorter than the bound is classified in a moment, too."""
    text = (piece * MESSAGE_CHARACTERS)[:MESSAGE_CHARACTERS]
    began = time.process_time()
    classify({"error": {"message": text}}, 400)
    assert time.process_time() - began < SECONDS / 5


def test_what_is_at_the_start_of_a_long_message_counts() -> None:
    error = provider_error({"error": {"message": "prompt is too long: 9 > 8. " + "x" * 1_000_000}}, 400)
    assert type(error) is ContextOverflow
    assert error.message.startswith("the provider refused (HTTP 400): prompt is too long: 9 > 8. xxx")
    assert error.message.endswith("...")


@pytest.mark.parametrize("length", [10, 1000, 3000])
def test_messages_of_usual_length_are_whole(length: int) -> None:
    words = "w" * length
    assert provider_error({"error": {"message": words}}, 400).message.endswith(f": {words}")
