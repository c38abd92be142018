"""`tark-lsp audit` as a user runs it: the list, what is not finished, and a chain that was changed."""

import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tark_lsp.cli.audit import main
from tark_lsp.receipts.chain import START
from tark_lsp.receipts.receipt import Receipt, Step
from tark_lsp.receipts.store import ReceiptStore, read_entries

Run = Callable[..., tuple[int, str]]
SHOWN = Receipt(
    1.5e9, "session-1", "turn-1", "call-1", "run_command", Step.SHOWN, "abc", "run_command make \x1b[2J", "it runs"
)
APPROVED = replace(SHOWN, step=Step.APPROVED, detail="you")
ENDED = replace(SHOWN, step=Step.ENDED, detail="completed, exit code 0")
OTHER = replace(APPROVED, session="session-2", call="call-2", subject="edit a.py", detail="the rule edit_file(src/**)")


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "tark").mkdir()
    return tmp_path / "tark" / "receipts.sqlite3"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> tuple[int, str]:
        code = main(arguments)
        captured = capsys.readouterr()
        return code, " ".join((captured.out + captured.err).split())

    return run


def fill(file: Path) -> None:
    store = ReceiptStore(lambda: file)
    store.append([SHOWN, APPROVED, ENDED, OTHER])
    store.close()


def change(file: Path, sql: str) -> None:
    connection = sqlite3.connect(file)
    with connection:
        connection.execute(sql)
    connection.close()


def test_the_list_says_who_allowed_what_and_what_has_no_end(file: Path, run: Run) -> None:
    fill(file)
    code, shown = run()
    assert code == 0
    assert "shown run_command make \\u{1b}[2J: it runs 2" in shown
    assert "approved run_command make \\u{1b}[2J: you 3" in shown
    assert "ended run_command make \\u{1b}[2J: completed, exit code 0 4" in shown
    assert shown.endswith("edit a.py: the rule edit_file(src/**) (no end)")


def test_a_session_and_the_last_ones(file: Path, run: Run) -> None:
    fill(file)
    assert run("--session", "2")[1].startswith("4 ")
    assert run("list", "--last", "1")[1].startswith("4 ")
    assert run("--last", "2", "list")[1].startswith("3 ")
    assert run("--session", "nobody")[1] == "no receipts are stored for that"


def test_json_has_every_field(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(file)
    assert main(["--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["noEnd"] for row in rows] == [False, False, False, True]
    assert rows[1] == {
        "number": 2,
        "hash": read_entries(file)[1].hash,
        **APPROVED.to_json(),
        "step": "approved",
        "noEnd": False,
    }


def test_a_whole_chain_is_verified(file: Path, run: Run) -> None:
    assert run("verify") == (0, f"The chain is whole: 0 receipts. Last hash: {START}")
    fill(file)
    last = read_entries(file)[-1].hash
    assert run("verify") == (0, f"The chain is whole: 4 receipts. Last hash: {last}")
    assert run("verify", "--hash", last)[0] == 0


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("UPDATE receipts SET text = replace(text, 'you', 'yyy') WHERE number = 2", "Entry 2"),
        ("DELETE FROM receipts WHERE number = 3", "Entry 3 is missing"),
        ("DELETE FROM receipts WHERE number = 1", "Entry 1 is missing"),
    ],
)
def test_a_changed_chain_is_told_with_its_place(file: Path, run: Run, sql: str, words: str) -> None:
    fill(file)
    change(file, sql)
    code, shown = run("verify")
    assert code == 1
    assert "The chain of receipts is broken." in shown
    assert words in shown


def test_a_cut_end_is_found_with_a_noted_hash(file: Path, run: Run) -> None:
    fill(file)
    last = read_entries(file)[-1].hash
    change(file, "DELETE FROM receipts WHERE number = 4")
    assert run("verify")[0] == 0
    code, shown = run("verify", "--hash", last)
    assert code == 1
    assert "cut or replaced" in shown


def test_a_file_that_is_no_database_is_an_error(file: Path, run: Run) -> None:
    file.write_text("nothing of the kind" * 100)
    for arguments in ((), ("verify",)):
        code, shown = run(*arguments)
        assert code == 1
        assert "the file of receipts cannot be used" in shown


def test_an_entry_that_cannot_be_read_is_told(file: Path, run: Run) -> None:
    fill(file)
    change(file, "UPDATE receipts SET text = '{}' WHERE number = 2")
    code, shown = run()
    assert code == 0
    assert "1 cannot be read: run tark-lsp audit verify" in shown


@pytest.mark.parametrize("arguments", [("--last", "many"), ("--last", "-1"), ("check",)])
def test_wrong_usage(run: Run, arguments: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as stopped:
        run(*arguments)
    assert stopped.value.code == 2
