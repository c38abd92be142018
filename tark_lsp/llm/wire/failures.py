"""What providers say when they refuse, in all its shapes, to the error tree.

The shapes come from recorded error bodies; what a body says counts for more than its status, since gateways answer
400 for a bad key, 429 for an empty account and 200 with an error inside.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

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

Words = tuple[tuple[type[ModelError], str], ...]

BY_WORDS: Words = (
    (
        ContextOverflow,
        (
            "context_length_exceeded|prompt is too long|context window|context length|too_many_prompt_tokens|"
            "input token count .* exceeds|request_too_large"
        ),
    ),
    (
        QuotaExceeded,
        (
            "insufficient[_ ](quota|credit|funds|balance)|billing_(error|not_active|hard_limit)|credit balance|"
            "payment required|quota_exceeded"
        ),
    ),
    (
        AuthenticationFailed,
        r"invalid[_ ]api[_ ]key|incorrect api key|api[_ ]key[_ ]invalid|api key not valid|authentication_error",
    ),
    (ModelNotFound, r"model_not_found|not_found_error|DeploymentNotFound"),
)
"""Searched in the body's code, type and message, in this order."""

BY_WORDS_IN_STREAM: Words = (
    (RateLimited, r"rate[_ ]?limit|too many requests|RESOURCE_EXHAUSTED"),
    (Overloaded, r"overloaded|server_error|internal_error|\bapi_error\b|unavailable"),
)
"""Searched too where there is no status to go by."""

BY_STATUS: dict[int, type[ModelError]] = {
    401: AuthenticationFailed,
    402: QuotaExceeded,
    403: AuthenticationFailed,
    404: ModelNotFound,
    408: ModelTimeout,
    409: Overloaded,
    413: ContextOverflow,
    429: RateLimited,
}

CLEAR_STATUS = frozenset({401, 402, 403, 408, 409})
"""Statuses that say more than the words beside them (Ollama's 401 calls itself `api_error`)."""


@dataclass(slots=True)
class _Refusal:
    message: str = ""
    code: str = ""
    type: str = ""
    status: int | None = None
    retry_after: float | None = None


def failure(body: object, status: int | None = None) -> ModelError:
    """`body` is decoded JSON, or text; `status` None inside a stream. Gemini's `retryDelay` becomes `retry_after`."""
    refusal = _read(body)
    status = refusal.status if status is None else status
    kind = None
    if status not in CLEAR_STATUS:
        said = f"{refusal.code} {refusal.type} {refusal.message}"
        table = BY_WORDS if status else BY_WORDS + BY_WORDS_IN_STREAM
        kind = next((kind for kind, pattern in table if re.search(pattern, said, re.IGNORECASE)), None)
    kind = kind or _by_status(status)
    where = f" (HTTP {status})" if status else ""
    message = refusal.message or refusal.code or "nothing more"
    return kind(f"the provider refused{where}: {message}", retry_after=refusal.retry_after)


def _by_status(status: int | None) -> type[ModelError]:
    if status is None:
        return ModelError
    return BY_STATUS.get(status) or (Overloaded if status >= 500 else BadRequest)


def _read(body: object) -> _Refusal:
    """The shapes: {error: {...}}, {error: "..."}, {detail: ...}, {message: ...}, a list of one, text, a web page."""
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, dict):
        return _Refusal(_plain(body) if isinstance(body, str) else "")
    error = body.get("error") or body.get("detail") or body.get("message") or body
    if not isinstance(error, dict):
        error = {"message": error, "code": body.get("code")}
    code, message = error.get("code"), error.get("message")
    refusal = _Refusal(
        message=message if isinstance(message, str) and message else _shown(message or error),
        code=str(code or ""),
        type=str(error.get("type") or error.get("status") or ""),
    )
    numeric = error.get("status_code") or code
    if isinstance(numeric, int) and 400 <= numeric < 600:
        refusal.status = numeric
    match error:
        case {"metadata": {"raw": str(raw)}}:  # OpenRouter: what the provider behind it said
            refusal.message += f": {raw[:500]}"
        case {"details": list(details)}:  # google.rpc.Status
            for detail in details:
                _read_detail(refusal, detail)
    return refusal


def _read_detail(refusal: _Refusal, detail: object) -> None:
    match detail:
        case {"reason": str(reason)}:
            refusal.message += f" ({reason})"
        case {"retryDelay": str(delay)} if re.fullmatch(r"\d+(\.\d+)?s", delay):
            refusal.retry_after = float(delay[:-1])


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:500]


def _plain(text: str) -> str:
    """The start of a body that is no JSON; of a web page, its title."""
    if re.match(r"\s*<(!doctype|html)", text, re.IGNORECASE):
        title = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
        name = f' "{title.group(1).strip()[:200]}"' if title else ""
        return f"a web page{name}, not an answer of a model"
    return text.strip()[:500]
