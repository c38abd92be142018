"""Turns the error bodies of providers, in all their formats, into ModelErrors.

The shapes come from recorded error bodies. The body overrides the status, since gateways answer 400 for a bad key, 429
for an empty account, and 200 with an error inside.

A body can be as long as an event of a stream (16 MiB) and can repeat anything. So its texts are cut before a pattern
reads them, and in patterns here and in fallbacks.py only what is bounded, or one word, is repeated.
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
    ServerError,
)

MESSAGE_CHARACTERS = 4_000
WORD_CHARACTERS = 200
"""The longest code, type or field name, in characters."""

TOO_LARGE = r"request_too_large|request (entity )?too large"
"""The request is too long at any time, even if the message also names a rate."""

OF_A_WHILE = (
    r"\bper[ -](second|min|hour|day)|(tokens?|requests?)/(s|min|hour|day)|(this|last|past) (minute|hour|day)|"
    r"\b[TR]P[MD]\b|too many (input )?tokens(,? please wait| processed)"
)
"""A limit that waiting helps against, though the rest of the message may read like an overflow (Bedrock, Cerebras)."""

OVERFLOW = (
    r"context[_ ](length|window|size)[_ ]((has|was) )?(been )?exceed(ed|s)|exceed_context_size",
    r"model_max_prompt_tokens_exceeded|too_many_prompt_tokens",
    r"(prompt|input|messages?|conversation)( \S+)? (is|are) too long|too long for (the |requested )?model",
    r"prompt too long|length of all messages is too long|(input|prompt) exceeds max(imum)? length",
    r"(maximum|max|available) (context|prompt|model|allowed input) (length|size|window)",
    r"reduce the length of (the|your) (messages|prompt|input)",
    r"exceed(s|ed|ing)?\b[^.\n]{0,60}(context|token limit|maximum number of (input )?tokens|maximum input length)",
    r"(longer|greater|larger) than the[^.\n]{0,40}(context|maximum model length)|context[^.\n]{0,40}overflow",
    r"prompt token count[^.\n]{0,40}exceeds|input token count[^.\n]{0,40}exceeds|range of input length should be",
    r"`?inputs`? tokens \+ `?max_new_tokens`?|prompt has \d+ tokens|too many (input )?tokens",
)
"""How vendors say that a request is too long. There is no common code. Messages of: OpenAI, Anthropic, Gemini, Bedrock,
Copilot, OpenRouter, DeepSeek, Mistral, xAI, Groq, Perplexity, Moonshot, Alibaba, z.ai, Cohere, Together and Hugging
Face (`inputs`), vLLM, llama.cpp, LM Studio, Ollama.
"""

FILTERED = (
    r"content[_ ]?(policy|filter)|responsible_?ai|data_?inspection|flagged|moderation|filtered|usage policy|"
    r"new_sensitive"
)
"""A filter in front of the model rejected the request."""

ErrorPatterns = tuple[tuple[type[ModelError], str], ...]

BY_WORDS: ErrorPatterns = (
    (BadRequest, r"(string|array)_above_max_length"),  # one field, not the whole request
    (ContextOverflow, TOO_LARGE),
    (RateLimited, OF_A_WHILE),
    (ContextOverflow, "|".join(OVERFLOW)),
    (
        QuotaExceeded,
        (
            r"insufficient[_ ](quota|credit|funds|balance)|billing_(error|not_active|hard_limit|not_configured)|"
            r"credit balance|payment required|quota_exceeded|exceeded_current_quota|overage_limit_reached|"
            r"(more|all available|out of|no|any) credits|spending limit|api usage limits|key limit exceeded|"
            r"no remaining quota|requires a subscription"
        ),
    ),
    (
        AuthenticationFailed,
        (
            r"(invalid|incorrect|missing|expired|no)[_ ](x-)?api[_ -]key|api[_ ]key[_ ](is )?(invalid|expired|missing)|"
            r"api key not valid|authentication[_ ](error|fails|failed)|invalid_authentication|no auth credentials"
        ),
    ),
    (BadRequest, rf"{FILTERED}|requires more system memory|out of memory"),
    (
        ModelNotFound,
        (
            r"model_not_(found|supported|available)|not_found_error|invalid_model|DeploymentNotFound|unknown model|"
            r"model not exist|not a valid model|invalid model|model( \S+)? (does not exist|not found)|"
            r"requested model is not supported|no endpoints found"
        ),
    ),
    (RateLimited, r"rate[_ ]?limit|too many requests|RESOURCE_EXHAUSTED|throttl"),
)
"""Searched for in the body's code, type and message, in this order."""

