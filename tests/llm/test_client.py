"""Requests to one model over a real connection: retries, timeouts, errors, cancellation."""

import asyncio
import gzip
import json
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace

import pytest

from tark_lsp.errors import (
    AuthenticationFailed,
    BadRequest,
    ConnectionFailed,
    ContextOverflow,
    ModelError,
    ModelTimeout,
    NoModel,
    Overloaded,
    ProtocolError,
    QuotaExceeded,
    RateLimited,
    ServerError,
    StreamCut,
    TarkError,
)
from tark_lsp.http import HttpRequest, HttpTransport
from tark_lsp.llm.client import Models, ProviderOverride
from tark_lsp.llm.events import Done, Retry, Stall, TextDelta, WireStop
from tark_lsp.llm.exchange import Timeouts, fetch_body
from tark_lsp.llm.model import WireModel
from tark_lsp.llm.retry import CircuitBreaker, RetryPolicy
from tark_lsp.llm.scripted.answer import answer_frames
from tark_lsp.llm.scripted.scenario import Reply, ScriptedCall, ScriptedError
from tark_lsp.server.protocol.outgoing import error_json
from tests.llm.asking import ENVIRON, QUICK, REFS, REQUEST, ask, built, models_at
from tests.loopback import Loopback, Raw
from tests.patience import AT_ONCE

WIRES = pytest.mark.parametrize("wire", list(REFS))
HELLO = Reply(text="Hello there", calls=(ScriptedCall("read_file", {"path": "a.py"}),), thinking="Hm.", chunk=3)
JSON = {"content-type": "application/json"}


def frames(reply: Reply, wire: str) -> list[bytes]:
    return list(answer_frames(reply, wire, b'{"model":"m"}', 1))


def refused(status: int, body: object, **headers: str) -> Raw:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Raw([json.dumps(body).encode()], status, {**JSON, **named})


@WIRES
async def test_an_answer(wire: str) -> None:
    async with Loopback([HELLO]) as server:
        models = models_at(server)
        events, error = await ask(await models.open_model(REFS[wire]))
        await models.aclose()
    assert error is None
    message, builder = built(events, REFS[wire])
    assert message.text == "Hello there"
    assert [(call.name, call.arguments) for call in message.tool_calls] == [("read_file", '{"path": "a.py"}')]
    assert builder.stop is WireStop.TOOL_CALLS
    assert builder.usage.output_tokens > 1
    (request,) = server.requests
    assert request.json["messages"][-1]["role"] == "user"
    assert request.headers["accept"] == "text/event-stream"


async def test_the_key_goes_in_its_header_and_nowhere_else() -> None:
    async with Loopback([HELLO]) as server:
        models = models_at(server)
        for ref in REFS.values():
            await ask(await models.open_model(ref))
        await models.aclose()
    chat, messages = server.requests
    assert chat.headers["authorization"] == "Bearer sk-test-1"
    assert messages.headers["x-api-key"] == "sk-test-2"
    assert messages.headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in messages.headers
    for request in server.requests:
        assert "sk-test" not in request.path
        assert b"sk-test" not in request.body


async def test_connections_are_kept() -> None:
    async with Loopback([HELLO]) as server:
        models = models_at(server)
        for _ in range(3):
            await ask(await models.open_model("openai/gpt-4o"))
        await models.aclose()
    assert (len(server.requests), server.connections) == (3, 1)


