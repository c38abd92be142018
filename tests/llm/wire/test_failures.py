"""Error bodies of providers: real bodies, each with its error."""

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
    ServerError,
)
from tark_lsp.llm.wire.provider_errors import provider_error
from tests.llm.wire.recordings import SHARED, needs_shared

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
    "payment": (402, None, QuotaExceeded, "no reason given"),
    "too long": (413, "", ContextOverflow, ""),
    "too long, in words": (400, {"error": {"message": "maximum context length is 10 tokens"}}, ContextOverflow, ""),
    "no such model as 400": (400, {"error": {"code": "model_not_found", "message": "no"}}, ModelNotFound, ""),
    "time": (408, "", ModelTimeout, ""),
    "conflict": (409, "", Overloaded, ""),
    "a gateway's page": (
        502,
        "<html><head><title>502 Bad Gateway</title></head></html>",
        ServerError,
        '"502 Bad Gateway"',
    ),
    "a page without a title": (503, "<!DOCTYPE html><body>", Overloaded, "web page"),
    "words": (500, "upstream connect error", ServerError, "HTTP 500 from the provider: upstream connect error"),
    "a failure (Anthropic)": (
        500,
        {"type": "error", "error": {"type": "api_error", "message": "Internal server error"}},
        ServerError,
        "HTTP 500 from the provider: Internal server error",
    ),
    "a failure without words": (500, "", ServerError, "HTTP 500 from the provider: no reason given"),
    "a failure of Cloudflare": (520, "error code: 520", ServerError, "HTTP 520"),
    "a gateway's time": (504, "Gateway Timeout", ServerError, "HTTP 504"),
    "a failure in a stream, by its code": (None, {"error": {"code": 500, "message": "x"}}, ServerError, "error 500 from the provider: x"),
    "a failure in a stream, by its type": (
        None,
        {"error": {"type": "server_error", "message": "The server had an error"}},
        ServerError,
        "the provider failed: The server had an error",
    ),
    "an overload that calls itself a failure": (
        None,
        {"error": {"type": "server_error", "message": "The server is overloaded"}},
        Overloaded,
        "",
    ),
    "in a stream, by its words": (None, {"error": {"type": "overloaded_error", "message": "x"}}, Overloaded, "x"),
    "in a stream, by its code": (None, {"error": {"code": 429, "message": "x"}}, RateLimited, "429"),
    "in a stream, unknown": (None, {"error": {"message": "x"}}, ModelError, "x"),
    "nothing at all": (None, {}, ModelError, ""),
    "a status in words in a stream": (None, {"error": {"code": "502", "message": "x"}}, ServerError, "502"),
    "time in a stream": (None, {"error": {"message": "Upstream request timed out"}}, ModelTimeout, ""),
    "a list of errors": (
        401,
        {"success": False, "errors": [{"code": 10000, "message": "Authentication error"}]},
        AuthenticationFailed,
        "): Authentication error",
    ),
    "a validation list is told as words": (
        422,
        {"detail": [{"loc": ["body", "messages", 0], "msg": "Field required"}, {"loc": [], "msg": "No"}]},
        BadRequest,
        "body.messages.0: Field required; : No",
    ),
    "no access to a model as 403": (403, {"error": {"code": "model_not_found", "message": "no"}}, ModelNotFound, ""),
    "no credit as 403 (xAI)": (
        403,
        {"error": "Your team has used all available credits or reached its monthly spending limit."},
        QuotaExceeded,
        "spending limit",
    ),
    "no credit yet as 403 (xAI)": (
        403,
        {"error": "Your newly created team doesn't have any credits or licenses yet. You can purchase those on x.ai"},
        QuotaExceeded,
        "licenses yet",
    ),
    "no subscription as 403 (Ollama)": (
        403,
        {"error": "this model requires a subscription, upgrade for access: https://ollama.com/upgrade (ref: 1)"},
        QuotaExceeded,
        "upgrade for access",
    ),
    "no subscription on another wire (Ollama)": (
        403,
        {"type": "error", "error": {"type": "permission_error", "message": "this model requires a subscription"}},
        QuotaExceeded,
        "",
    ),
    "no subscription in a stream": (None, {"error": "this model requires a subscription"}, QuotaExceeded, ""),
    "a string that is too long (OpenAI)": (
        400,
        {"error": {"message": "Invalid 'input[0].content': string too long.", "code": "string_above_max_length"}},
        BadRequest,
        "input[0].content",
    ),
    "a string that is too long, with its field apart": (
        400,
        {"error": {"message": "prompt is too long", "param": "user", "code": "string_above_max_length"}},
        BadRequest,
        "prompt is too long (user)",
    ),
    "a string that is too long, in a stream": (
        None,
        {"error": {"message": "String too long.", "param": "tools[0].name", "code": "string_above_max_length"}},
        BadRequest,
        "tools[0].name",
    ),
    "a list that is too long": (
        400,
        {
            "error": {
                "message": "Array too long. Expected at most 128",
                "param": "tools",
                "code": "array_above_max_length",
            }
        },
        BadRequest,
        "(tools)",
    ),
    "a field that the message names already": (
        400,
        {"error": {"message": "Invalid 'temperature': below minimum.", "param": "temperature"}},
        BadRequest,
        "below minimum.",
    ),
    "a field that is no name": (400, {"error": {"message": "No.", "param": {"x": 1}}}, BadRequest, "No."),
    "an account's own limit (OpenRouter)": (
        403,
        {"error": {"code": 403, "message": "Key limit exceeded (monthly limit)."}},
        QuotaExceeded,
        "",
    ),
    "limits set by the account (Anthropic)": (
        400,
        {"error": {"message": "You have reached your specified API usage limits."}},
        QuotaExceeded,
        "",
    ),
    "no balance (DeepSeek)": (402, {"error": {"message": "Insufficient Balance"}}, QuotaExceeded, ""),
    "a suspended account (Moonshot)": (
        429,
        {"error": {"message": "Your account is suspended", "type": "exceeded_current_quota_error"}},
        QuotaExceeded,
        "",
    ),
    "not a key (Gemini's other words)": (400, {"error": {"message": "API key expired."}}, AuthenticationFailed, ""),
    "a model's name (Mistral)": (400, {"message": "Invalid model: x", "type": "invalid_model"}, ModelNotFound, ""),
    "a model's name (OpenRouter)": (400, {"error": {"message": "x is not a valid model ID"}}, ModelNotFound, ""),
    "a model's name (DeepSeek)": (400, {"error": {"message": "Model Not Exist"}}, ModelNotFound, ""),
    "too much output is not too long a prompt": (
        400,
        {"error": {"message": "max_tokens is too large: 99999. This model supports at most 16384 completion tokens"}},
        BadRequest,
        "",
    ),
    "tokens a minute, more than there ever are": (
        429,
        {"error": {"code": "rate_limit_exceeded", "message": "Request too large for gpt-4o on tokens per min (TPM)"}},
        ContextOverflow,
        "",
    ),
    "tokens a minute": (
        429,
        {"error": {"code": "rate_limit_exceeded", "message": "Rate limit reached for gpt-4o on tokens per min (TPM)"}},
        RateLimited,
        "",
    ),
    "tokens, but of a while (Bedrock)": (
        429,
        {"message": "Too many tokens, please wait before trying again."},
        RateLimited,
        "",
    ),
    "a word that a filter uses, in another sense": (
        422,
        {"detail": [{"loc": ["body", "model"], "msg": "names are case-sensitive"}]},
        BadRequest,
        "case-sensitive",
    ),
    "Copilot, a model's limit": (429, {"error": {"code": "user_model_rate_limited", "message": "x"}}, RateLimited, ""),
    "Copilot, a plan's limit in a stream": (
        None,
        {"error": {"code": "user_global_rate_limited:pro_plus", "message": "x"}},
        RateLimited,
        "",
    ),
    "Copilot, no premium requests": (402, {"error": {"code": "quota_exceeded", "message": "x"}}, QuotaExceeded, ""),
    "Copilot, no premium requests, in a stream": (None, {"error": {"code": "free_quota_exceeded"}}, QuotaExceeded, ""),
    "Copilot, a model it does not have": (400, {"error": {"code": "model_not_supported"}}, ModelNotFound, ""),
    "Copilot, as text": (401, "unauthorized: token expired\n", AuthenticationFailed, "token expired"),
    "Copilot, cancelled": (499, "", Overloaded, ""),
    "Copilot, too old": (466, "", BadRequest, ""),
    "Copilot, filtered": (422, {"error": {"message": "The response was filtered"}}, BadRequest, "filtered"),
    "a filter is not a bad key": (
        403,
        {"error": {"code": 403, "message": "flagged", "metadata": {"reasons": ["violence"]}}},
        BadRequest,
        "",
    ),
    "no memory for the model (Ollama)": (
        500,
        {"error": "model requires more system memory (9 GiB) than is available (4 GiB)"},
        BadRequest,
        "",
    ),
    "what is wrong at the provider behind (OpenRouter)": (
        400,
        {
            "error": {
                "code": 400,
                "message": "Provider returned error",
                "metadata": {"raw": '{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}'},
            }
        },
        ContextOverflow,
        "prompt is too long",
    ),
}

