"""The log: what a line contains and never contains, whose ids it has, and one file that several servers write."""

import asyncio
import json
import logging
import re
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.agent.events import Answered, CallChanged, CallStatus, TextChunk
from tark_lsp.log_ids import CURRENT_IDS, LogIds, log_context
from tark_lsp.messages import Usage
from tark_lsp.telemetry.log_file import KEPT, LogFile
from tark_lsp.telemetry.log_format import JsonFormatter, LineFormatter
from tark_lsp.telemetry.logs import Redactor
from tark_lsp.telemetry.turn_log import TurnLog
from tests.telemetry.turns import END, Record

SECRET = "an unguessable pass phrase"
REDACT = Redactor({"MY_PASSWORD": SECRET})
KEY = "sk-ant-api03-Zm9vYmFyYmF6cXV4cXV1eGNvcmdlZ3JhdWx0"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def logger(folder: Path) -> Iterator[logging.Logger]:
    """A logger that writes only to the log file in `folder`."""
    logger = logging.getLogger(f"tark_lsp.test.{folder.name}")
    handler = LogFile(lambda: folder)
    handler.setFormatter(JsonFormatter(REDACT))
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    yield logger
    logger.removeHandler(handler)


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "tark.jsonl").read_text().splitlines()]


def fail() -> None:
    raise ValueError(f"no such key: {KEY}")


def test_a_line(logger: logging.Logger, folder: Path) -> None:
    before = time.time()
    logger.warning("it is %s\nand so on", "so")
    (line,) = lines(folder)
    assert before - 1 < time.mktime(time.strptime(line["time"][:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone
    assert line["time"].endswith("+00:00")
    assert {name: line[name] for name in line.keys() - {"time", "pid"}} == {
        "level": "warning",
        "logger": logger.name,
        "message": "it is so\nand so on",
    }
    assert stat.S_IMODE((folder / "tark.jsonl").stat().st_mode) == 0o600


async def test_the_ids_are_those_of_the_code_that_logs(logger: logging.Logger, folder: Path) -> None:
    async def call(name: str) -> None:
        with log_context(call_id=name):
            await asyncio.sleep(0)
            logger.info("in a call")

    with log_context(session_id="s", turn_id="t"):
        tasks = [asyncio.create_task(call(name)) for name in ("a", "b")]
    logger.info("outside")
    await asyncio.gather(*tasks)
    outside, *inside = lines(folder)
    assert not {"sessionId", "turnId", "toolCallId"} & outside.keys()
    assert [(line["sessionId"], line["turnId"], line["toolCallId"]) for line in inside] == [
        ("s", "t", "a"),
        ("s", "t", "b"),
    ]
    assert CURRENT_IDS.get() == LogIds()


@pytest.mark.parametrize("formatter", [JsonFormatter(REDACT), LineFormatter(REDACT)], ids=["json", "line"])
def test_no_key_is_in_a_message_or_a_traceback(formatter: logging.Formatter) -> None:
    try:
        fail()
    except ValueError:
        told = logging.LogRecord("x", logging.ERROR, "", 0, "%s and %s", (SECRET, KEY), sys.exc_info())
    line = formatter.format(told)
    assert "in fail" in line
    assert "no such key: ***" in line
    assert KEY[12:] not in line
    assert SECRET not in line


def test_nothing_is_made_before_there_is_something_to_write(logger: logging.Logger, folder: Path) -> None:
    logger.setLevel(logging.WARNING)
    logger.info("not of interest")
    assert list(folder.iterdir()) == []


def test_a_full_file_is_put_aside_and_the_oldest_go(folder: Path) -> None:
    handler = LogFile(lambda: folder, largest=2000)
    handler.setFormatter(JsonFormatter(str))
    for number in range(200):
        handler.emit(logging.LogRecord("x", logging.INFO, "", 0, "%s", (f"record {number}",), None))
    files = sorted(folder.glob("tark-*.jsonl"))
    assert len(files) == KEPT
    assert all(2000 < file.stat().st_size < 2300 for file in files)
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
    kept = "".join(file.read_text() for file in (*files, folder / "tark.jsonl"))
    numbers = [int(json.loads(line)["message"].split()[1]) for line in kept.splitlines()]
    assert numbers == list(range(numbers[0], 200))


WRITER = """
import logging, sys
from pathlib import Path
from tark_lsp.telemetry.log_file import LogFile
from tark_lsp.telemetry.log_format import JsonFormatter
handler = LogFile(lambda: Path(sys.argv[1]), largest=1_000_000)
handler.setFormatter(JsonFormatter(str))
for number in range(2000):
    handler.emit(logging.LogRecord("x", logging.INFO, "", 0, "%s %d %s", (sys.argv[2], number, "x" * 200), None))
"""


@pytest.mark.slow  # it starts programs
def test_several_servers_write_one_file_and_lose_nothing(folder: Path) -> None:
    names = ("one", "two", "three")
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(folder), name]) for name in names]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    files = [*sorted(folder.glob("tark-*.jsonl")), folder / "tark.jsonl"]
    assert 2 <= len(files) <= KEPT + 1
    told = [json.loads(line)["message"].split()[:2] for file in files for line in file.read_text().splitlines()]
    assert sorted(told) == sorted([name, str(number)] for name in names for number in range(2000))


