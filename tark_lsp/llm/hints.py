"""Hints: what the user can do about a model's error, in the imperative, with the names of their own configuration."""

import math

from tark_lsp.errors import (
    AuthenticationFailed,
    BadRequest,
    ConnectionFailed,
    ContextOverflow,
    ModelError,
    ModelNotFound,
    ModelTimeout,
    Overloaded,
    ProtocolError,
    QuotaExceeded,
    RateLimited,
    ServerError,
    StreamCut,
)
from tark_lsp.llm.keys.credentials import Key, login_hint, redact_secret
from tark_lsp.llm.provider import Provider

HINTS: dict[type[ModelError], str] = {
    AuthenticationFailed: "check the key in {key}",
    QuotaExceeded: "add credit to the account of {key}, or choose another model",
    RateLimited: "wait a moment, or choose another model",
    ServerError: "try again later, or choose another model",
    Overloaded: "try again later, or choose another model",
    ContextOverflow: "start a new session, or send less context",
    ModelNotFound: "choose a model that {name} offers, and check its base URL {url}",
    ConnectionFailed: "{offline}",
    ModelTimeout: "try again, or choose another model",
    StreamCut: "try again",
    ProtocolError: "check the base URL {url} and the wire of {name}",
    BadRequest: "try another model, or report this together with the log",
    ModelError: "try again, or choose another model",
}


NEXT_PROMPT = ", or with your next prompt"


def add_hint(error: ModelError, provider: Provider, key: Key | None, tried: int, rest: float = 0.0) -> None:
    """Sets `error.hint` if it is empty. Adds to the message the number of attempts, and when the next one is allowed,
    and sets `retry_after` to that.

    `rest`: for how many seconds no more requests are sent to the model.
    """
    variables = " or ".join(provider.key_env)
    redact_key(error, key)
    if isinstance(error, AuthenticationFailed) and key is not None and key.source not in provider.key_env:
        error.hint = error.hint or f"{login_hint(provider.name)} again"
    if key is None and isinstance(error, AuthenticationFailed) and variables:
        error.hint = error.hint or f"set {variables}, or {login_hint(provider.name)}"
    error.hint = error.hint or HINTS.get(type(error), "").format(
        key=key.source if key else variables or "the settings",
        name=provider.name,
        url=provider.base_url,
        offline=provider.offline_hint or f"check the network and the base URL {provider.base_url}",
    )
    if tried > 1:
        error.message += f" (tried {tried} times)"
    if rest:
        error.retry_after = max(error.retry_after or 0.0, rest)
        error.message += f"; the next try is in {math.ceil(rest)} s{NEXT_PROMPT}"


def redact_key(error: ModelError, key: Key | None) -> None:
    """Removes the key from the error's message: some providers repeat the key that they refuse."""
    if key is not None and key.value in error.message:
        error.message = redact_secret(error.message, key.value)
        error.args = (error.message,)  # `repr` shows the arguments
