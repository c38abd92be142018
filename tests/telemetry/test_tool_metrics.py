"""Metrics of tool calls as a receiver gets them: how many, how they ended, how long they took, and nothing else."""

import json
from collections.abc import Iterable
from typing import Any

import pytest

from tark_lsp.agent.events import CallChanged, CallStatus
from tark_lsp.telemetry.tracing import Tracing
from tests.telemetry.receiver import attributes_of, receiving
from tests.telemetry.turns import END, Record

WAITING, RUNNING, DONE = CallStatus.WAITING, CallStatus.IN_PROGRESS, CallStatus.COMPLETED
FAILED, REJECTED = CallStatus.FAILED, CallStatus.REJECTED
TIMEOUT = json.dumps({"error": {"code": "timeout", "message": "the secret took too long"}})
DENIED = json.dumps({"error": {"code": "denied", "message": "you may not read the secret"}})


def count(points: Iterable[Any]) -> dict[tuple[str, ...], int]:
    names = ("gen_ai.tool.name", "tark.tool.status", "error.type")
    return {
        tuple(attributes_of(point).get(name, "") for name in names): getattr(point, "as_int", 0) or point.count
        for point in points
    }


@pytest.mark.parametrize("only", [False, True], ids=["with spans", "metrics only"])
async def test_calls_are_counted_and_timed(monkeypatch: pytest.MonkeyPatch, only: bool) -> None:
    record = Record()
    told: list[str] = []
    with receiving() as receiver:
        name = "METRICS_ENDPOINT" if only else "ENDPOINT"
        path = "/v1/metrics" if only else ""
        environ = {f"OTEL_EXPORTER_OTLP_{name}": f"{receiver.url}{path}"}
        for variable, value in environ.items():
            monkeypatch.setenv(variable, value)
        tracing = Tracing(environ, told.append)
        tracing.on_turn_accepted(record)
        for call, tool, status, text in (
            ("1", "run_tests", WAITING, None),
            ("1", None, RUNNING, None),
            ("1", None, FAILED, TIMEOUT),
            ("2", "run_tests", RUNNING, None),
            ("2", None, DONE, "the secret words"),
            ("3", "read_file", REJECTED, DENIED),
            ("4", "read_file", RUNNING, None),  # and the turn ends
        ):
            tracing.on_turn_event(record, CallChanged(call, status, tool, text=text))
        tracing.on_turn_ended(record, END)
        assert tracing._loading is not None
        await tracing._loading
        await tracing.stop()
    assert told == []
    assert bool(receiver.spans) is not only
    calls = receiver.metrics["tark.tool.calls"]
    ended = {("run_tests", "failed", "timeout"): 1, ("run_tests", "completed", ""): 1}
    rejected = {("read_file", "rejected", "denied"): 1}
    assert count(calls) == {**ended, **rejected, ("read_file", "cancelled", ""): 1}
    assert {attributes_of(point)["tark.tool.status"] for point in calls if attributes_of(point)["tark.tool.retry"]} == {
        "completed"
    }
    durations = receiver.metrics["gen_ai.execute_tool.duration"]
    assert count(durations) == {**ended, ("read_file", "cancelled", ""): 1}
    assert all(0 <= point.sum < 60 for point in durations)
    assert "secret" not in str(receiver.metrics)
