"""run_command: what runs is what was shown; output, time, processes, unsaved documents, changed files."""

import asyncio
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tark_lsp.errors import FailureForModel
from tark_lsp.tools import command_execution
from tark_lsp.tools.tool import Risk
from tark_lsp.workspace.processes import run_process
from tests.patience import AT_ONCE, HANGS
from tests.tools.conftest import Bench


@pytest.fixture(autouse=True)
def _no_process_is_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    ours = tmp_path_factory.getbasetemp().resolve()  # other tests run commands at the same time, elsewhere
    before = living(ours)
    yield
    end = time.monotonic() + AT_ONCE
    while left := living(ours) - before:  # one that was killed may take a moment to be gone
        assert time.monotonic() < end, left
        time.sleep(0.02)


def living(folder: Path) -> set[tuple[int, str]]:
    """Commands that run below the folder and are no zombies: an orphan's zombie is for init to collect."""
    found = set()
    for process in psutil.process_iter(["status", "name", "cwd", "environ"]):
        if process.info["status"] == psutil.STATUS_ZOMBIE or "TARK_COMMAND" not in (process.info["environ"] or {}):
            continue
        if Path(process.info["cwd"] or "/").is_relative_to(folder):
            found.add((process.pid, process.info["name"]))
    return found


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("echo out; echo err >&2", "exit code 0 after 0.0 s\nout\nerr"),
        ("exit 3", "exit code 3 after 0.0 s\n(no output)"),
        ("kill -9 $$", "ended by signal 9 after 0.0 s\n(no output)"),
        ("nonexistent-program-here 2>/dev/null", "exit code 127 after 0.0 s\n(no output)"),
        ("cat", "exit code 0 after 0.0 s\n(no output)"),  # stdin is empty, not open
        ("test -t 0 || test -t 1 || echo no terminal", "exit code 0 after 0.0 s\nno terminal"),
        (
            r"printf 'a\033[31mred\033[0m\033]0;title\007\n50%%\r100%%\nb\342\200z\0\n'",
            "exit code 0 after 0.0 s\nared\n100%\nb�z",
        ),
        ("basename $PWD", "exit code 0 after 0.0 s\nproject"),
    ],
)
async def test_output_and_exit(bench: Bench, command: str, expected: str) -> None:
    shown = await bench.call("run_command", command=command)
    assert re.sub(r"after \d+\.\d s", "after 0.0 s", shown, count=1) == expected


async def test_the_preview_is_what_runs_and_has_no_secrets(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "SSH_AUTH_SOCK",
        "BASH_ENV",
    ):
        monkeypatch.setenv(name, "not to be seen")
    bench.write("sub/x", "")
    first, second = [await bench.preview("run_command", command="env | sort", cwd="sub") for _ in range(2)]
    assert first == second
    assert first.command is not None
    assert first.command.argv[-2:] == ("-c", "env | sort")
    assert first.command.argv[0] in ("/bin/bash", "/usr/bin/bash", "/bin/sh")
    assert (first.command.cwd, first.command.timeout_seconds) == (bench.root / "sub", 120)
    assert first.risk is Risk.RISKY
    shown = await bench.call("run_command", command="env", cwd="sub")
    assert "not to be seen" not in shown
    assert f"PATH={os.environ['PATH']}" in shown


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"command": "echo a\0b"}, "invalid_arguments"),
        ({"command": "  "}, "invalid_arguments"),
        ({"command": "ls", "cwd": ".."}, "outside_workspace"),
        ({"command": "ls", "cwd": "/"}, "outside_workspace"),
        ({"command": "ls", "cwd": "file"}, "unsupported"),
        ({"command": "ls", "cwd": "nowhere"}, "unsupported"),
    ],
)
async def test_bad_input_is_told(bench: Bench, arguments: dict[str, str], code: str) -> None:
    bench.write("file", "")
    assert (await bench.failure("run_command", **arguments)).code == code


