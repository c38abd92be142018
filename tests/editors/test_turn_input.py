"""A question of the model's to the person: by `tark/requestInput`, by a message with choices, or not at all."""

import pytest

from tests.editors.behaviour import NATIVE, NEOVIM, PROFILES, Profile
from tests.editors.conftest import OpenEditor
from tests.editors.question import INPUT, MESSAGE, answer_null

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

each_profile = pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.client)


@each_profile
async def test_by_request(open_editor: OpenEditor, profile: Profile) -> None:
    editor = await open_editor(profile, *NATIVE)
    turn = await editor.turn("ask for any colour")
    question = await editor.question()
    assert (question.method, question.text) == (INPUT, "Which colour?")
    question.answer({"answer": "mauve"})
    assert (await editor.end(turn))["text"] == "Answer: mauve"


@each_profile
async def test_by_a_message(open_editor: OpenEditor, profile: Profile) -> None:
    editor = await open_editor(profile)
    turn = await editor.turn("ask for one of four colours")
    question = await editor.question()
    assert (question.method, question.titles) == (MESSAGE, ["red", "green", "blue", "none"])
    question.choose("green")
    assert (await editor.end(turn))["text"] == "Chosen: green"


@each_profile
async def test_words_cannot_be_asked_for_by_a_message(open_editor: OpenEditor, profile: Profile) -> None:
    editor = await open_editor(profile)
    turn = await editor.turn("ask for any colour")
    assert (await editor.end(turn))["text"] == "Tell me the colour in your next words."
    assert not editor.questions


async def test_answered_later_by_command(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM)
    editor.policy = answer_null
    turn = await editor.turn("ask for one of four colours")
    await editor.connection.until(lambda: editor.questions, "the question")
    (request,) = (await editor.command("tark.state", {}))["inputs"]
    assert request["turnId"] == turn
    answer = {"requestId": request["requestId"], "answer": ["blue"]}
    assert await editor.command("tark.input.answer", answer) == {"accepted": True}
    assert (await editor.end(turn))["text"] == "Chosen: blue"
    assert await editor.command("tark.input.answer", answer) == {"accepted": False}
