"""Recorded error bodies of real providers, over real HTTP: the error class a reader would choose, and our message."""

import json
import logging
from dataclasses import dataclass
from typing import Any

import pytest

from tark_lsp.errors import (
    AuthenticationFailed,
    BadRequest,
    ContextOverflow,
    ModelError,
    ModelNotFound,
    RateLimited,
)
from tark_lsp.llm.events import Notice
from tark_lsp.llm.retry import RetryPolicy
from tests.llm.asking import ENVIRON, REFS, ask, models_at
from tests.llm.wire.recordings import SHARED, needs_shared
from tests.loopback import Loopback, Raw

ONCE = RetryPolicy(tries=1)
RETRYABLE = {RateLimited}


@dataclass(frozen=True, slots=True)
class Judged:
    """`words` are the provider's own: they tell the body apart, and must reach the person. Waits in seconds."""

    status: int
    words: str
    kind: type[ModelError]
    retry_after: float | None = None


JUDGED = (
    Judged(404, "models/nonexistent-model is not found", ModelNotFound),
    Judged(404, "models/nonexistent-model is not found", ModelNotFound),
    Judged(404, "The model `nonexistent` does not exist", ModelNotFound),
    Judged(400, "The requested model 'gpt-5.2-proo' does not exist", ModelNotFound),
    Judged(404, "model: claude-sonet-4-5", ModelNotFound),
    Judged(404, "models/gemini-3.6-flahs is not found", ModelNotFound),
    Judged(404, "The model `llama-3.3-70b-versatlie` does not exist", ModelNotFound),
    Judged(404, "The model `gpt-5.2-proo` does not exist", ModelNotFound),
    Judged(404, "model: claude-does-not-exist", ModelNotFound),
    Judged(400, "does not support effort level 'xhigh'", BadRequest),
    Judged(400, "doesn't support counting tokens", BadRequest),
    Judged(400, "Input tag 'web_search_20250305'", BadRequest),
    Judged(400, "No tool output found for tool call call-a", BadRequest),
    Judged(404, "The model `non-existent` does not exist", ModelNotFound),
    Judged(400, "did not match schema", BadRequest),
    Judged(400, "Tool choice is required, but model did not call a tool", BadRequest),
    Judged(400, "Cannot fetch content from the provided URL", BadRequest),
    Judged(400, "expected to be either text or image_url type", BadRequest),
    Judged(400, "doesn't support the video content block", BadRequest),
    Judged(400, "doesn't support the s3Uri field", BadRequest),
    Judged(400, "The file type you uploaded is not supported", BadRequest),
    Judged(400, "Invalid file data: 'input[3].output[0].file_data'", BadRequest),
    Judged(400, "document.source.type: Field required", BadRequest),
    Judged(400, "Invalid file data: 'input[4].content[0].file_data'", BadRequest),
    Judged(400, "'messages[0].role' does not support 'developer'", BadRequest),
    Judged(400, "'messages[0].role' does not support 'system'", BadRequest),
    Judged(400, "Web search options not supported with this model", BadRequest),
    Judged(400, "decimal below minimum value", BadRequest),
    Judged(400, "provided without its required following item", BadRequest),
    Judged(429, "temporarily rate-limited upstream", RateLimited),  # OpenRouter: only `raw` says what is the matter
    Judged(404, "`gpt-3.5-turbo-0613` has been deprecated", ModelNotFound),
    Judged(400, "Unknown parameter: 'quality'", BadRequest),
    Judged(404, "The API deployment for this resource does not exist", ModelNotFound),
    Judged(401, "invalid subscription key or wrong API endpoint", AuthenticationFailed),
    Judged(400, "Error while downloading https://", BadRequest),
    Judged(400, "You uploaded an unsupported image", BadRequest),
    Judged(401, "invalid x-api-key", AuthenticationFailed),
    Judged(401, "invalid subscription key or wrong API endpoint", AuthenticationFailed),
    Judged(401, "Authentication Fails", AuthenticationFailed),
    Judged(400, "API key not valid", AuthenticationFailed),
    Judged(401, "Invalid API Key", AuthenticationFailed),
    Judged(401, "Unauthorized", AuthenticationFailed),
    Judged(401, "Incorrect API key provided", AuthenticationFailed),
    Judged(401, "Missing Authentication header", AuthenticationFailed),
    Judged(401, "Invalid API key provided", AuthenticationFailed),
    Judged(400, "Incorrect API key provided", AuthenticationFailed),
    Judged(400, "prompt is too long: 3333404 tokens > 200000 maximum", ContextOverflow),
    # `retry-after-ms: 0` stands beside `retry-after: 1`, and the finer one counts.
    Judged(429, "have exceeded rate limit", RateLimited, 0.0),
    Judged(400, "maximum context length is 1048565 tokens", ContextOverflow),
    # It calls itself a quota, but one that is full again in a minute.
    Judged(429, "You exceeded your current quota", RateLimited, 48.0),
    Judged(400, "prompt too long; exceeded max context length", ContextOverflow),
    Judged(400, "Your input exceeds the context window", ContextOverflow),
    Judged(400, "maximum context length is 200000 tokens", ContextOverflow),
    Judged(400, "The total length of all messages is too long", ContextOverflow),
    Judged(400, "The input token count (1250074) exceeds the maximum", ContextOverflow),
    Judged(401, "Incorrect API key provided", AuthenticationFailed),
    Judged(400, "Invalid image data", BadRequest),
    Judged(400, "Error while downloading file. Upstream status code: 404", BadRequest),
    Judged(400, "`tool_use` ids were found without `tool_result` blocks", BadRequest),
)
"""In the order of the file."""

