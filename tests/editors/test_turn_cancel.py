"""Cancel by progress and by command, whatever the turn waits for: it ends, and nothing is left behind."""

from collections.abc import Awaitable, Callable

import psutil
import pytest

from tests.editors.behaviour import NATIVE, NEOVIM, PROFILES, Profile
from tests.editors.conftest import OpenEditor
from tests.editors.memory_editor import MemoryEditor
from tests.editors.moments import while_a_command_runs, while_a_question_is_open, while_the_model_talks

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

each_profile = pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.client)


async def by_progress(editor: MemoryEditor, turn: str) -> None:  # noqa: ARG001 - progress knows no turns
    token = editor.sent("window/workDoneProgress/create")[-1].params["token"]
    editor.connection.notify("window/workDoneProgress/cancel", {"token": token})


async def by_command(editor: MemoryEditor, turn: str) -> None:
    assert await editor.command("tark.turn.cancel", {"turnId": turn}) == {"cancelled": [turn]}


Moment = Callable[[MemoryEditor], Awaitable[str]]


@each_profile
@pytest.mark.parametrize("cancel", [by_progress, by_command])
@pytest.mark.parametrize("moment", [while_the_model_talks, while_a_question_is_open, while_a_command_runs])
async def test_cancel(
    open_editor: OpenEditor, profile: Profile, moment: Moment, cancel: Callable[[MemoryEditor, str], Awaitable[None]]
) -> None:
    editor = await open_editor(profile, *NATIVE)
    turn = await moment(editor)
    await cancel(editor, turn)
    end = await editor.end(turn)
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
    editor = await open_editor(NEOVIM, *NATIVE)
    turn = await while_a_question_is_open(editor)
    (await editor.question()).answer({"outcome": "cancelled"})
    assert (await editor.end(turn))["stopReason"] == "cancelled"


async def test_cancel_of_everything(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM, *NATIVE)
    turns = [await while_the_model_talks(editor), await while_a_question_is_open(editor)]
    answer = await editor.command("tark.turn.cancel", {})
    assert sorted(answer["cancelled"]) == sorted(turns)
    assert [(await editor.end(turn))["stopReason"] for turn in turns] == ["cancelled", "cancelled"]
