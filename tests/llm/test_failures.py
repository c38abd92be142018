"""What providers say when they refuse: real bodies, each with the error it is."""

import json
from typing import Any

import pytest

from tark_lsp.errors import (
    AuthenticationFailed,
    BadRequest,
    ContextOverflow,
    ModelError,
    ModelNotFound,
    ModelTimeout,
    Overloaded,
    QuotaExceeded,
    RateLimited,
)
from tark_lsp.llm.wire.failures import failure
from tests.llm.recordings import SHARED, needs_shared

BODIES: dict[str, tuple[int | None, Any, type[ModelError], str]] = {
    "Anthropic": (
        401,
        {"error": {"type": "authentication_error", "message": "invalid x-api-key"}},
        AuthenticationFailed,
        "x-api-key",
    ),
    "xAI, a bad key as 400": (
        400,
        {"code": "x", "error": "Incorrect API key provided."},
        AuthenticationFailed,
        "Incorrect",
    ),
    "Gemini, a bad key as 400": (
        400,
        {"error": {"code": 400, "message": "No.", "details": [{"reason": "API_KEY_INVALID"}]}},
        AuthenticationFailed,
        "API_KEY_INVALID",
    ),
    "Mistral": (401, {"detail": "Invalid API Key"}, AuthenticationFailed, "Invalid"),
    "Ollama calls its 401 an api_error": (
        401,
        {"error": {"message": "Unauthorized", "type": "api_error"}},
        AuthenticationFailed,
        "",
    ),
    "a list": (429, [{"error": {"code": 429, "message": "slow"}}], RateLimited, "slow"),
    "a validation list": (422, {"detail": [{"loc": ["x"], "msg": "missing"}]}, BadRequest, "missing"),
    "no money": (429, {"error": {"code": "insufficient_quota", "message": "pay"}}, QuotaExceeded, "pay"),
    "no money, Anthropic": (400, {"error": {"message": "Your credit balance is too low"}}, QuotaExceeded, "credit"),
    "payment": (402, None, QuotaExceeded, "nothing more"),
    "too long": (413, "", ContextOverflow, ""),
    "too long, in words": (400, {"error": {"message": "maximum context length is 10 tokens"}}, ContextOverflow, ""),
    "no such model as 400": (400, {"error": {"code": "model_not_found", "message": "no"}}, ModelNotFound, ""),
    "time": (408, "", ModelTimeout, ""),
    "conflict": (409, "", Overloaded, ""),
    "a gateway's page": (
        502,
        "<html><head><title>502 Bad Gateway</title></head></html>",
        Overloaded,
        '"502 Bad Gateway"',
    ),
    "a page without a title": (503, "<!DOCTYPE html><body>", Overloaded, "web page"),
    "words": (500, "upstream connect error", Overloaded, "upstream"),
    "in a stream, by its words": (None, {"error": {"type": "overloaded_error", "message": "x"}}, Overloaded, "x"),
    "in a stream, by its code": (None, {"error": {"code": 429, "message": "x"}}, RateLimited, "429"),
    "in a stream, unknown": (None, {"error": {"message": "x"}}, ModelError, "x"),
    "nothing at all": (None, {}, ModelError, ""),
}


@pytest.mark.parametrize(("status", "body", "kind", "words"), BODIES.values(), ids=BODIES.keys())
def test_body(status: int | None, body: Any, kind: type[ModelError], words: str) -> None:
    error = failure(body, status)
    assert type(error) is kind
    assert words in error.message


def test_gemini_says_how_long_to_wait_in_the_body() -> None:
    body = {"error": {"code": 429, "message": "quota", "details": [{"@type": "RetryInfo", "retryDelay": "34.4s"}]}}
    error = failure(body, 429)
    assert type(error) is RateLimited
    assert error.retry_after == 34.4


def recorded() -> list[dict[str, Any]]:
    file = SHARED / "streams" / "http-errors" / "errors.json"
    return list(json.loads(file.read_text("utf-8"))) if file.exists() else []


EXPECTED = {401: AuthenticationFailed, 404: ModelNotFound, 429: RateLimited}


@needs_shared
@pytest.mark.parametrize("case", recorded(), ids=lambda case: f"{case['status']}-{case['url'].split('/')[2]}")
def test_recorded_bodies(case: dict[str, Any]) -> None:
    body: str = case["body"]
    error = failure(json.loads(body), case["status"])
    assert error.message
    assert "{" not in error.message[:30]
    if case["status"] in EXPECTED:
        assert type(error) is EXPECTED[case["status"]]
    elif "context_length" in body or "prompt is too long" in body or "maximum context length" in body:
        assert type(error) is ContextOverflow
    else:
        assert type(error) in (BadRequest, ContextOverflow, ModelNotFound, AuthenticationFailed)
        assert not error.retryable