BY_WORDS_IN_STREAM: ErrorPatterns = (
    (ModelTimeout, r"timeout|timed out"),
    (Overloaded, r"overloaded|unavailable"),
    (ServerError, r"server[_ ]error|internal[_ ]error|\bapi_error\b|server had an error|upstream"),
)
"""Searched for as well if there is no status."""

BY_STATUS: dict[int, type[ModelError]] = {
    401: AuthenticationFailed,
    402: QuotaExceeded,
    403: AuthenticationFailed,
    404: ModelNotFound,
    408: ModelTimeout,
    409: Overloaded,
    413: ContextOverflow,
    429: RateLimited,
    499: Overloaded,  # Gemini and Copilot, for a request that they cancelled themselves
    503: Overloaded,
    529: Overloaded,
}

CLEAR_STATUS = frozenset({401, 402, 408, 409, 413})
"""Statuses that are more reliable than the body (Ollama's 401 calls itself `api_error`)."""

HINTS: tuple[tuple[str, str], ...] = (
    (r"tool_use_failed|failed_generation", "try again: the model wrote a tool call that the provider could not parse"),
    (r"try pulling it|pull(ing)? the model", "run `ollama pull` with the model's name"),
    (r"no models? (is |are )?loaded", "load a model in that server first"),
    (r"requires --?jinja|--jinja", "start llama-server with --jinja"),
    (r"--enable-auto-tool-choice", "start vllm with --enable-auto-tool-choice --tool-call-parser PARSER"),
    (r"requires more system memory|out of memory", "choose a smaller model, or a smaller context"),
    (r"data policy|guardrail restrictions", "change the privacy settings of the account, or choose another model"),
    (r"organization must be verified", "verify the organization with the provider, or choose another model"),
    (FILTERED, "the provider's filter rejected this: rephrase it, or leave out what may have triggered the filter"),
)
"""What to do about particular refusals. The first pattern that matches is used."""

MOST_DETAILS = 20
"""How many errors or details of one body are read."""

HINTS_BY_STATUS = {466: "update tark-lsp: the provider no longer serves this version"}

PAGE_CHARACTERS = 20_000
"""Characters that are read of a body that is not JSON. A web page has its title at the start."""

RETRY_IN = re.compile(r"(?:try again|retry) (?:in|after) (\d+(?:\.\d+)?) ?(ms|s|sec|seconds)\b", re.IGNORECASE)


@dataclass(slots=True)
class _Refusal:
    message: str = ""
    code: str = ""
    type: str = ""
    field: str = ""
    status: int | None = None
    retry_after: float | None = None


def provider_error(body: object, status: int | None = None) -> ModelError:
    """`body` is decoded JSON, or text; `status` None inside a stream.

    `retry_after` is what the body says: Gemini's `retryDelay`, or "try again in 8.6s". `hint` is set if there is a
    particular remedy for this refusal.
    """
    refusal = _read(body)
    number = f"HTTP {status}" if status is not None else f"error {refusal.status}" if refusal.status else ""
    status = refusal.status if status is None else status
    searched = f"{refusal.code} {refusal.type} {refusal.message}"
    kind = None
    if status not in CLEAR_STATUS:
        table = BY_WORDS if status else BY_WORDS + BY_WORDS_IN_STREAM
        kind = next((kind for kind, pattern in table if re.search(pattern, searched, re.IGNORECASE)), None)
    hint = next((hint for pattern, hint in HINTS if re.search(pattern, searched, re.IGNORECASE)), "")
    if refusal.retry_after is None and (again := RETRY_IN.search(refusal.message)):
        refusal.retry_after = float(again[1]) / (1000 if again[2].lower() == "ms" else 1)
    message = refusal.message or refusal.code or "no reason given"
    kind = kind or _by_status(status)
    if kind is BadRequest and refusal.field not in message:
        message += f" ({refusal.field})"
    return kind(
        f"{_who(kind, number)}: {message}",
        hint=HINTS_BY_STATUS.get(status or 0, hint),
        retry_after=refusal.retry_after,
    )