LEFT_OUT = ("does not support effort level 'xhigh'", "'messages[0].role' does not support 'system'")
"""These name what a request can do without, so it is asked again, once."""


def recorded() -> list[dict[str, Any]]:
    file = SHARED / "streams" / "http-errors" / "errors.json"
    return list(json.loads(file.read_text("utf-8"))) if file.exists() else []


def ref_for(url: str) -> str:
    """A model that is asked on the wire, or the next of kin, that refused."""
    return REFS["anthropic-messages" if "anthropic" in url else "openai-chat"]


async def refused(ref: str, answer: Raw) -> tuple[ModelError, int]:
    """The error, and the number of requests."""
    async with Loopback([answer]) as server:
        models = models_at(server, policy=ONCE)
        try:
            events, error = await ask(await models.open_model(ref))
        finally:
            await models.aclose()
    assert all(isinstance(event, Notice) for event in events)
    assert isinstance(error, ModelError)
    return error, len(server.requests)


@needs_shared
def test_every_recorded_body_is_judged() -> None:
    cases = recorded()
    assert len(cases) == len(JUDGED)
    for case, judged in zip(cases, JUDGED, strict=True):
        assert (case["status"], judged.words in json.dumps(json.loads(case["body"]))) == (judged.status, True)


@needs_shared
@pytest.mark.parametrize(
    ("case", "judged"),
    [*zip(recorded(), JUDGED, strict=False)],
    ids=[judged.words[:50] for judged in JUDGED[: len(recorded())]],
)
async def test_recorded_body(case: dict[str, Any], judged: Judged, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    body = case["body"].encode()
    error, asked = await refused(ref_for(case["url"]), Raw([body], case["status"], case["headers"]))
    assert type(error) is judged.kind
    assert judged.words in error.message
    assert error.hint
    assert error.retryable is (judged.kind in RETRYABLE)
    assert error.retry_after == judged.retry_after
    assert asked == 1 + (judged.words in LEFT_OUT)
    for key in ENVIRON.values():
        assert key not in f"{error!r} {error} {caplog.text}"


@pytest.mark.parametrize("wire", list(REFS))
@pytest.mark.parametrize(
    "body",
    [
        '{"error": {"message": "Incorrect API key provided: %s."}}',
        '{"detail": "no such key: Bearer %s"}',
        '{"error": {"message": "no", "metadata": {"raw": "key %s is unknown"}}}',
        "<html><title>key %s?</title></html>",
        "no key %s here",
    ],
)
async def test_a_key_that_a_server_repeats_is_removed(body: str, wire: str) -> None:
    """Some servers repeat the wrong key. Errors are shown, logged and pasted into bug reports."""
    sent = ENVIRON["OPENAI_API_KEY" if wire == "openai-chat" else "ANTHROPIC_API_KEY"]
    told = (body % sent).encode()
    error, _ = await refused(REFS[wire], Raw([told], 401, {"content-type": "application/json"}))
    assert type(error) is AuthenticationFailed
    assert sent not in f"{error!r} {error}"


@pytest.mark.parametrize(
    ("headers", "retryable", "wait"),
    [
        ({"retry-after": "7"}, True, 7.0),
        ({"retry-after": "0.5"}, True, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, True, 1.5),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, True, 0.0),  # it is over
        ({"retry-after": "soon"}, True, None),
        ({"retry-after": "-1"}, True, None),
        ({"retry-after": "nan"}, True, None),
        ({"retry-after": "inf"}, True, None),
        ({"x-should-retry": "false"}, False, None),
    ],
)
async def test_retry_headers(headers: dict[str, str], retryable: bool, wait: float | None) -> None:
    error, _ = await refused(REFS["openai-chat"], Raw([b'{"error": "slow down"}'], 429, headers))
    assert (type(error), error.retryable, error.retry_after) == (RateLimited, retryable, wait)
