"""`Problem`: an error of a request or of the provider, in the format of OpenAI's errors."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tark_lsp.errors import (
    AuthenticationFailed,
    BadRequest,
    ConnectionFailed,
    ContextOverflow,
    MissingKey,
    ModelNotFound,
    ModelTimeout,
    Overloaded,
    ProtocolError,
    QuotaExceeded,
    RateLimited,
    ServerError,
    SettingsError,
    StreamCut,
    TarkError,
    UnsupportedOption,
)
from tark_lsp.llm.hints import HINTS, NEXT_PROMPT

INVALID = "invalid_request_error"
SERVER = "server_error"


@dataclass(eq=False)
class Problem(Exception):
    """`param` is the place in the request, such as `input[3].call_id`; "" if there is none.

    `retryable`: whether the same request can work later. `retry_after`: seconds; None if unknown.
    """

    status: int
    type: str
    code: str
    message: str
    param: str = ""
    retryable: bool = False
    retry_after: float | None = None

    def __str__(self) -> str:
        return self.message

    @property
    def body(self) -> dict[str, Any]:
        return {
            "error": {
                "message": self.message,
                "type": self.type,
                "param": self.param or None,
                "code": self.code or None,
            }
        }

    @property
    def headers(self) -> dict[str, str]:
        """The headers that tell the official SDKs whether and when to retry."""
        after = {} if self.retry_after is None else {"retry-after": str(math.ceil(self.retry_after))}
        return {"x-should-retry": "true" if self.retryable else "false", **after}


def invalid(message: str, param: str, code: str = "invalid_value") -> Problem:
    return Problem(400, INVALID, code, message, param)


KINDS: Mapping[type[TarkError], tuple[int, str, str]] = {
    UnsupportedOption: (400, INVALID, "unsupported_value"),
    ContextOverflow: (400, INVALID, "context_length_exceeded"),
    BadRequest: (400, INVALID, "upstream_rejected"),
    ModelNotFound: (404, INVALID, "model_not_found"),
    RateLimited: (429, "rate_limit_error", "rate_limit_exceeded"),
    QuotaExceeded: (429, "insufficient_quota", "insufficient_quota"),
    # 401 would mean that the client's own token is wrong.
    AuthenticationFailed: (502, SERVER, "upstream_authentication"),
    MissingKey: (502, SERVER, "upstream_authentication"),
    SettingsError: (500, SERVER, "gateway_settings"),
    ConnectionFailed: (502, SERVER, "upstream_unreachable"),
    ProtocolError: (502, SERVER, "upstream_protocol"),
    StreamCut: (502, SERVER, "upstream_cut"),
    ServerError: (502, SERVER, "upstream_error"),
    Overloaded: (503, SERVER, "server_is_overloaded"),
    ModelTimeout: (504, SERVER, "upstream_timeout"),
}
"""HTTP status, type and code for each error of the lower layers."""

OPTION_FIELDS = {
    "answer_format": "text.format",
    "max_output_tokens": "max_output_tokens",
    "thinking": "reasoning.effort",
}
"""The names of options in the request, if they differ."""

FOR_CHATS: Mapping[str, str] = {NEXT_PROMPT: "", HINTS[ContextOverflow]: "send less"}
"""Advice for a user who chats, and what the gateway says instead."""

FAILED_CODES = frozenset({"server_error", "rate_limit_exceeded"})
"""The error codes of a failed response that OpenAI's type allows and that the gateway's errors can have."""


def problem_of(error: TarkError) -> Problem:
    kind = next((kind for kind in type(error).__mro__ if kind in KINDS), None)
    status, type_, code = KINDS[kind] if kind is not None else (500, SERVER, "gateway_error")
    message = str(error)
    for words, own in FOR_CHATS.items():
        message = message.replace(words, own)
    option = error.option if isinstance(error, UnsupportedOption) else ""
    return Problem(
        status,
        type_,
        code,
        message,
        OPTION_FIELDS.get(option, option),
        retryable=getattr(error, "retryable", False),
        retry_after=getattr(error, "retry_after", None),
    )
