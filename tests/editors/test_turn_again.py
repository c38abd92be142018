"""What one answer means for the rest of the turn: a grant covers later edits, what was rejected is not asked again."""

from pathlib import Path

import pytest

from tests.editors.behaviour import NEOVIM, PROFILES, VISUAL_STUDIO_CODE, Profile
from tests.editors.conftest import OpenEditor
from tests.editors.question import allow, reject

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

each_profile = pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.client)

NUMBERS = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
DIGITS = "1\ntwo\nthree\nfour\nfive\nsix\n7\n"

THE_SAME_EDIT_AGAIN = """
[[reply]]
tool = "edit_file"
when = "already"
text = "I stop here."
[[reply]]
calls = [{ name = "edit_file", arguments = { path = "shapes_0.py", old_text = "one", new_text = "1" } }]
"""


@each_profile
async def test_apply_all_this_turn(open_editor: OpenEditor, profile: Profile) -> None:
    editor = await open_editor(profile)
    editor.policy = lambda question: question.choose("Apply all this turn")
    uri = editor.new_file(NUMBERS, "numbers")
    end = await editor.end(await editor.turn(f"make digits of the words in {uri.rpartition('/')[2]}", uri))
    assert editor.text(uri) == DIGITS
    assert end["edits"] == [{"uri": uri, "state": "applied"}]
    assert len(editor.questions) == 1


async def test_apply_once_is_asked_again(open_editor: OpenEditor) -> None:
    editor = await open_editor(VISUAL_STUDIO_CODE)
    editor.policy = allow
    uri = editor.new_file(NUMBERS, "numbers")
    await editor.end(await editor.turn(f"make digits of the words in {uri.rpartition('/')[2]}", uri))
    assert editor.text(uri) == DIGITS
    assert len(editor.questions) == 2


async def test_a_rejected_edit_is_not_asked_again(open_editor: OpenEditor, tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(THE_SAME_EDIT_AGAIN)
    editor = await open_editor.fresh(NEOVIM, scenario=scenario)
    editor.policy = reject
    uri = editor.new_file(NUMBERS)
    end = await editor.end(await editor.turn("insist", uri))
    assert editor.text(uri) == NUMBERS
    assert len(editor.questions) == 1
    assert end["text"] == "I stop here.", "the model was told"