RETRIED: dict[str, Raw | Reply] = {
    "408": refused(408, {}),
    "409": refused(409, {}),
    "429": refused(429, {"error": {"message": "slow down", "code": "rate_limit_exceeded"}}, retry_after="0.02"),
    "429 in ms": refused(429, {"error": {"message": "slow down"}}, retry_after_ms="20"),
    "429 with words like an overflow (Cerebras)": refused(
        429,
        {
            "message": "Tokens per minute limit exceeded - too many tokens processed.",
            "type": "too_many_tokens_error",
            "code": "token_quota_exceeded",
        },
        retry_after="0.02",
    ),
    "429 until a date": refused(429, {}, retry_after="Wed, 21 Oct 2015 07:28:00 GMT"),
    "500": refused(500, {"error": {"message": "oops"}}),
    "503 as a page": Raw([b"<html><title>Busy</title></html>"], 503, {"content-type": "text/html"}),
    "529": refused(529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    "400 with x-should-retry": refused(400, {"error": {"message": "odd"}}, x_should_retry="true"),
    "reset before any byte": Raw(reset=True),
    "reset before content": Raw([b": ping\n\n"], reset=True),
    "ended before content": Raw([b": ping\n\n"]),
    "scripted 500": Reply(error=ScriptedError(500)),
}


@WIRES
@pytest.mark.parametrize("first", RETRIED.values(), ids=RETRIED.keys())
async def test_retried(first: Raw | Reply, wire: str) -> None:
    async with Loopback([first, HELLO]) as server:
        models = models_at(server)
        events, error = await ask(await models.open_model(REFS[wire]))
        await models.aclose()
    assert error is None
    assert len(server.requests) == 2
    assert [type(event) for event in events].count(Retry) == 1
    assert built(events)[0].text == "Hello there"


OVERFLOW = {"error": {"message": "prompt is too long: 3333404 tokens > 200000 maximum"}}
NOT_RETRIED: dict[str, tuple[Raw, type[ModelError], str]] = {
    "400": (refused(400, {"error": {"message": "no"}}), BadRequest, "report"),
    "401": (refused(401, {"error": {"message": "bad key"}}), AuthenticationFailed, "OPENAI_API_KEY"),
    "401 as text": (Raw([b"go away"], 401), AuthenticationFailed, "OPENAI_API_KEY"),
    "402": (refused(402, {}), QuotaExceeded, "credit"),
    "404 as a page": (Raw([b"<!doctype html><title>Lost</title>"], 404), ModelError, "/v1"),
    "quota": (refused(429, {"error": {"code": "insufficient_quota", "message": "pay"}}), QuotaExceeded, "credit"),
    "overflow": (refused(400, OVERFLOW), ContextOverflow, "new session"),
    "500 with x-should-retry": (refused(500, {}, x_should_retry="false"), ServerError, "another model"),
    "a wait that is too long": (refused(429, {}, retry_after="500"), RateLimited, "another model"),
    "a web page": (
        Raw([b"<html><head><title>Welcome</title>"], 200, {"content-type": "text/html"}),
        ProtocolError,
        "/v1",
    ),
    "JSON in place of a stream": (refused(200, {"id": "x", "choices": []}), ProtocolError, "/v1"),
    "an error with status 200": (
        refused(200, {"error": {"message": "Incorrect API key"}}),
        AuthenticationFailed,
        "OPENAI",
    ),
    "garbage": (Raw([b"data: {nonsense\n\n"]), ProtocolError, "/v1"),
    "junk that is no field": (Raw([b"\x00\xff\xfe" * 100]), StreamCut, "again"),
}


@pytest.mark.parametrize(("answer", "kind", "hint"), NOT_RETRIED.values(), ids=NOT_RETRIED.keys())
async def test_errors(answer: Raw, kind: type[ModelError], hint: str) -> None:
    async with Loopback([answer]) as server:
        models = models_at(server, policy=RetryPolicy(base=0.001, cap=0.001))
        events, error = await ask(await models.open_model("openai/gpt-4o"))
        await models.aclose()
    assert isinstance(error, kind), error
    assert hint in error.hint
    if kind is not StreamCut:
        assert len(server.requests) == 1
        assert events == []


OOPS = refused(500, {"error": {"message": "oops"}})
FIRST = replace(REQUEST, starts_turn=True)


@asynccontextmanager
async def failing(policy: RetryPolicy = QUICK) -> AsyncIterator[tuple[Loopback, Models, WireModel]]:
    """A model that has failed five times, so that its circuit is open."""
    async with Loopback([OOPS]) as server:
        models = models_at(server, policy=policy)
        model = await models.open_model("openai/gpt-4o")
        assert isinstance(model, WireModel)
        model.policy = RetryPolicy(tries=1)
        for _ in range(5):
            await ask(model, FIRST)
        server.requests.clear()
        model.policy = policy
        yield server, models, model
        await models.aclose()


async def test_it_gives_up_after_five_attempts_and_says_when_the_next_try_is_allowed() -> None:
    async with Loopback([OOPS]) as server:
        models = models_at(server)
        events, error = await ask(await models.open_model("openai/gpt-4o"), FIRST)
        assert isinstance(error, ServerError)
        assert error.code == "server_error"
        assert error.message.startswith("HTTP 500 from the provider: oops (tried 5 times)")
        assert "the next try is in 30 s" in error.message
        assert len(server.requests) == 5
        reasons = [event.reason for event in events if isinstance(event, Retry)]
        assert reasons == ["HTTP 500 from the provider: oops"] * 4
        _, error = await ask(await models.open_model("openai/gpt-4.1"), FIRST)
        assert len(server.requests) == 10  # another model of the same provider is asked
        await models.aclose()


async def test_the_first_request_of_a_turn_is_sent_to_a_resting_model_and_its_answer_ends_the_rest() -> None:
    async with failing() as (server, _, model):
        server.then(HELLO)
        events, error = await ask(model, FIRST)
        assert (error, len(server.requests)) == (None, 1)
        events, error = await ask(model, REQUEST)
        assert (error, len(server.requests)) == (None, 2)
        assert not any(isinstance(event, Retry) for event in events)


async def test_a_failed_probe_is_sent_once_and_begins_the_rest_again() -> None:
    async with failing() as (server, _, model):
        for count in (1, 2):
            events, error = await ask(model, FIRST)
            assert isinstance(error, ServerError)
            assert error.message.startswith("HTTP 500 from the provider: oops")
            assert "the next try is in 30 s" in error.message
            assert (events, len(server.requests)) == ([], count)


async def test_a_later_request_of_a_turn_waits_until_the_rest_is_over() -> None:
    ticks = iter([*[0.0] * 5, 0.95])  # of the five faults, and of the request
    breaker = CircuitBreaker(rest=1.0, clock=lambda: next(ticks, 1.0))
    for _ in range(5):
        breaker.after_request(ServerError("oops"))
    async with failing() as (server, _, model):
        model.breaker = breaker
        server.then(HELLO)
        events, error = await ask(model, REQUEST)
        assert (error, len(server.requests)) == (None, 1)
        waits = [event for event in events if isinstance(event, Retry)]
        assert waits == [Retry(0.05, "this model failed 5 times within a minute")]


async def test_a_later_request_does_not_wait_longer_than_retries_may_take() -> None:
    async with failing(policy=replace(QUICK, total=10.0)) as (server, _, model):
        events, error = await ask(model, REQUEST)
        assert isinstance(error, Overloaded)
        assert error.retryable  # by a client of the gateway, which is told how long to wait
        assert error.retry_after == pytest.approx(30, abs=1)
        assert "the next try is in 30 s" in error.message
        assert error.hint
        assert (events, server.requests) == ([], [])


async def test_a_refusal_of_the_probe_is_answered_as_always() -> None:
    """It is no fault of the provider, so what was refused is left out at once."""
    async with failing() as (server, _, model):
        no = refused(400, {"error": {"message": "Unknown parameter: 'stream_options'."}})
        server.then(no, HELLO)
        _, error = await ask(model, FIRST)
        assert (error, len(server.requests)) == (None, 2)


@WIRES
async def test_a_stream_cut_anywhere_yields_its_events_and_then_an_error(wire: str) -> None:
    body = b"".join(frames(HELLO, wire))
    end = len(body) if wire == "anthropic-messages" else body.index(b'"finish_reason":"tool_calls"')
    cuts = [(cut, reset) for cut in range(0, end - 3, len(body) // 25) for reset in (False, True)]
    async with Loopback([Raw([body[:cut]], reset=reset) for cut, reset in cuts]) as server:
        models = models_at(server, policy=RetryPolicy(tries=1))
        for number, (cut, _) in enumerate(cuts):
            events, error = await ask(await models.open_model(f"{REFS[wire]}-{number}"))  # the breaker is of one model
            message, builder = built(events)
            assert isinstance(error, StreamCut), (cut, error)
            assert "Hello there".startswith(message.text)
            assert builder.stop is None
        await models.aclose()


async def played(raw: Raw, wire: str) -> tuple[list, TarkError | None]:  # type: ignore[type-arg]  # events of all kinds
    async with Loopback([raw]) as server:
        models = models_at(server, policy=RetryPolicy(tries=1))
        result = await ask(await models.open_model(REFS[wire]))
        await models.aclose()
    return result


@WIRES
async def test_invalid_utf8_ends_the_answer(wire: str) -> None:
    body = b"".join(frames(Reply(text="Hello there"), wire)).replace(b"Hello", b"He\xff\xfeo")
    _, error = await played(Raw([body]), wire)
    assert isinstance(error, ProtocolError)
    assert "not UTF-8" in error.message


@WIRES
async def test_shown_content_is_never_requested_again(wire: str) -> None:
    parts = frames(Reply(text="Hello there", chunk=2), wire)
    async with Loopback([Raw(parts[:4], reset=True), HELLO]) as server:
        models = models_at(server)
        events, error = await ask(await models.open_model(REFS[wire]))
        await models.aclose()
    assert isinstance(error, StreamCut)
    assert built(events)[0].text
    assert len(server.requests) == 1


async def test_an_error_in_the_stream_comes_after_its_events() -> None:
    parts = [*frames(Reply(text="Hi", cut=True), "openai-chat"), b'data: {"error":{"message":"x","code":502}}\n\n']
    events, error = await played(Raw(parts), "openai-chat")
    assert events == [TextDelta("Hi")]
    assert isinstance(error, ServerError)


TIMES = Timeouts(headers=2.0, idle=2.0, thinking=2.0, notice=0.4, notice_again=0.4)
SLOW: dict[str, tuple[Raw, bool]] = {
    "no head": (Raw(silent=True), False),
    "no body": (Raw(stall=True), False),
    "stops in the middle": (Raw(frames(Reply(text="Hi", cut=True), "openai-chat"), stall=True), True),
}


@pytest.mark.parametrize(("answer", "shown"), SLOW.values(), ids=SLOW.keys())
async def test_silence_is_reported_and_ends_the_request(answer: Raw, shown: bool) -> None:
    async with Loopback([HELLO, answer]) as server:
        models = models_at(server, policy=RetryPolicy(tries=1))
        model = await models.open_model("openai/gpt-4o")
        assert isinstance(model, WireModel)
        await ask(model)  # the first request waits for imports, too, which can take longer than TIMES
        began = time.monotonic()
        events, error = await ask(replace(model, times=TIMES))
        took = time.monotonic() - began
        await asyncio.wait_for(server.requests[1].closed.wait(), AT_ONCE)
        await models.aclose()
    assert isinstance(error, ModelTimeout)
    assert sum(isinstance(event, Stall) for event in events) >= 2
    assert (TextDelta("Hi") in events) is shown
    assert took > 1.9


async def test_any_byte_ends_the_silence() -> None:
    parts = [*[b": ping\n\n"] * 30, *frames(Reply(text="Hi"), "openai-chat")]
    async with Loopback([Raw(parts, pause=0.05)]) as server:
        models = models_at(server, times=Timeouts(headers=5.0, idle=1.0, thinking=1.0))
        events, error = await ask(await models.open_model("openai/gpt-4o"))
        await models.aclose()
    assert error is None
    assert built(events)[0].text == "Hi"


@WIRES
@pytest.mark.parametrize("when", ["before the head", "in the middle"])
async def test_cancelling_closes_the_socket(wire: str, when: str) -> None:
    parts = frames(Reply(text="Hi", cut=True), wire)
    answer = Raw(silent=True) if when == "before the head" else Raw(parts, stall=True)
    async with Loopback([answer]) as server:
        models = models_at(server)
        task = asyncio.create_task(ask(await models.open_model(REFS[wire])))
        await server.asked(1)
        await asyncio.sleep(0.05)
        task.cancel()
        async with asyncio.timeout(AT_ONCE):
            with pytest.raises(asyncio.CancelledError):
                await task
            await server.requests[0].closed.wait()
        await models.aclose()


async def test_leaving_early_closes_the_socket() -> None:
    async with Loopback([Raw(frames(HELLO, "openai-chat"), pause=0.02)]) as server:
        models = models_at(server)
        async with aclosing((await models.open_model("openai/gpt-4o")).stream(REQUEST)) as stream:
            async for _ in stream:
                break
        await asyncio.wait_for(server.requests[0].closed.wait(), AT_ONCE)
        await models.aclose()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_refused(status: int) -> None:
    async with Loopback([HELLO]) as other, Loopback([Raw(status=status, headers={"location": other.url})]) as server:
        models = models_at(server)
        _, error = await ask(await models.open_model("anthropic/claude-sonnet-4-5"))
        await models.aclose()
        assert isinstance(error, BadRequest)
        assert "baseUrl" in error.hint
        assert (len(server.requests), other.connections) == (1, 0)


async def test_nobody_listens() -> None:
    async with Loopback([HELLO]) as server:
        url = server.url
    models = models_at(
        server, more={"ollama": ProviderOverride(base_url=f"{url}/v1")}, policy=RetryPolicy(tries=2, base=0.01)
    )
    events, error = await ask(await models.open_model("ollama/qwen3"))
    await models.aclose()
    assert isinstance(error, ConnectionFailed)
    assert "ollama serve" in error.hint
    assert [type(event) for event in events] == [Retry]


async def test_refused_stream_options_are_left_out_from_then_on() -> None:
    no = refused(400, {"error": {"message": "Unknown parameter: 'stream_options'."}})
    async with Loopback([no, HELLO]) as server:
        models = models_at(server)
        model = await models.open_model("openai/gpt-4o")
        events, error = await ask(model)
        assert error is None
        assert Retry not in [type(event) for event in events]
        await ask(model)
        await models.aclose()
    assert ["stream_options" in request.json for request in server.requests] == [True, False, False]


async def test_bytes_after_the_end_are_not_waited_for() -> None:
    parts = frames(Reply(text="Hi"), "openai-chat")
    async with Loopback([Raw(parts, stall=True)]) as server:
        models = models_at(server, policy=QUICK)
        async with asyncio.timeout(AT_ONCE):
            events, error = await ask(await models.open_model("openai/gpt-4o"))
        await models.aclose()
    assert error is None
    assert isinstance(events[-1], Done)


async def test_twenty_at_once() -> None:
    async with Loopback([HELLO]) as server:
        models = models_at(server)
        answers = await asyncio.gather(*[ask(await models.open_model(ref)) for ref in list(REFS.values()) * 10])
        await models.aclose()
    assert {built(events)[0].text for events, error in answers if error is None} == {"Hello there"}
    assert ENVIRON["OPENAI_API_KEY"] in server.requests[0].headers["authorization"]


async def test_a_placeholder_key_does_not_damage_messages() -> None:
    async with Loopback([refused(401, {"error": {"message": "kick the kettle"}})]) as server:
        models = models_at(server, environ={"OPENAI_API_KEY": "k"})
        _, error = await ask(await models.open_model("openai/gpt-4o"))
        await models.aclose()
    assert "kick the kettle" in str(error)


async def test_a_slow_error_body_is_reported_in_time() -> None:
    told = b'{"error": {"message": "no"}}'
    drip = Raw([told, *[b" "] * 2000], status=400, pause=0.05)
    async with Loopback([drip]) as server:
        models = models_at(server, times=Timeouts(refusal=0.3))
        async with asyncio.timeout(AT_ONCE):
            _, error = await ask(await models.open_model("openai/gpt-4o"))
        await models.aclose()
    assert isinstance(error, BadRequest)
    assert "no" in error.message


async def test_a_small_answer_has_a_time_limit() -> None:
    drip = Raw([b" "] * 1000, pause=0.05)
    async with Loopback([drip]) as server:
        network = HttpTransport()
        with pytest.raises(ModelTimeout, match="end within"):
            await fetch_body(network, HttpRequest("POST", server.url), Timeouts(), 1 << 20, seconds=0.3)
        await network.aclose()


async def test_a_body_that_expands_to_gigabytes_is_limited() -> None:
    bomb = gzip.compress(bytes(64 << 20))
    packed = Raw([bomb], headers={"content-type": "application/json", "content-encoding": "gzip"})
    odd = Raw([bomb], headers={"content-type": "application/json", "content-encoding": "gzip, gzip"})
    async with Loopback([packed, odd]) as server:
        network = HttpTransport()
        _, body = await fetch_body(network, HttpRequest("POST", server.url), Timeouts(), 1 << 16)
        assert len(body) <= 20 << 20
        with pytest.raises(ProtocolError, match="in the encoding gzip, gzip"):
            await fetch_body(network, HttpRequest("POST", server.url), Timeouts(), 1 << 16)
        await network.aclose()


async def test_an_error_says_after_how_many_seconds_a_new_attempt_makes_sense() -> None:
    busy = refused(429, {"error": {"message": "slow down"}}, retry_after="200")
    async with Loopback([busy]) as server:
        models = models_at(server)
        _, limited = await ask(await models.open_model("openai/gpt-4o"), FIRST)
        await models.aclose()
    assert isinstance(limited, RateLimited)
    assert error_json(limited)["retryAfter"] == 200
    async with failing() as (_, _, model):
        _, resting = await ask(model, FIRST)
        assert isinstance(resting, ServerError)
        assert error_json(resting)["retryAfter"] == 30
    assert "retryAfter" not in error_json(BadRequest("no"))
    assert "retryAfter" not in error_json(NoModel("none"))
