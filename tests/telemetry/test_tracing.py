"""When turns are exported, and what a receiver that is down, slow or wrongly configured does to the server."""

import asyncio
import logging
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tark_lsp.agent.events import Answered, CallChanged, CallStatus, Requested
from tark_lsp.messages import Usage
from tark_lsp.telemetry.optional_tracing import create_tracing
from tark_lsp.telemetry.tracing import MOST_WAITING, Tracing
from tests.patience import AT_ONCE, HANGS
from tests.telemetry.receiver import receiving
from tests.telemetry.turns import END, Record

MODEL = "openai/gpt-5"


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://localhost:4318/v1/traces"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": " "}, False),
        ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://localhost:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://localhost:4318"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318", "OTEL_SDK_DISABLED": "true"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318", "OTEL_TRACES_EXPORTER": "none"}, True),
        (
            {
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318",
                "OTEL_TRACES_EXPORTER": "none",
                "OTEL_METRICS_EXPORTER": "none",
            },
            False,
        ),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318", "OTEL_TRACES_EXPORTER": "otlp"}, True),
    ],
)
def test_it_is_on_where_the_environment_says_so(environ: Mapping[str, str], wanted: bool) -> None:
    assert (create_tracing(environ, print) is not None) is wanted


def a_turn(tracing: Tracing) -> None:
    record = Record()
    tracing.on_turn_accepted(record)
    tracing.on_turn_event(record, Requested(1, MODEL))
    tracing.on_turn_event(record, Answered(1, MODEL, Usage(10, 0, 0, 5), 0.1, "tool_calls"))
    tracing.on_turn_event(record, CallChanged("call-1", CallStatus.IN_PROGRESS, "read_file"))
    tracing.on_turn_event(record, CallChanged("call-1", CallStatus.COMPLETED))
    tracing.on_turn_ended(record, END)


async def end(tracing: Tracing) -> None:
    """Once the library is there, which takes longer on a busy machine than the end of a server waits for it."""
    assert tracing._loading is not None
    await tracing._loading
    await tracing.stop()


Make = Callable[..., tuple[Tracing, list[str]]]


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Make:
    """Tracing for an environment, and what the user was told."""

    def make(**environ: str) -> tuple[Tracing, list[str]]:
        for name, value in environ.items():
            monkeypatch.setenv(name, value)  # where the library reads its own settings
        told: list[str] = []
        return Tracing(environ, told.append), told

    return make


async def test_what_happened_before_the_library_was_there_is_sent_with_its_time(make: Make) -> None:
    with receiving() as receiver:
        tracing, told = make(OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url, OTEL_SERVICE_NAME="mine")
        before = time.time_ns()
        a_turn(tracing)
        after = time.time_ns()
        await end(tracing)
        spans = receiver.wait_for(3)
    assert {span.name for span in spans} == {"invoke_agent tark-lsp", "chat gpt-5", "execute_tool read_file"}
    assert all(before <= span.began <= span.ended <= after for span in spans)
    assert receiver.resources[0]["service.name"] == "mine"
    assert told == []


async def test_the_library_is_not_installed(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tark_lsp.telemetry.otlp", None)
    tracing, told = make(OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9")
    for _ in range(2):
        a_turn(tracing)
        await end(tracing)
    assert len(told) == 1
    assert "pip install 'tark_lsp[otel]'" in told[0]


@pytest.mark.parametrize(
    "environ",
    [
        {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
        {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/json"},
        {"OTEL_BSP_SCHEDULE_DELAY": "-1"},
    ],
    ids=lambda environ: next(iter(environ)),
)
async def test_what_the_variables_get_wrong_is_said_once_and_harms_no_turn(
    environ: dict[str, str], make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    with receiving() as receiver:
        tracing, told = make(OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url, **environ)
        a_turn(tracing)
        await end(tracing)
    assert receiver.spans == []
    assert bool(receiver.metrics) == ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL" in environ)  # it is about spans alone
    assert len(told) == 1
    assert told[0].removeprefix("Tark: ") in caplog.text


async def test_a_receiver_that_refuses_is_said_once(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    with receiving(status=401) as receiver:
        tracing, told = make(OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url, OTEL_BSP_SCHEDULE_DELAY="20")
        for _ in range(3):
            a_turn(tracing)
            await asyncio.to_thread(receiver.wait_for_requests, receiver.requests + 1)
        await end(tracing)
    assert receiver.requests >= 3
    assert [record.message for record in caplog.records if "cannot be sent" in record.message] == [
        "spans or metrics cannot be sent: Failed to export spans batch code: 401, reason: Unauthorized (logged once)"
    ]
    assert told == []


async def test_a_receiver_that_is_slow_holds_nothing_up(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    """The receiver delays its first answer to the end. Waiting for it stops after a time, and then more is sent."""
    with receiving(holds=True) as receiver:
        tracing, _ = make(
            OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url,
            OTEL_EXPORTER_OTLP_TIMEOUT=f"{HANGS}",
            OTEL_BSP_SCHEDULE_DELAY="20",
        )
        a_turn(tracing)
        await asyncio.to_thread(receiver.wait_for_requests, 1)
        for _ in range(100):
            a_turn(tracing)
        await asyncio.sleep(0.1)  # enough for the library to want to send them
        await tracing.stop()
        a_turn(tracing)  # nothing starts after the end
        held = receiver.requests
        receiver.answering.set()
        for thread in threading.enumerate():
            if thread.name == "last spans":
                await asyncio.to_thread(thread.join, AT_ONCE)
    assert held == 1
    assert "dropped after" in caplog.text


async def test_a_defect_ends_the_spans_and_not_the_turn(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    with receiving() as receiver:
        tracing, _ = make(OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url)
        nothing: Any = None
        tracing.on_turn_accepted(nothing)
        a_turn(tracing)
        await end(tracing)
    assert receiver.spans == []
    assert caplog.text.count("no more spans and metrics are created") == 1


async def test_what_waits_for_the_library_is_bounded(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = threading.Event()
    monkeypatch.setattr("tark_lsp.telemetry.tracing._connect", lambda _: loaded.wait(10) and None)
    tracing, _ = make(OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9")
    record = Record()
    for _ in range(MOST_WAITING + 10):
        tracing.on_turn_accepted(record)
    assert len(tracing._waiting) == MOST_WAITING
    loaded.set()
    await asyncio.sleep(0)


async def test_the_library_s_own_log_is_as_it_was_afterwards(make: Make) -> None:
    library = logging.getLogger("opentelemetry")
    before = (list(library.handlers), library.propagate)
    with receiving() as receiver:
        tracing, _ = make(OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url)
        a_turn(tracing)
        await end(tracing)
    assert (list(library.handlers), library.propagate) == before == ([], True)
