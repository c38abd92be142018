"""Errors that come with status 200, inside the stream, in each wire's own shapes (wires.md; recordings)."""

import json
from collections.abc import Mapping
from typing import Any

from tark_lsp.errors import ContextOverflow, ModelError, Overloaded, QuotaExceeded, RateLimited, ServerError


def _sse(data: Any, event: str = "") -> bytes:
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {json.dumps(data)}\n\n".encode()


def _field(error: Any) -> bytes:
    """An SSE field that no standard has."""
    return b"error: " + json.dumps(error).encode() + b"\n\n"


def _response_failed(code: str, message: str) -> bytes:
    error = {"code": code, "message": message}
    response: dict[str, Any] = {
        "id": "resp_x",
        "object": "response",
        "status": "failed",
        "error": error,
        "output": [],
        "usage": None,
    }
    return _sse({"type": "response.failed", "sequence_number": 9, "response": response}, "response.failed")


BUSY = "The server is overloaded"
OPENROUTER = {
    "id": "gen-x",
    "object": "chat.completion.chunk",
    "error": {"code": 502, "message": BUSY},
    "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": "error"}],
}
TOO_LONG = {
    "code": 400,
    "message": "the request exceeds the available context size, try increasing it",
    "type": "exceed_context_size_error",
}
GOOGLE = {"error": {"code": 503, "message": BUSY, "status": "UNAVAILABLE"}}
GOOGLE_QUOTA = {"error": {"code": 429, "message": "Resource has been exhausted", "status": "RESOURCE_EXHAUSTED"}}
TOKENS = {"type": "tokens", "code": "rate_limit_exceeded", "message": "Limit 1, requested 30", "param": None}

STREAM_ERRORS: Mapping[str, Mapping[str, tuple[bytes, type[ModelError]]]] = {
    "openai-chat": {
        "error object": (_sse({"error": {"message": BUSY, "type": "server_error", "code": None}}), Overloaded),
        "OpenRouter's error chunk": (_sse(OPENROUTER) + b"data: [DONE]\n\n", ServerError),
        "Groq's error event": (_sse({"error": {"message": BUSY, "status_code": 503}}, "error"), Overloaded),
        "vLLM's error object": (_sse({"object": "error", "message": BUSY, "code": 503}), Overloaded),
        "a quota": (_sse({"error": {"message": "pay", "code": "insufficient_quota"}}), QuotaExceeded),
        "llama.cpp's error field": (_field({"code": 503, "message": BUSY}) + b"data: [DONE]\n\n", Overloaded),
        "an overflow in a field": (_field(TOO_LONG) + b"data: [DONE]\n\n", ContextOverflow),
    },
    "openai-responses": {
        "nested error event, then failed": (
            _sse({"type": "error", "sequence_number": 8, "error": TOKENS}, "error")
            + _response_failed("rate_limit_exceeded", TOKENS["message"] or ""),
            RateLimited,
        ),
        "flat error event": (
            _sse({"type": "error", "code": "server_error", "message": BUSY, "param": None}, "error"),
            Overloaded,
        ),
        "failed alone": (_response_failed("server_is_overloaded", BUSY), Overloaded),
        "a quota": (_response_failed("insufficient_quota", "pay"), QuotaExceeded),
    },
    "anthropic-messages": {
        "overloaded": (
            _sse({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "error"),
            Overloaded,
        ),
        "rate limit": (
            _sse({"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}, "error"),
            RateLimited,
        ),
        "a bill": (
            _sse({"type": "error", "error": {"type": "billing_error", "message": "pay"}}, "error"),
            QuotaExceeded,
        ),
    },
    "gemini-content": {
        "bare object": (json.dumps(GOOGLE, indent=2).replace("\n", "\r\n").encode() + b"\r\n", Overloaded),
        "error object": (_sse(GOOGLE).replace(b"\n", b"\r\n"), Overloaded),
        "rate limit": (_sse(GOOGLE_QUOTA).replace(b"\n", b"\r\n"), RateLimited),
    },
    "ollama-chat": {
        "error line": (b'{"error":"an unavailable model: the server is overloaded"}\n', Overloaded),
    },
}
