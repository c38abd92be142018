"""When a failed request is sent again, and when a model gets no requests for a while. Pure.

Source: providers.md, "What happens when a provider fails".
"""

import email.utils
import random
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tark_lsp.errors import ConnectionFailed, ModelError, ModelTimeout, Overloaded, ServerError, StreamCut

PROVIDER_FAULTS = (ConnectionFailed, ModelTimeout, StreamCut, ServerError, Overloaded)
"""Errors that count against a model. Requests that are wrong or too frequent are the caller's fault."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Times in seconds. `total` is the whole time from the first request on, waits included."""

    tries: int = 5
    base: float = 0.5
    cap: float = 30.0
    total: float = 120.0

    def retry_delay(self, error: ModelError, tried: int, spent: float) -> float | None:
        """How long to wait before the next attempt; None: give up. The provider's delay overrides the computed one."""
        if not error.retryable or tried >= self.tries:
            return None
        own = random.uniform(0, min(self.cap, self.base * 2 ** (tried - 1)))
        wait = own if error.retry_after is None else error.retry_after
        return wait if spent + wait <= self.total else None


def read_retry_headers(error: ModelError, headers: Mapping[str, str]) -> None:
    """Sets `retry_after` and `retryable` from `retry-after-ms`, `retry-after` and `x-should-retry`."""
    after = _number(headers.get("retry-after-ms"))
    seconds = after / 1000 if after is not None else _number(headers.get("retry-after"))
    if seconds is None and "retry-after" in headers:
        date = email.utils.parsedate_tz(headers["retry-after"])
        seconds = email.utils.mktime_tz(date) - time.time() if date else None
    if seconds is not None:
        error.retry_after = max(0.0, seconds)
    wish = headers.get("x-should-retry")
    if wish in ("true", "false"):
        error.retryable = wish == "true"


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < 1e9 else None


class CircuitBreaker:
    """After 5 faults of a model within 60 s, requests wait for 30 s. Then one request tests whether the model works.

    The first request of a turn does not wait, and tests the model, too.
    """

    def __init__(
        self, faults: int = 5, window: float = 60.0, rest: float = 30.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._window = window
        self._rest = rest
        self._clock = clock
        self._faults: deque[float] = deque(maxlen=faults)
        self._open_until: float | None = None
        self._probing = False

    @property
    def reason(self) -> str:
        return f"this model failed {self._faults.maxlen} times within a minute"

    def seconds_left(self) -> float:
        """How long a request has to wait; 0 if it can be sent now."""
        if self._open_until is None:
            return 0.0
        return max(self._open_until - self._clock(), 1.0 if self._probing else 0.0)

    def before_request(self) -> None:
        self._probing = self._open_until is not None

    def after_request(self, error: BaseException | None) -> None:
        """`error` is None for an answer, else what the request ended with."""
        self._probing = False
        if error is None:
            self._faults.clear()
            self._open_until = None
        elif isinstance(error, PROVIDER_FAULTS):
            now = self._clock()
            self._faults.append(now)
            full = len(self._faults) == self._faults.maxlen and now - self._faults[0] <= self._window
            if full or self._open_until is not None:
                self._open_until = now + self._rest
