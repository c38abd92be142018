"""A turn with a selection: what is inside is applied as the level has it, what is outside is asked about by itself."""

import pytest

from tests.editors.behaviour import NATIVE, NEOVIM, PROFILES, Profile
from tests.editors.conftest import OpenEditor
from tests.editors.connection import Json
from tests.editors.memory_editor import MemoryEditor
from tests.editors.shapes import AREA, FUNCTION, NEW_AREA, NEW_VOLUME, SHAPES, VOLUME

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

INSIDE = SHAPES.replace(AREA, NEW_AREA)
BOTH = INSIDE.replace(VOLUME, NEW_VOLUME)


async def balanced(editor: MemoryEditor) -> str:
    """A session in which edits are applied unasked."""
    session = (await editor.end(await editor.turn("say hello")))["sessionId"]
    await editor.command("tark.settings.set", {"sessionId": session, "approval": "balanced"})
    return str(session)


async def on_area(editor: MemoryEditor, session: str) -> tuple[str, str]:
    """A turn on the first function that edits the second one, too."""
    uri = editor.new_file(SHAPES)
    selected = editor.documents[uri].find(FUNCTION)
    prompt = f"rewrite area and volume in {uri.rpartition('/')[2]}"
    return uri, await editor.turn(prompt, uri, selected, sessionId=session)


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.client)
@pytest.mark.parametrize("flags", [(), NATIVE], ids=["message", "permission"])
@pytest.mark.parametrize("accepted", [True, False])
async def test_inside_is_applied_while_outside_is_asked(
    open_editor: OpenEditor, profile: Profile, flags: tuple[str, ...], accepted: bool
) -> None:
    editor = await open_editor(profile, *flags)
    uri, turn = await on_area(editor, await balanced(editor))
    question = await editor.question()
    assert editor.text(uri) == INSIDE
    (waiting,) = (await editor.command("tark.permission.list", {}))["requests"]
    assert (waiting["grants"], waiting["why"]) == ([], "it edits text outside the selection")
    (document,) = waiting["edits"]
    assert [(hunk["newText"], hunk["outsideSelection"]) for hunk in document["hunks"]] == [(NEW_VOLUME, True)]
    if accepted:
        question.allow()
    else:
        question.reject()
    end = await editor.end(turn)
    assert editor.text(uri) == (BOTH if accepted else INSIDE)
    assert end["edits"] == [{"uri": uri, "state": "applied" if accepted else "partly"}]
    hunks: list[Json] = (await editor.command("tark.hunk.list", {"turnId": turn}))["hunks"]
    assert [hunk["outsideSelection"] for hunk in hunks] == [False, True]
    assert hunks[0]["applied"]


async def test_the_second_part_follows_what_was_typed_between(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM, *NATIVE)
    uri, turn = await on_area(editor, await balanced(editor))
    question = await editor.question()
    editor.type(uri, 0, 0, "# mine\n")
    question.allow()
    await editor.end(turn)
    assert editor.text(uri) == "# mine\n" + BOTH
    undone = await editor.command("tark.turn.undo", {"turnId": turn})
    assert undone["restored"] == [uri]
    assert editor.text(uri) == "# mine\n" + SHAPES


async def test_cancelling_the_second_question_keeps_what_was_applied(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM, *NATIVE)
    uri, turn = await on_area(editor, await balanced(editor))
    await editor.question()
    await editor.command("tark.turn.cancel", {"turnId": turn})
    end = await editor.end(turn)
    assert end["stopReason"] == "cancelled"
    assert end["edits"] == [{"uri": uri, "state": "applied"}]
    assert editor.text(uri) == INSIDE


async def test_where_both_are_asked_they_are_two_questions(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM, *NATIVE)
    uri = editor.new_file(SHAPES)
    selected = editor.documents[uri].find(FUNCTION)
    turn = await editor.turn(f"rewrite area and volume in {uri.rpartition('/')[2]}", uri, selected)
    first = await editor.question()
    assert first.params["grants"]
    assert editor.text(uri) == SHAPES
    first.reject()
    second = await editor.question()
    assert not second.params["grants"]
    second.allow()
    await editor.end(turn)
    assert editor.text(uri) == SHAPES.replace(VOLUME, NEW_VOLUME)
