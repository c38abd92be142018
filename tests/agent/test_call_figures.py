"""Figures of calls from the events of a turn: what counts as their time, as an error and as a retry."""

import pytest

from tark_lsp.agent.call_figures import CallFigures, CallMeter
from tark_lsp.agent.events import CallChanged, CallStatus
from tark_lsp.agent.results import failure_text

PENDING, WAITING, RUNNING = CallStatus.PENDING, CallStatus.WAITING, CallStatus.IN_PROGRESS
DONE, FAILED, REJECTED, CANCELLED = CallStatus.COMPLETED, CallStatus.FAILED, CallStatus.REJECTED, CallStatus.CANCELLED
TIMEOUT, UNKNOWN, DENIED = (failure_text(code, "no") for code in ("timeout", "unknown_tool", "denied"))

ROWS: dict[str, tuple[list[tuple[float, CallStatus, str | None]], CallFigures]] = {
    "runs": ([(1, PENDING, None), (2, RUNNING, None), (5, DONE, "x")], CallFigures("t", DONE, seconds=3)),
    "waits": (
        [(1, PENDING, None), (2, WAITING, None), (12, RUNNING, None), (13, DONE, "x")],
        CallFigures("t", DONE, seconds=1, waited=10),
    ),
    "waits twice": (
        [(0, WAITING, None), (1, PENDING, None), (2, WAITING, None), (5, RUNNING, None), (7, DONE, "x")],
        CallFigures("t", DONE, seconds=3, waited=4),
    ),
    "fails": ([(1, RUNNING, None), (4, FAILED, TIMEOUT)], CallFigures("t", FAILED, "timeout", 3)),
    "never begins": ([(1, FAILED, "not JSON")], CallFigures("t", FAILED, "_OTHER")),
    "is made up": ([(1, FAILED, UNKNOWN)], CallFigures("_OTHER", FAILED, "unknown_tool")),
    "is rejected": ([(1, WAITING, None), (9, REJECTED, DENIED)], CallFigures("t", REJECTED, "denied", waited=8)),
    "is cancelled": ([(1, RUNNING, None), (2, CANCELLED, None)], CallFigures("t", CANCELLED, seconds=1)),
}


@pytest.mark.parametrize(("steps", "figures"), ROWS.values(), ids=ROWS)
def test_one_call(steps: list[tuple[float, CallStatus, str | None]], figures: CallFigures) -> None:
    meter = CallMeter()
    *begun, last = [meter.event(at, CallChanged("1", status, "t", text=text)) for at, status, text in steps]
    assert begun == [None] * len(begun)
    assert last == figures
    assert meter.end(99) == []


def test_a_retry_is_the_same_tool_after_a_failure_in_the_turn() -> None:
    meter = CallMeter()

    def call(name: str, status: CallStatus) -> bool:
        meter.event(1, CallChanged(name + status, RUNNING, name))
        figures = meter.event(2, CallChanged(name + status, status, name))
        assert figures is not None
        return figures.retry

    steps = [("a", FAILED), ("b", DONE), ("a", FAILED), ("a", DONE), ("a", DONE), ("b", REJECTED), ("b", DONE)]
    assert [call(*step) for step in steps] == [False, False, True, True, False, False, False]


def test_the_end_of_a_turn_ends_its_calls() -> None:
    meter = CallMeter()
    meter.event(1, CallChanged("1", RUNNING, "a"))
    meter.event(2, CallChanged("2", WAITING, "b"))
    assert meter.end(5) == [
        CallFigures("a", CANCELLED, seconds=4),
        CallFigures("b", CANCELLED, seconds=0, waited=3),
    ]