async def test_a_folder_swapped_for_a_link_after_the_question_is_refused(bench: Bench) -> None:
    bench.write("one/x", "")
    bench.write("two/x", "")
    tool = bench.tools["run_command"]
    arguments = tool.arguments(command="pwd", cwd="one")
    preview = await tool.preview(arguments, bench.ctx)
    (bench.root / "one").rename(bench.root / "three")
    (bench.root / "one").symlink_to(bench.root / "two")
    assert tool.run is not None
    with pytest.raises(Exception, match="another folder"):
        await tool.run(arguments, bench.ctx, preview)


async def test_long_output_keeps_head_and_tail(bench: Bench) -> None:
    bench.ctx.result_tokens = 100
    shown = await bench.call("run_command", command="seq 1 100000")
    lines = shown.splitlines()
    assert lines[1:3] == ["1", "2"]
    assert lines[-1] == "100000"
    (note,) = [line for line in lines if line.startswith("[")]
    assert note.startswith("[about 99,")
    assert len(shown) < 700


async def test_endless_output_is_bounded_and_ends_in_time(bench: Bench) -> None:
    memory = psutil.Process().memory_info().rss
    async with asyncio.timeout(AT_ONCE):
        failure = await bench.failure("run_command", command="yes", timeout_seconds=1)
    assert failure.code == "timeout"
    assert psutil.Process().memory_info().rss - memory < 30_000_000
    assert failure.details["output"].startswith("y\ny\n")


STUBBORN = {
    "ignores SIGTERM": "trap '' TERM; sleep 60; sleep 60",
    "grandchildren": "(trap '' TERM; sleep 60 & sleep 60) & (sleep 60 | sleep 60) & wait",
    "left its group": "setsid sh -c \"trap '' TERM; sleep 60\" & setsid sleep 60 & wait",
    "stopped": "sleep 60 & kill -STOP $!; kill -STOP $$; sleep 60",
}


@pytest.mark.parametrize("how", ["timeout", "cancel"])
@pytest.mark.parametrize("command", STUBBORN.values(), ids=STUBBORN)
async def test_nothing_is_left_after_timeout_and_cancel(bench: Bench, command: str, how: str) -> None:
    seconds = 2 if how == "timeout" else HANGS
    begun = bench.root.parent / "begun"  # in the folder it would be told as a change
    command = f"echo begun; touch {begun}; {command}"
    task = asyncio.create_task(bench.call("run_command", command=command, timeout_seconds=seconds))
    async with asyncio.timeout(AT_ONCE):
        if how == "cancel":
            while not begun.exists():  # noqa: ASYNC110  # a program makes it
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)  # it may start some of its processes meanwhile
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            with pytest.raises(Exception, match=r"not finished after 2 s") as caught:
                await task
            assert caught.value.details == {"output": "begun"}  # type: ignore[attr-defined]  # a ToolError


@pytest.mark.parametrize("milliseconds", [0, 1, 2, 3, 5, 8, 12, 20, 35, 60])
async def test_nothing_is_left_whenever_it_is_cancelled(bench: Bench, milliseconds: int) -> None:
    process = run_process(
        ("/bin/sh", "-c", "setsid sleep 60 & sleep 60"),
        cwd=bench.root,
        env={"PATH": os.environ["PATH"], "TARK_COMMAND": "here"},
        on_stdout=lambda _: True,
        marker="TARK_COMMAND=here",
    )
    task = asyncio.create_task(process)
    await asyncio.sleep(milliseconds / 1000)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_background_processes_end_with_the_command(bench: Bench) -> None:
    async with asyncio.timeout(AT_ONCE):
        shown = await bench.call("run_command", command="sleep 60 & (setsid sleep 60 &) ; echo done")
    assert shown.endswith("\ndone")


async def test_progress_is_said_now_and_then(bench: Bench) -> None:
    said: list[str] = []
    bench.ctx.report_progress = said.append
    await bench.call("run_command", command="for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $i; sleep 0.1; done")
    assert 1 <= len(said) <= 3
    assert all(word.endswith(("line", "lines")) for word in said)


