"""Cancel, by progress, by command and by closing the editor: within 500 ms, and nothing is left behind."""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable

import psutil
import pytest

from tests.editors.behaviour import NEOVIM, PROFILES, Profile
from tests.editors.conftest import OpenEditor
from tests.editors.memory_editor import MemoryEditor
from tests.editors.pool import Pool
from tests.editors.question import allow
from tests.editors.shapes import SHAPES

pytestmark = pytest.mark.asyncio(loop_scope="session")

BOUND = 0.5

each_profile = pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.client)


async def by_progress(editor: MemoryEditor, turn: str) -> None:  # noqa: ARG001 - progress knows no turns
    token = editor.sent("window/workDoneProgress/create")[-1].params["token"]
    editor.connection.notify("window/workDoneProgress/cancel", {"token": token})


async def by_command(editor: MemoryEditor, turn: str) -> None:
    assert await editor.command("tark.turn.cancel", {"turnId": turn}) == {"cancelled": [turn]}


async def while_the_model_talks(editor: MemoryEditor) -> str:
    turn = await editor.turn("talk slowly")
    await editor.connection.until(lambda: editor.progress("talk slowly"), "progress")
    await asyncio.sleep(0.2)
    return turn


async def while_a_question_is_open(editor: MemoryEditor) -> str:
    uri = editor.new_file(SHAPES)
    turn = await editor.turn(f"rewrite the area in {uri.rpartition('/')[2]}", uri)
    await editor.question()
    return turn


async def while_a_command_runs(editor: MemoryEditor) -> str:
    editor.policy = allow
    turn = await editor.turn("run a long command")
    await editor.connection.until(lambda: editor.questions, "the question")
    await sleeper_of(editor)
    return turn


async def sleeper_of(editor: MemoryEditor) -> list[psutil.Process]:
    """The processes below the server, once `sleep` is among them."""
    server = psutil.Process(editor.connection.process_id)
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        children = server.children(recursive=True)
        if any(child.name() == "sleep" for child in children):
            return children
        await asyncio.sleep(0.02)
    raise AssertionError(f"no command running\n{editor.connection.transcript()}")


Moment = Callable[[MemoryEditor], Awaitable[str]]


@each_profile
@pytest.mark.parametrize("cancel", [by_progress, by_command])
@pytest.mark.parametrize("moment", [while_the_model_talks, while_a_question_is_open, while_a_command_runs])
async def test_cancel(
    open_editor: OpenEditor, profile: Profile, moment: Moment, cancel: Callable[[MemoryEditor, str], Awaitable[None]]
) -> None:
    editor = await open_editor(profile, "permission", "updates")
    turn = await moment(editor)
    began = time.monotonic()
    await cancel(editor, turn)
    end = await editor.end(turn)
    assert time.monotonic() - began < BOUND
    assert end["stopReason"] == "cancelled"
    assert editor.open_question() is None, "the question is withdrawn"
    assert not editor.sent("workspace/applyEdit")
    assert psutil.Process(editor.connection.process_id).children(recursive=True) == []


@each_profile
async def test_cancel_withdraws_a_message(open_editor: OpenEditor, profile: Profile) -> None:
    editor = await open_editor(profile)
    turn = await while_a_question_is_open(editor)
    await by_command(editor, turn)
    assert (await editor.end(turn))["stopReason"] == "cancelled"
    assert editor.open_question() is None


async def test_the_answer_cancelled_cancels_the_turn(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM, "permission", "updates")
    turn = await while_a_question_is_open(editor)
    (await editor.question()).answer({"outcome": "cancelled"})
    assert (await editor.end(turn))["stopReason"] == "cancelled"


async def test_cancel_of_everything(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM, "permission", "updates")
    turns = [await while_the_model_talks(editor), await while_a_question_is_open(editor)]
    answer = await editor.command("tark.turn.cancel", {})
    assert sorted(answer["cancelled"]) == sorted(turns)
    assert [(await editor.end(turn))["stopReason"] for turn in turns] == ["cancelled", "cancelled"]


async def by_exit(editor: MemoryEditor) -> int:
    return await editor.close()


async def by_end_of_input(editor: MemoryEditor) -> int:
    editor.connection.close_input()
    return await editor.connection.exited()


@each_profile
@pytest.mark.parametrize(("close", "code"), [(by_exit, 0), (by_end_of_input, 1)])
async def test_closing_the_editor(
    open_editor: OpenEditor, profile: Profile, close: Callable[[MemoryEditor], Awaitable[int]], code: int
) -> None:
    editor = await open_editor.fresh(profile)
    await while_a_command_runs(editor)
    children = await sleeper_of(editor)
    began = time.monotonic()
    assert await close(editor) == code
    assert time.monotonic() - began < BOUND
    assert [child for child in children if child.is_running()] == []


async def test_an_editor_that_dies(pool: Pool) -> None:
    """Its input may stay open (another process holds the pipe), but `processId` is gone."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "import time; time.sleep(600)")
    editor = await pool.start(NEOVIM, frozenset(), NEOVIM.behaviour, process_id=process.pid)
    await while_a_command_runs(editor)
    children = await sleeper_of(editor)
    process.kill()
    await process.wait()
    assert await editor.connection.exited() == 1
    assert [child for child in children if child.is_running()] == []
    await editor.connection.stop()


async def test_closing_while_a_question_is_open(open_editor: OpenEditor) -> None:
    editor = await open_editor.fresh(NEOVIM)
    await while_a_question_is_open(editor)
    began = time.monotonic()
    assert await editor.close() == 0
    assert time.monotonic() - began < BOUND