@pytest.mark.parametrize("problem", ["no folder", "a folder in its place"])
def test_where_it_cannot_be_written_that_is_said_once(
    problem: str, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def locate() -> Path:
        raise PermissionError(13, "Permission denied", str(folder))

    if problem == "a folder in its place":
        (folder / "tark.jsonl").mkdir()
    handler = LogFile(locate if problem == "no folder" else lambda: folder)
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        for _ in range(3):
            logging.getLogger("tark_lsp.test").warning("one of three")
    finally:
        root.removeHandler(handler)
    said = [record.message for record in caplog.records if record.name == "tark_lsp.telemetry.log_file"]
    assert len(said) == 1
    assert "no log file is written" in said[0]
    assert caplog.text.count("one of three") == 3


def test_it_comes_back_when_its_folder_was_removed(logger: logging.Logger, folder: Path) -> None:
    logger.info("before")
    (folder / "tark.jsonl").unlink()
    logger.info("after")
    assert [line["message"] for line in lines(folder)] == ["after"]


def test_a_line_that_was_cut_does_not_spoil_the_next(
    logger: logging.Logger, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:20]))  # the disk is full
    logger.info("torn")
    monkeypatch.undo()
    logger.info("whole")
    torn, whole = (folder / "tark.jsonl").read_text().splitlines()
    assert len(torn) == 20
    assert json.loads(whole)["message"] == "whole"


def test_a_turn_is_a_line_for_each_thing_it_did(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="tark_lsp")
    seen: list[LogIds] = []

    def see(_: logging.LogRecord) -> bool:
        seen.append(CURRENT_IDS.get())
        return True

    caplog.handler.addFilter(see)
    log, record = TurnLog(), Record()
    log.on_turn_accepted(record)
    log.on_turn_event(record, TextChunk("words of the model"))
    log.on_turn_event(record, Answered(1, "openai/gpt-5", Usage(100, 40, 0, 20, 5, None), 1.25, "tool_calls"))
    log.on_turn_event(record, CallChanged("call-1", CallStatus.IN_PROGRESS))
    log.on_turn_event(record, CallChanged("call-1", CallStatus.FAILED, "read_file", text="words of a tool"))
    log.on_update_sent(record, 1, {"kind": "text", "delta": "words"})
    log.on_turn_ended(record, {**END, "error": {"code": "rate_limited", "message": "words"}})
    accepted, answered, called, ended = [record.message for record in caplog.records]
    assert accepted == "turn accepted"
    assert answered == (
        "request 1 (turn) to openai/gpt-5: tool_calls after 1.250 s; in 100 (cached 40, written 0), "
        "out 20 (reasoning 5), price unknown"
    )
    assert re.match(r"read_file failed after \d+\.\d", called)
    assert ended == "turn ended: rate_limited"
    own = LogIds("session-0123456789ab", "turn-0123456789ab")
    assert seen == [own, own, LogIds(own.session_id, own.turn_id, "call-1"), own]