TOO_LONG = (
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    "The input token count (1250074) exceeds the maximum number of tokens allowed (1048576).",
    "Input is too long for requested model.",
    "prompt token count of 140000 exceeds the limit of 128000",
    "This endpoint's maximum context length is 200000 tokens.",
    "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "Please reduce the length of the messages or completion.",
    "The total length of all messages is too long.",
    "Invalid request: Your request exceeded model token limit: 262144",
    "Range of input length should be [1, 129024]",
    "Prompt exceeds max length",
    "too many tokens: total number of tokens in the prompt cannot exceed 4081",
    "`inputs` tokens + `max_new_tokens` must be <= 8192",
    "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
    "the request exceeds the available context size, try increasing it",
    "The number of tokens to keep from the initial prompt is greater than the context length.",
    "Trying to keep the first 5000 tokens when context the overflows.",
    "input length exceeds the context length",
    "prompt too long; exceeded max context length by 1119046 tokens",
    "context window exceeds limit",
    "Context size has been exceeded.",
    "Your input exceeds the model's context window",
    "exceeds this model's context window",
)
"""The words of vendors and servers, none of them with a code of its own."""


@pytest.mark.parametrize("words", TOO_LONG)
@pytest.mark.parametrize("status", [400, None])
def test_a_request_that_is_too_long_is_recognised_by_its_message(words: str, status: int | None) -> None:
    assert (
        type(provider_error({"error": {"message": words, "type": "invalid_request_error"}}, status)) is ContextOverflow
    )