async def test_unsaved_documents_are_named_before_and_after(bench: Bench) -> None:
    """All of the workspace: a command reads more than the folder it starts in."""
    bench.buffers.open(bench.write("sub/a.txt", "disk\n"), "typed\n")
    other = bench.write("other.txt", "x")
    bench.buffers.open(other, "not below cwd")
    bench.buffers.open(bench.write("saved.txt", "same"), "same")
    preview = await bench.preview("run_command", command="cat a.txt", cwd="sub")
    assert preview.unsaved == (other, bench.root / "sub/a.txt")
    told = (await bench.call("run_command", command="cat a.txt", cwd="sub")).split("\n")
    assert told[1:] == ["disk", "[not saved when it started, so it saw older text of: other.txt, sub/a.txt]"]
    assert not bench.editor.asked, "the question is that for permission"


async def test_the_result_says_nothing_of_saved_documents(bench: Bench) -> None:
    bench.buffers.open(bench.write("a.txt", "disk"), "disk")
    assert "saved" not in await bench.call("run_command", command="cat a.txt")


async def test_changed_files_are_named_and_listed(bench: Bench) -> None:
    told: list[Path] = []
    bench.ctx.changed_by_command = told.extend
    bench.write(".gitignore", "*.o\nread.o\n")
    for name in ("gone.txt", "changed.txt", "same.txt", "open.txt", "read.o"):
        bench.write(name, "before\n")
    bench.buffers.open(bench.root / "open.txt")
    await bench.call("read_file", path="read.o")
    shown = await bench.call(
        "run_command",
        command="rm gone.txt; touch .new ignored.o; for f in changed.txt open.txt read.o; do echo y >> $f; done;"
        "mkdir -p lib/__pycache__; touch lib/__pycache__/a.pyc",
    )
    assert shown.split("\n")[1:] == [
        "[created while it ran: .new]",
        "[changed while it ran: changed.txt, open.txt, read.o]",
        "[deleted while it ran: gone.txt]",
        "[open in the editor with a text that differs from the file on disk: open.txt]",
    ]
    assert sorted(path.name for path in told) == [".new", "changed.txt", "gone.txt", "open.txt", "read.o"]


async def test_what_a_cancelled_command_changed_is_listed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_execution, "CANCEL_SECONDS", AT_ONCE)
    told: list[Path] = []
    bench.ctx.changed_by_command = told.extend
    task = asyncio.create_task(bench.call("run_command", command="touch half; sleep 60"))
    async with asyncio.timeout(AT_ONCE):
        while not (bench.root / "half").exists():  # noqa: ASYNC110  # a program makes it
            await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert told == [bench.root / "half"]


async def test_a_dangerous_command_says_so(bench: Bench) -> None:
    preview = await bench.preview("run_command", command="rm  -rf\nbuild")
    assert preview.risk is Risk.DANGEROUS
    assert preview.title == "run_command rm -rf build (dangerous: it deletes whole folders)"


@pytest.mark.parametrize(("command", "code"), [("true", 0), ("exit 3", 3), ("kill -9 $$", -9)])
async def test_the_exit_code_and_the_time_are_figures(bench: Bench, command: str, code: int) -> None:
    facts = await bench.facts("run_command", command=command)
    assert facts.exit_code == code
    assert facts.seconds is not None
    assert 0 <= facts.seconds < AT_ONCE


@pytest.mark.parametrize("swapped", ["a link", "a folder"])
async def test_a_folder_that_was_replaced_since_the_preview_runs_nothing(bench: Bench, swapped: str) -> None:
    tool = bench.tools["run_command"]
    (bench.root / "sub").mkdir()
    (bench.root / "other").mkdir()
    arguments = tool.arguments(command="touch made", cwd="sub")
    preview = await tool.preview(arguments, bench.ctx)
    (bench.root / "sub").rename(bench.root / "kept")
    if swapped == "a link":
        (bench.root / "sub").symlink_to("other")
    else:
        (bench.root / "other").rename(bench.root / "sub")
    assert tool.run is not None
    with pytest.raises(FailureForModel):
        await tool.run(arguments, bench.ctx, preview)
    assert not list(bench.root.rglob("made"))
