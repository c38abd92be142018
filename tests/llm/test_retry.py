"""Retry delays and the circuit breaker, on a test clock."""

import email.utils
import time

import pytest

from tark_lsp.errors import BadRequest, ConnectionFailed, ModelError, Overloaded, RateLimited, StreamCut
from tark_lsp.llm.retry import CircuitBreaker, RetryPolicy, read_retry_headers

POLICY = RetryPolicy()


@pytest.mark.parametrize(("tried", "most"), [(1, 0.5), (2, 1), (3, 2), (4, 4)])
def test_waits_double_with_full_jitter(tried: int, most: float) -> None:
    waits = [POLICY.retry_delay(Overloaded("x"), tried, 0) for _ in range(200)]
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
    assert POLICY.retry_delay(error, tried, spent) is None


def test_the_provider_s_wait_is_respected() -> None:
    assert POLICY.retry_delay(RateLimited("x", retry_after=7), 1, 0) == 7


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


def test_a_date_in_the_future() -> None:
    error = RateLimited("x")
    read_retry_headers(error, {"retry-after": email.utils.formatdate(time.time() + 30, usegmt=True)})
    assert error.retry_after is not None
    assert 27 < error.retry_after <= 30


def test_should_retry_makes_a_4xx_retryable() -> None:
    error = BadRequest("x")
    read_retry_headers(error, {"x-should-retry": "true"})
    assert POLICY.retry_delay(error, 1, 0) is not None


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def ask(breaker: CircuitBreaker, outcome: BaseException | None) -> None:
    breaker.before_request()
    breaker.after_request(outcome)


def opened(clock: Clock) -> CircuitBreaker:
    breaker = CircuitBreaker(clock=clock)
    for _ in range(5):
        ask(breaker, ConnectionFailed("x"))
    return breaker


def test_five_faults_open_it_for_thirty_seconds() -> None:
    clock = Clock()
    breaker = opened(clock)
    assert breaker.seconds_left() == 30
    clock.now += 29
    assert breaker.seconds_left() == 1
    clock.now += 2
    assert breaker.seconds_left() == 0


def test_one_probe_decides() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += 31
    assert breaker.seconds_left() == 0
    breaker.before_request()
    assert breaker.seconds_left() == 1  # one at a time
    breaker.after_request(StreamCut("x"))
    assert breaker.seconds_left() == 30
    clock.now += 31
    ask(breaker, None)
    assert breaker.seconds_left() == 0
    ask(breaker, ConnectionFailed("x"))
    assert breaker.seconds_left() == 0


def test_a_probe_within_the_rest_decides_too() -> None:
    """The first request of a turn does not wait."""
    clock = Clock()
    breaker = opened(clock)
    clock.now += 10
    ask(breaker, ConnectionFailed("x"))
    assert breaker.seconds_left() == 30
    clock.now += 10
    ask(breaker, BadRequest("x"))
    assert breaker.seconds_left() == 20  # it says nothing about the provider
    ask(breaker, None)
    assert breaker.seconds_left() == 0


def test_of_two_probes_each_counts() -> None:
    clock = Clock()
    breaker = opened(clock)
    breaker.before_request()
    breaker.before_request()
    breaker.after_request(None)
    assert breaker.seconds_left() == 0
    breaker.after_request(ConnectionFailed("x"))
    assert breaker.seconds_left() == 0  # one fault is not five


def test_after_a_cancelled_probe_another_can_start() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += 31
    ask(breaker, KeyboardInterrupt())
    assert breaker.seconds_left() == 0
    ask(breaker, None)


@pytest.mark.parametrize("harmless", [BadRequest("x"), RateLimited("x"), None])
def test_errors_that_are_not_faults(harmless: ModelError | None) -> None:
    breaker = CircuitBreaker(clock=Clock())
    for _ in range(20):
        ask(breaker, harmless)
    assert breaker.seconds_left() == 0


def test_faults_far_apart_do_not_add_up() -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock=clock)
    for _ in range(20):
        ask(breaker, ConnectionFailed("x"))
        assert breaker.seconds_left() == 0
        clock.now += 16