RATE_LIMITS = (
    "Too many tokens per day, please wait before trying again.",
    "Too many tokens, please wait before trying again.",
    "Too many input tokens per minute, please wait before trying again.",
    "Tokens per minute limit exceeded - too many tokens processed.",
    "Tokens per day limit exceeded - too many tokens processed.",
    "Requests per minute limit exceeded - too many requests sent.",
    "This request exceeds the limit of 30000 tokens per minute",
    "Your request exceeded the model token limit per minute",
    "The request exceeds the maximum number of input tokens per minute",
    "You have exceeded the token limit for this minute",
    "Too many input tokens in the last minute",
    "You exceeded the token limit of 100000 tokens/min for this model",
    "Your account has exceeded the TPM token limit",
    "This request would exceed your organization's rate limit of 40,000 input tokens per minute.",
    "Rate limit reached for x on tokens per day (TPD): Limit 100000, Used 99000, Requested 3000.",
    "Requests to the operation have exceeded token rate limit of your current pricing tier.",
    "Your account reached organization TPM rate limit, current: 512000, limit: 256000",
    "Quota exceeded for quota metric 'Generate Content API requests per minute'",
)
"""The words of Bedrock, Cerebras, OpenAI, Anthropic, Groq, Azure, Moonshot, Google and gateways: all of a while."""


