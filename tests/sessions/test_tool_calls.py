"""Rows of tool calls: their sums by tool, how long they are kept, and files that were made before there were any."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.agent.call_figures import CallFigures
from tark_lsp.agent.events import CallStatus
from tark_lsp.messages import ApprovalLevel, Mode
from tark_lsp.sessions.rows import SessionRow
from tark_lsp.sessions.schema import TABLES
from tark_lsp.sessions.store import SessionStore
from tark_lsp.sessions.tool_calls import FailedCall, ToolSum, add_tool_calls, failed_calls, percentile, tool_sums
from tark_lsp.sessions.usage_file import reading

DONE, FAILED = CallStatus.COMPLETED, CallStatus.FAILED
NOON = 1.7e9
CALLS = [
    *(CallFigures("read_file", DONE, seconds=number / 100) for number in range(1, 101)),
    CallFigures("run_tests", FAILED, "timeout", 600.0, 5.0),
    CallFigures("run_tests", FAILED, "unsupported", retry=True),
    CallFigures("run_tests", DONE, seconds=2.0, waited=1.0, retry=True),
    CallFigures("run_tests", CallStatus.REJECTED, "denied", waited=3.0),
    CallFigures("run_tests", CallStatus.CANCELLED, seconds=9.0),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "sessions.sqlite3"


@pytest.fixture
def store(file: Path) -> Iterator[SessionStore]:
    def failed(problem: str) -> None:
        raise AssertionError(problem)

    store = SessionStore(lambda: file, failed)
    yield store
    store.close()


def add(store: SessionStore, *calls: CallFigures, session: str = "s1", time: float = NOON) -> None:
    store.file.write(lambda connection: add_tool_calls(connection, session, "t1", time, calls))


def test_sums_by_tool(store: SessionStore) -> None:
    add(store, *CALLS)
    read, run, total = tool_sums(store.file.read)
    assert (read.tool, read.calls, read.errors, read.p50, read.p95) == ("read_file", 100, 0, 0.5, 0.95)
    assert run == ToolSum("run_tests", 5, 2, 1, 1, 1, 2, p50=2.0, p95=600.0, seconds=602.0, waited=9.0)
    assert (total.tool, total.calls, total.errors) == ("total", 105, 2)
    assert failed_calls(store.file.read) == [
        FailedCall(NOON, "t1", "run_tests", "timeout", 600.0),
        FailedCall(NOON, "t1", "run_tests", "unsupported", None),
    ]


def test_of_a_session_and_since(store: SessionStore) -> None:
    add(store, CALLS[0])
    add(store, CALLS[-1], session="s2", time=NOON + 10)
    assert [one.tool for one in tool_sums(store.file.read, session_id="s1")] == ["read_file", "total"]
    assert [one.tool for one in tool_sums(store.file.read, NOON + 5)] == ["run_tests", "total"]
    assert tool_sums(store.file.read, session_id="nobody") == []


def test_they_outlive_their_session(store: SessionStore) -> None:
    store.create_session(SessionRow("s1", "", NOON, NOON, (), None, Mode.BUILD, ApprovalLevel.CAREFUL))
    add(store, *CALLS)
    store.delete_session("s1")
    assert tool_sums(store.file.read)[-1].calls == len(CALLS)


def test_a_file_of_version_1_gets_the_table(file: Path) -> None:
    """Its rows stay, also for `tark-lsp usage`, which reads the file as it is."""
    connection = sqlite3.connect(file)
    for statement in TABLES:
        if "tool_calls" not in statement:
            connection.execute(statement)
    connection.execute(
        "INSERT INTO sessions VALUES ('s1', 'old', 1, 1, '[]', NULL, 'build', 'careful', '', NULL, NULL, 1, 1)"
    )
    connection.execute("PRAGMA user_version = 1")
    connection.commit()
    connection.close()
    with reading(file) as read:
        assert read is not None
        assert tool_sums(read) == []
    told: list[str] = []
    store = SessionStore(lambda: file, told.append)
    add(store, *CALLS)
    assert tool_sums(store.file.read)[-1].calls == len(CALLS)
    assert store.file.read("SELECT title FROM sessions") == [("old",)]
    store.close()
    assert told == []


@given(st.lists(st.floats(0, 100), min_size=1), st.sampled_from([0.5, 0.95]))
def test_a_percentile_is_the_least_value_that_so_many_do_not_exceed(values: list[float], share: float) -> None:
    ordered = sorted(values)
    found = percentile(ordered, share)
    assert found in ordered
    assert sum(value <= found for value in ordered) >= share * len(ordered)
    assert sum(value < found for value in ordered) < share * len(ordered)


def test_of_nothing_there_is_no_percentile() -> None:
    assert percentile([], 0.5) is None
