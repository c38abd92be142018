"""`tark-lsp usage` as a person runs it, with no server: tables, CSV, JSON, and what is said where there is nothing."""

import csv
import io
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tark_lsp.agent.call_figures import CallFigures
from tark_lsp.agent.events import CallStatus
from tark_lsp.cli.usage import main
from tark_lsp.messages import ApprovalLevel, Mode, Usage
from tark_lsp.sessions.rows import SessionRow, UsageRow
from tark_lsp.sessions.store import SessionStore
from tark_lsp.sessions.tool_calls import add_tool_calls
from tark_lsp.sessions.usage import add_usage

DAY = 86_400.0
Run = Callable[..., tuple[int, str]]


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "tark").mkdir()
    return tmp_path / "tark" / "sessions.sqlite3"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> tuple[int, str]:
        code = main(arguments)
        return code, capsys.readouterr().out

    return run


def fill(file: Path) -> None:
    def failed(problem: str) -> None:
        raise AssertionError(problem)

    now = time.time()
    store = SessionStore(lambda: file, failed)
    about = ((), None, Mode.BUILD, ApprovalLevel.CAREFUL)
    store.create_session(SessionRow("session-1", "Fix the \x1b[31mprices", now, now, *about))
    for days, model, cost in ((0, "openai/gpt-5", 0.25), (1, "openai/gpt-5", None), (9, "ollama/qwen3", 0.0)):
        usage = Usage(1000, 400, 0, 20, 5, cost)
        session = "session-1" if model.startswith("openai") else "session-2"
        row = UsageRow(session, f"turn-{days}", model, "turn", now - days * DAY, 1.5, "end_turn", usage)
        add_usage(store.file, row)
    store.close()


def test_the_table(file: Path, run: Run) -> None:
    fill(file)
    code, shown = run()
    assert code == 0
    head, *rows = (line.split() for line in shown.splitlines())
    assert head == ["model", "requests", "input", "cached", "output", "reasoning", "cost", "time"]
    assert rows == [
        ["openai/gpt-5", "2", "2,000", "800", "40", "10", "$0.2500", "+", "1", "unknown", "3.0", "s"],
        ["ollama/qwen3", "1", "1,000", "400", "20", "5", "$0.0000", "1.5", "s"],
        ["total", "3", "3,000", "1,200", "60", "15", "$0.2500", "+", "1", "unknown", "4.5", "s"],
    ]


def test_sessions_have_their_titles_and_no_title_steers_the_terminal(file: Path, run: Run) -> None:
    fill(file)
    _, shown = run("--by", "session")
    assert r"Fix the \u{1b}[31mprices" in shown
    assert "session-2" in shown


def test_csv(file: Path, run: Run) -> None:
    fill(file)
    code, shown = run("--by", "turn", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(shown)))
    assert code == 0
    assert [(row["turn"], row["costUsd"], row["unpricedRequests"]) for row in rows] == [
        ("turn-9", "0.0", "0"),
        ("turn-1", "", "1"),
        ("turn-0", "0.25", "0"),
    ]


def test_json(file: Path, run: Run) -> None:
    fill(file)
    code, shown = run("--format", "json", "--session", "session-1")
    told = json.loads(shown)
    assert code == 0
    assert [(row["model"], row["requests"]) for row in told["rows"]] == [("openai/gpt-5", 2)]
    assert (told["total"]["costUsd"], told["total"]["unpricedRequests"]) == (0.25, 1)


def test_since(file: Path, run: Run) -> None:
    fill(file)
    assert json.loads(run("--format", "json", "--since", "7d")[1])["total"]["requests"] == 2
    with pytest.raises(SystemExit) as wrong:
        run("--since", "yesterday")
    assert wrong.value.code == 2


@pytest.mark.parametrize(
    ("wanted", "requests"), [("1", 2), ("PRICES", 2), ("session-2", 1)], ids=["start", "title", "one that was deleted"]
)
def test_a_session_is_named_as_everywhere(file: Path, run: Run, wanted: str, requests: int) -> None:
    fill(file)
    assert json.loads(run("--format", "json", "--session", wanted)[1])["total"]["requests"] == requests


