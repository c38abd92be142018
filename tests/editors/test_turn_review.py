"""Looking before answering: `Review` shows the whole change, and what was not seen whole cannot be granted unseen."""

from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

from tests.editors.behaviour import EMACS, NEOVIM, Profile
from tests.editors.conftest import OpenEditor
from tests.editors.memory_editor import MemoryEditor
from tests.editors.shapes import AREA, NEW_AREA, SHAPES

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]


def shown_text(editor: MemoryEditor) -> str:
    """What the person reads: in the document shown, or in the file whose path is said."""
    if editor.shown:
        return Path(unquote(urlparse(editor.shown[-1]["uri"]).path)).read_text()
    (path,) = (word.strip("()`'\"") for word in editor.notes[-1].split() if word.strip("()`'\"").endswith(".md"))
    return Path(path).read_text()


@pytest.mark.parametrize("profile", [NEOVIM, EMACS], ids=lambda profile: profile.client)
async def test_review_shows_the_change_and_asks_again(open_editor: OpenEditor, profile: Profile) -> None:
    editor = await open_editor(profile)
    uri = editor.new_file(SHAPES)
    turn = await editor.turn(f"rewrite the area in {uri.rpartition('/')[2]}", uri)
    question = await editor.question()
    assert question.titles == ["Review", "Reject", "Apply", "Apply all this turn"]
    assert question.text.endswith(": +1 -1 lines")
    question.choose("Review")
    await editor.connection.until(lambda: editor.shown or editor.notes, "the change shown")
    assert f"-{AREA}" in shown_text(editor)
    assert f"+{NEW_AREA}" in shown_text(editor)
    assert editor.text(uri) == SHAPES
    (await editor.question()).allow()
    await editor.end(turn)
    assert editor.text(uri) == SHAPES.replace(AREA, NEW_AREA)


async def test_a_new_file_is_granted_only_after_it_was_seen(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM)
    turn = await editor.turn("write a file called notes.md")
    question = await editor.question()
    assert question.titles == ["Review", "Reject"]
    question.choose("Review")
    again = await editor.question()
    assert "Round things." in shown_text(editor)
    assert not (editor.folder / "notes.md").exists()
    again.allow()
    end = await editor.end(turn)
    assert (editor.folder / "notes.md").read_text() == "Round things.\n"
    assert end["edits"] == [{"uri": (editor.folder / "notes.md").as_uri(), "state": "applied"}]
    assert not editor.sent("workspace/applyEdit")


async def test_a_command_says_what_runs(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM)
    await editor.turn("run a long command")
    question = await editor.question()
    assert "sleep 600" in question.text
    assert question.titles[:3] == ["Show", "Reject", "Allow"]
    question.reject()


async def test_a_command_that_does_not_fit_is_granted_only_after_it_was_seen(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM)
    await editor.turn("run an endless command")
    question = await editor.question()
    assert question.titles == ["Show", "Reject"]
    question.choose("Show")
    again = await editor.question()
    assert "hidden at the end" in shown_text(editor)
    assert "Allow" in again.titles
    again.reject()
