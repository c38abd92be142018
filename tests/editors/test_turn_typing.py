"""The person types while the question is open: above and below the edit lands where it belongs, inside it gives way."""

import pytest

from tests.editors.behaviour import (
    BEHAVIOURS,
    HONEST,
    NATIVE,
    NEOVIM,
    PROFILES,
    SKIPS,
    UNVERSIONED,
    VISUAL_STUDIO_CODE,
    Behaviour,
    Profile,
    Stale,
)
from tests.editors.conftest import OpenEditor
from tests.editors.memory_editor import MemoryEditor
from tests.editors.shapes import AREA, NEW_AREA, SHAPES

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

ABOVE, BELOW, INSIDE = (0, 0, "# typed above\n"), (18, 0, "# typed below\n"), (6, 11, "2 * ")
each_profile = pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.client)
each_behaviour = pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda behaviour: behaviour.name)
beside = pytest.mark.parametrize("place", [ABOVE, BELOW], ids=["above", "below"])


def typed(text: str, place: tuple[int, int, str]) -> str:
    line, character, words = place
    lines = text.splitlines(keepends=True)
    lines[line] = lines[line][:character] + words + lines[line][character:]
    return "".join(lines)


async def asked(editor: MemoryEditor) -> tuple[str, str]:
    """A turn whose question is open: the document and the turn."""
    uri = editor.new_file(SHAPES)
    turn = await editor.turn(f"rewrite the area in {uri.rpartition('/')[2]}", uri)
    await editor.question()
    return uri, turn


@each_profile
@each_behaviour
@beside
async def test_typing_beside_the_edit(
    open_editor: OpenEditor, profile: Profile, behaviour: Behaviour, place: tuple[int, int, str]
) -> None:
    editor = await open_editor(profile, *NATIVE, behaviour=behaviour)
    uri, turn = await asked(editor)
    editor.type(uri, *place)
    (await editor.question()).allow()
    end = await editor.end(turn)
    assert editor.text(uri) == typed(SHAPES, place).replace(AREA, NEW_AREA)
    assert end["edits"] == [{"uri": uri, "state": "applied"}]


@each_profile
@each_behaviour
async def test_typing_inside_the_edit(open_editor: OpenEditor, profile: Profile, behaviour: Behaviour) -> None:
    editor = await open_editor(profile, *NATIVE, behaviour=behaviour)
    uri, turn = await asked(editor)
    editor.type(uri, *INSIDE)
    editor.flush()  # a person takes longer to answer than any editor to tell
    (await editor.question()).allow()
    end = await editor.end(turn)
    assert editor.text(uri) == typed(SHAPES, INSIDE), "the person's text is kept"
    assert end["edits"] == [{"uri": uri, "state": "failed"}]
    assert end["text"] == "The text changed under me.", "the model was told"


@each_profile
@pytest.mark.parametrize("place", [ABOVE, BELOW, INSIDE], ids=["above", "below", "inside"])
async def test_typing_while_a_message_asks(
    open_editor: OpenEditor, profile: Profile, place: tuple[int, int, str]
) -> None:
    editor = await open_editor(profile)
    uri, turn = await asked(editor)
    editor.type(uri, *place)
    editor.flush()
    (await editor.question()).allow()
    end = await editor.end(turn)
    assert editor.text(uri) == typed(SHAPES, place).replace(AREA, NEW_AREA)
    assert end["edits"] == [{"uri": uri, "state": "failed" if place is INSIDE else "applied"}]


@each_behaviour
@beside
async def test_typing_at_the_moment_the_edit_arrives(
    open_editor: OpenEditor, behaviour: Behaviour, place: tuple[int, int, str]
) -> None:
    """The server cannot know of it when it sends the edit. An editor that checks versions gets it again, for the right
    lines. In one that checks nothing it lands where the lines were: that is taken back, and made again or given up."""
    editor = await open_editor(VISUAL_STUDIO_CODE, *NATIVE, behaviour=behaviour)
    uri, turn = await asked(editor)
    left = [place]
    editor.before_apply = lambda: editor.type(uri, *left.pop()) if left else None
    (await editor.question()).allow()
    end = await editor.end(turn)
    (state,) = (edit["state"] for edit in end["edits"])
    kept = typed(SHAPES, place)
    if behaviour.stale is not Stale.APPLY:
        assert state == "applied"
    assert editor.text(uri) == (kept.replace(AREA, NEW_AREA) if state == "applied" else kept)


@each_behaviour
async def test_typing_inside_at_the_moment_the_edit_arrives(open_editor: OpenEditor, behaviour: Behaviour) -> None:
    editor = await open_editor(VISUAL_STUDIO_CODE, *NATIVE, behaviour=behaviour)
    uri, turn = await asked(editor)
    left = [INSIDE]
    editor.before_apply = lambda: editor.type(uri, *left.pop()) if left else None
    (await editor.question()).allow()
    end = await editor.end(turn)
    assert editor.text(uri) == typed(SHAPES, INSIDE), "the person's text is kept"
    assert [edit["state"] for edit in end["edits"]] == ["failed"]


async def test_no_message_asks_while_the_person_types(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM)
    uri = editor.new_file(SHAPES)
    editor.type(uri, *BELOW)
    editor.flush()
    last = editor.connection.messages[-1].at
    await editor.turn(f"rewrite the area in {uri.rpartition('/')[2]}", uri)
    question = await editor.question()
    assert question.at - last >= 0.65


async def test_an_editor_without_versions_gets_edits_in_quiet_only(open_editor: OpenEditor) -> None:
    editor = await open_editor(VISUAL_STUDIO_CODE, *NATIVE, behaviour=UNVERSIONED)
    uri, turn = await asked(editor)
    editor.type(uri, *BELOW)
    last = editor.connection.messages[-1]
    assert last.method == "textDocument/didChange"
    (await editor.question()).allow()
    await editor.end(turn)
    (applied,) = editor.sent("workspace/applyEdit")
    assert applied.at - last.at >= 0.3


@pytest.mark.parametrize("behaviour", [HONEST, SKIPS], ids=lambda behaviour: behaviour.name)
async def test_who_types_on_and_on_gets_the_edit_in_the_end(open_editor: OpenEditor, behaviour: Behaviour) -> None:
    """What an editor refuses or skips because the person is typing counts as no try."""
    editor = await open_editor(NEOVIM, *NATIVE, behaviour=behaviour)
    uri, turn = await asked(editor)
    left = [BELOW] * 4
    editor.before_apply = lambda: editor.type(uri, *left.pop()) if left else None
    (await editor.question()).allow()
    end = await editor.end(turn)
    assert left == []
    assert end["edits"] == [{"uri": uri, "state": "applied"}]
    assert editor.text(uri) == typed(SHAPES, (18, 0, BELOW[2] * 4)).replace(AREA, NEW_AREA)