@pytest.mark.parametrize(("wanted", "words"), [("nobody", "there is no session"), ("session-", "matches several")])
def test_a_session_that_is_not_found_is_said(file: Path, run: Run, wanted: str, words: str) -> None:
    fill(file)
    code, shown = run("--session", wanted)
    assert (code, words in shown) == (1, True)


@pytest.mark.parametrize("arguments", [(), ("--since", "2999-01-01")])
def test_nothing_there_is_no_error(file: Path, run: Run, arguments: tuple[str, ...]) -> None:
    if arguments:
        fill(file)
    assert run(*arguments) == (0, "no model requests are recorded for that\n")
    assert json.loads(run(*arguments, "--format", "json")[1])["rows"] == []
    assert run(*arguments, "--format", "csv")[1].startswith("model,requests,")


def test_a_damaged_file_is_said(file: Path, run: Run) -> None:
    file.write_bytes(b"junk" * 4000)
    code, shown = run()
    assert code == 1
    assert "cannot be read" in shown


CALLS = [
    CallFigures("read_file", CallStatus.COMPLETED, seconds=0.25),
    CallFigures("run_tests", CallStatus.FAILED, "timeout", 600.0, 4.0),
    CallFigures("run_tests", CallStatus.COMPLETED, seconds=2.0, retry=True),
]


def add_calls(file: Path) -> None:
    def failed(problem: str) -> None:
        raise AssertionError(problem)

    store = SessionStore(lambda: file, failed)
    store.file.write(lambda connection: add_tool_calls(connection, "session-1", "turn-1", time.time(), CALLS))
    store.file.write(lambda connection: add_tool_calls(connection, "session-2", "turn-2", 1.0, CALLS[:1]))
    store.close()


def test_tools(file: Path, run: Run) -> None:
    fill(file)
    add_calls(file)
    code, shown = run("--tools")
    assert code == 0
    assert shown.splitlines() == [
        "tool       calls  errors  timeouts  rejected  cancelled  retries     p50       p95      time  waited",
        "read_file      2       0         0         0          0        0  0.25 s    0.25 s    0.50 s  0.00 s",
        "run_tests      2       1         1         0          0        1  2.00 s  600.00 s  602.00 s  4.00 s",
        "total          4       1         1         0          0        1  0.25 s  600.00 s  602.50 s  4.00 s",
    ]
    assert "read_file      1" in run("--tools", "--since", "1d")[1]


def test_the_report_of_a_session_names_its_failed_calls(file: Path, run: Run) -> None:
    fill(file)
    add_calls(file)
    code, shown = run("--tools", "--session", "session-1")
    assert code == 0
    table, _, failed = shown.partition("\n\n")
    assert len(table.splitlines()) == 4
    head, row = (line.split() for line in failed.splitlines())
    assert head == ["failed", "at", "tool", "error", "time", "turn"]
    assert row[2:] == ["run_tests", "timeout", "600.00", "s", "turn-1"]
    told = json.loads(run("--tools", "--session", "session-1", "--json")[1])
    assert [tool["tool"] for tool in told["tools"]] == ["run_tests", "read_file"]
    assert told["tools"][0] == {
        "tool": "run_tests", "calls": 2, "errors": 1, "timeouts": 1, "rejected": 0, "cancelled": 0, "retries": 1,
        "p50": 2.0, "p95": 600.0, "seconds": 602.0, "waited": 4.0,
    }  # fmt: skip
    assert (told["total"]["calls"], told["failed"][0]["turnId"], told["failed"][0]["code"]) == (3, "turn-1", "timeout")
    assert "failed" not in json.loads(run("--tools", "--json")[1])
    rows = list(csv.DictReader(io.StringIO(run("--tools", "--format", "csv")[1])))
    assert [(row["tool"], row["p95"]) for row in rows] == [("read_file", "0.25"), ("run_tests", "600.0")]


def test_no_tools(file: Path, run: Run) -> None:
    assert run("--tools") == (0, "no tool calls are recorded for that\n")
    assert json.loads(run("--tools", "--json")[1])["tools"] == []
    assert run("--tools", "--format", "csv")[1].startswith("tool,calls,errors")
    fill(file)
    assert run("--tools") == (0, "no tool calls are recorded for that\n")
    with pytest.raises(SystemExit) as ended:
        run("--tools", "--by", "day")
    assert ended.value.code == 2