@pytest.mark.parametrize("words", RATE_LIMITS)
@pytest.mark.parametrize("status", [429, 400, None])
def test_tokens_of_a_while_are_a_rate_limit_and_not_an_overflow(words: str, status: int | None) -> None:
    body = {"message": words, "type": "too_many_tokens_error"}
    if "processed" in words:  # Cerebras
        body["code"] = "token_quota_exceeded"
    for error in (provider_error(body, status), provider_error({"error": {"message": words}}, status)):
        assert type(error) is RateLimited
        assert error.retryable
        assert words in error.message


TOO_LARGE_AT_ANY_TIME = (
    "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000. The input must be reduced.",
    "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 7000, please reduce it.",
)


@pytest.mark.parametrize("words", TOO_LARGE_AT_ANY_TIME)
@pytest.mark.parametrize("status", [429, 413, None])
def test_more_tokens_than_any_while_allows_are_an_overflow(words: str, status: int | None) -> None:
    body = {"error": {"message": words, "type": "tokens", "code": "rate_limit_exceeded"}}
    assert type(provider_error(body, status)) is ContextOverflow


HINTED = (
    (400, {"error": {"code": "tool_use_failed", "message": "x", "failed_generation": "{"}}, "try again"),
    (404, {"error": 'model "x" not found, try pulling it first'}, "ollama pull"),
    (404, {"error": "No models loaded. Please load a model in the developer page"}, "load a model"),
    (500, {"error": {"message": "tools param requires --jinja flag"}}, "--jinja"),
    (400, {"message": '"auto" tool choice requires --enable-auto-tool-choice'}, "--enable-auto-tool-choice"),
    (404, {"error": {"message": "No endpoints found matching your data policy"}}, "privacy settings"),
    (400, {"error": {"message": "Your organization must be verified to stream this model."}}, "verify"),
    (400, {"error": {"code": "content_filter", "message": "x"}}, "rephrase it"),
    (422, {"error": {"message": "response filtered"}}, "rephrase it"),
    (466, "", "update tark-lsp"),
    (400, {"error": {"message": "x"}}, ""),
)


@pytest.mark.parametrize(("status", "body", "words"), HINTED)
def test_particular_refusals_have_particular_hints(status: int, body: Any, words: str) -> None:
    hint = provider_error(body, status).hint
    assert words in hint
    assert bool(hint) == bool(words)


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("Rate limit reached. Please try again in 8.6s. Visit us.", 8.6),
        ("Please try again in 20ms.", 0.02),
        ("Please retry after 26 seconds.", 26.0),
        ("Please retry in 48.939935699s.", 48.939935699),
        ("Please try again in 6m0s", None),
        ("Please try again later", None),
    ],
)
def test_the_wait_can_be_in_the_message(message: str, seconds: float | None) -> None:
    assert provider_error({"error": {"message": message}}, 429).retry_after == seconds


@pytest.mark.parametrize(("status", "body", "kind", "words"), BODIES.values(), ids=BODIES.keys())
def test_body(status: int | None, body: Any, kind: type[ModelError], words: str) -> None:
    error = provider_error(body, status)
    assert type(error) is kind
    assert words in error.message


def test_gemini_says_how_long_to_wait_in_the_body() -> None:
    body = {"error": {"code": 429, "message": "quota", "details": [{"@type": "RetryInfo", "retryDelay": "34.4s"}]}}
    error = provider_error(body, 429)
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
    error = provider_error(json.loads(body), case["status"])
    assert error.message
    assert "{" not in error.message[:30]
    if case["status"] in EXPECTED:
        assert type(error) is EXPECTED[case["status"]]
    elif "context_length" in body or "prompt is too long" in body or "maximum context length" in body:
        assert type(error) is ContextOverflow
    else:
        assert type(error) in (BadRequest, ContextOverflow, ModelNotFound, AuthenticationFailed)
        assert not error.retryable