def _by_status(status: int | None) -> type[ModelError]:
    if status is None:
        return ModelError
    return BY_STATUS.get(status) or (ServerError if status >= 500 else BadRequest)


def _who(kind: type[ModelError], number: str) -> str:
    """How a message starts. A server that failed has not refused anything. `number`: as in "HTTP 500", or empty."""
    if kind is ServerError:
        return f"{number} from the provider" if number else "the provider failed"
    return "the provider refused" + (f" ({number})" if number else "")


def _read(body: object) -> _Refusal:
    """Reads these shapes: {error: {...}}, {error: "..."}, {detail: ...}, {message: ...}, {errors: [...]}, a list of
    one, text, a web page.
    """
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, dict):
        return _Refusal(_plain(body) if isinstance(body, str) else "")
    error = body.get("error") or body.get("detail") or body.get("message") or body.get("errors") or body
    if isinstance(error, list):
        error = {"message": "; ".join(map(_one_of_many, error[:MOST_DETAILS]))}
    if not isinstance(error, dict):
        error = {"message": error, "code": body.get("code")}
    code, message = error.get("code"), error.get("message")
    field = error.get("param")
    refusal = _Refusal(
        message=message if isinstance(message, str) and message else _shown(message or error),
        code=_word(code),
        type=_word(error.get("type") or error.get("status")),
        field=_word(field) if isinstance(field, str) else "",
    )
    numeric = str(error.get("status_code") or code)
    if re.fullmatch(r"[45]\d\d", numeric):
        refusal.status = int(numeric)
    match error:
        case {"metadata": {"raw": str(raw)}}:  # OpenRouter: the message of the provider behind it
            refusal.message += f": {raw[:500]}"
        case {"details": list(details)}:  # google.rpc.Status
            for detail in details[:MOST_DETAILS]:
                _read_detail(refusal, detail)
    refusal.message = _cut(refusal.message, MESSAGE_CHARACTERS)
    return refusal


def _one_of_many(item: object) -> str:
    """FastAPI names the place of the bad field; Cloudflare has codes."""
    match item:
        case {"msg": str(message), "loc": list(place)}:
            return f"{'.'.join(map(str, place))}: {message}"
        case {"message": str(message)}:
            return message
    return _shown(item)


def _read_detail(refusal: _Refusal, detail: object) -> None:
    match detail:
        case {"reason": str(reason)}:
            refusal.message += f" ({reason[:WORD_CHARACTERS]})"
        case {"retryDelay": str(delay)} if re.fullmatch(r"\d+(\.\d+)?s", delay):
            refusal.retry_after = float(delay[:-1])


def _shown(value: Any) -> str:
    try:
        return _cut(json.dumps(value, ensure_ascii=False), 500)
    except RecursionError:
        return "an error that is nested too deeply to show"


def _word(value: Any) -> str:
    return _cut(value if isinstance(value, str) else _shown(value), WORD_CHARACTERS) if value else ""


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[:length] + "..."


def _plain(text: str) -> str:
    """The start of a body that is not JSON. For a web page, its title."""
    start = text[:PAGE_CHARACTERS].strip()
    if start[:9].lower().startswith(("<!doctype", "<html")):
        head, _, title = start.lower().partition("<title")
        _, _, title = start[len(head) + len("<title") :].partition(">")
        end = title.lower().find("</title>")
        name = f' "{title[:end].strip()[:200]}"' if end >= 0 else ""
        return f"a web page{name}, not a model's answer"
    return _cut(start, 500)
