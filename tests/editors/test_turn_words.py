"""Answers in words without `tark/update`: a private Markdown file is shown, or the first words and its path are."""

import stat
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

from tests.editors.behaviour import EMACS, HELIX, NATIVE, NEOVIM, VISUAL_STUDIO_CODE, Profile
from tests.editors.conftest import OpenEditor
from tests.editors.question import allow
from tests.editors.shapes import FUNCTION, SHAPES

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

ANSWER = "It multiplies **pi** by the square of the radius."


def private(path: Path) -> bool:
    return stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("profile", [NEOVIM, VISUAL_STUDIO_CODE], ids=lambda profile: profile.client)
async def test_shown_as_a_document(open_editor: OpenEditor, profile: Profile) -> None:
    editor = await open_editor(profile)
    uri = editor.new_file(SHAPES)
    turn = await editor.turn("", uri, editor.documents[uri].find(FUNCTION), kind="explain")
    end = await editor.end(turn)
    assert ANSWER in end["text"]
    (shown,) = await editor.connection.until(lambda: editor.shown, "the document shown")
    assert not shown.get("takeFocus")
    path = Path(unquote(urlparse(shown["uri"]).path))
    assert ANSWER in path.read_text()
    assert private(path)
    assert not path.is_relative_to(editor.folder)


@pytest.mark.parametrize("profile", [EMACS, HELIX], ids=lambda profile: profile.name)
async def test_said_with_the_path(open_editor: OpenEditor, profile: Profile) -> None:
    """eglot 29 shows no documents; Helix would replace what the person looks at."""
    editor = await open_editor(profile)
    uri = editor.new_file(SHAPES)
    turn = await editor.turn("", uri, editor.documents[uri].find(FUNCTION), kind="explain")
    await editor.end(turn)
    (note,) = await editor.connection.until(lambda: editor.notes, "the message")
    assert ANSWER[:20] in note
    assert editor.shown == []
    (path,) = (Path(word.strip("()`'\"")) for word in note.split() if word.strip("()`'\"").endswith(".md"))
    assert ANSWER in path.read_text()
    assert private(path)


async def test_with_updates_nothing_is_shown(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM, *NATIVE)
    uri = editor.new_file(SHAPES)
    turn = await editor.turn("", uri, editor.documents[uri].find(FUNCTION), kind="explain")
    await editor.end(turn)
    assert "".join(update["delta"] for update in editor.updates(turn, "text")).count(ANSWER) == 1
    assert (editor.shown, editor.notes) == ([], [])


async def test_turns_that_edit_show_nothing(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM)
    editor.policy = allow
    uri = editor.new_file(SHAPES)
    await editor.end(await editor.turn("add a docstring", uri, editor.documents[uri].find(FUNCTION)))
    await editor.end(await editor.turn("say hello"))
    assert len(editor.shown) == 1, "only the words are shown"


async def test_the_last_answer_is_shown_again(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM)
    uri = editor.new_file(SHAPES)
    selected = editor.documents[uri].find(FUNCTION)
    await editor.end(await editor.turn("", uri, selected, kind="explain"))
    await editor.connection.until(lambda: editor.shown, "the document shown")
    (action,) = [item for item in await editor.actions(uri, selected) if item["title"] == "Show last answer"]
    await editor.run_action(action)
    await editor.connection.until(lambda: len(editor.shown) == 2, "the document shown again")
    assert editor.shown[0]["uri"] == editor.shown[1]["uri"]
