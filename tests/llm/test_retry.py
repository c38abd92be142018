"""Waits and the breaker, on a clock of their own."""

import email.utils
import time

import pytest

from tark_lsp.errors import BadRequest, ConnectionFailed, ModelError, Overloaded, RateLimited, StreamCut
from tark_lsp.llm.retry import Breaker, RetryPolicy, read_retry_headers

POLICY = RetryPolicy()


@pytest.mark.parametrize(("tried", "most"), [(1, 0.5), (2, 1), (3, 2), (4, 4)])
def test_waits_double_with_full_jitter(tried: int, most: float) -> None:
    waits = [POLICY.wait(Overloaded("x"), tried, 0) for _ in range(200)]
    numbers = [wait for wait in waits if wait is not None]
    assert len(numbers) == 200
    assert 0 <= min(numbers) < most / 4
    assert most * 0.75 < max(numbers) <= most


GIVEN_UP: dict[str, tuple[ModelError, int, float]] = {
    "an error that waiting does not help": (BadRequest("x"), 1, 0),
    "five tries": (Overloaded("x"), 5, 0),
    "no time left": (RateLimited("x", retry_after=60), 1, 61),
    "too long a wait": (RateLimited("x", retry_after=121), 1, 0),
}


@pytest.mark.parametrize(("error", "tried", "spent"), GIVEN_UP.values(), ids=GIVEN_UP.keys())
def test_giving_up(error: ModelError, tried: int, spent: float) -> None:
    assert POLICY.wait(error, tried, spent) is None


def test_what_the_provider_asks_for_is_waited() -> None:
    assert POLICY.wait(RateLimited("x", retry_after=7), 1, 0) == 7


HEADERS: dict[str, tuple[dict[str, str], float | None, bool]] = {
    "none": ({}, None, True),
    "seconds": ({"retry-after": "1.5"}, 1.5, True),
    "milliseconds go first": ({"retry-after-ms": "200", "retry-after": "9"}, 0.2, True),
    "a date gone by": ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0, True),
    "garbage": ({"retry-after": "soon", "retry-after-ms": "nan"}, None, True),
    "negative": ({"retry-after": "-5"}, None, True),
    "should not": ({"x-should-retry": "false"}, None, False),
}


@pytest.mark.parametrize(("headers", "after", "retryable"), HEADERS.values(), ids=HEADERS.keys())
def test_headers(headers: dict[str, str], after: float | None, retryable: bool) -> None:
    error = RateLimited("x")
    read_retry_headers(error, headers)
    assert error.retry_after == after
    assert error.retryable is retryable
    assert RateLimited("y").retryable is True


def test_a_date_to_come() -> None:
    error = RateLimited("x")
    read_retry_headers(error, {"retry-after": email.utils.formatdate(time.time() + 30, usegmt=True)})
    assert error.retry_after is not None
    assert 27 < error.retry_after <= 30


def test_should_retry_makes_a_4xx_retryable() -> None:
    error = BadRequest("x")
    read_retry_headers(error, {"x-should-retry": "true"})
    assert POLICY.wait(error, 1, 0) is not None


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def ask(breaker: Breaker, outcome: BaseException | None) -> None:
    breaker.enter()
    breaker.leave(outcome)


def opened(clock: Clock) -> Breaker:
    breaker = Breaker(clock=clock)
    for _ in range(5):
        ask(breaker, ConnectionFailed("x"))
    return breaker


def test_five_faults_open_it_for_thirty_seconds() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += 29
    with pytest.raises(Overloaded, match="left alone") as caught:
        breaker.enter()
    assert caught.value.retryable is False
    clock.now += 2
    breaker.enter()


def test_one_probe_decides() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += 31
    breaker.enter()
    with pytest.raises(Overloaded):
        breaker.enter()  # one at a time
    breaker.leave(StreamCut("x"))
    with pytest.raises(Overloaded):
        breaker.enter()
    clock.now += 31
    ask(breaker, None)
    ask(breaker, ConnectionFailed("x"))
    ask(breaker, None)


def test_a_probe_that_was_cancelled_gives_way_to_another() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += 31
    ask(breaker, KeyboardInterrupt())
    ask(breaker, None)


@pytest.mark.parametrize("harmless", [BadRequest("x"), RateLimited("x"), None])
def test_what_does_not_count(harmless: ModelError | None) -> None:
    breaker = Breaker(clock=Clock())
    for _ in range(20):
        ask(breaker, harmless)


def test_faults_long_apart_do_not_add_up() -> None:
    clock = Clock()
    breaker = Breaker(clock=clock)
    for _ in range(20):
        ask(breaker, ConnectionFailed("x"))
        clock.now += 16
