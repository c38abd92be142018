"""`Review` in editors with a preview of their own: the person ticks hunks, at any time, and the texts say which."""

import asyncio

import pytest

from tests.editors.behaviour import NEOVIM, NEOVIM_12, VISUAL_STUDIO_CODE, Profile
from tests.editors.conftest import OpenEditor
from tests.editors.memory_editor import MemoryEditor
from tests.editors.previewed import Previewed
from tests.editors.shapes import AREA, NEW_AREA, NEW_VOLUME, SHAPES, VOLUME

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

each_profile = pytest.mark.parametrize("profile", [VISUAL_STUDIO_CODE, NEOVIM_12], ids=lambda profile: profile.name)
BOTH = {NEW_AREA, NEW_VOLUME}
WITH_AREA = SHAPES.replace(AREA, NEW_AREA)


async def previewed(editor: MemoryEditor) -> tuple[str, str, Previewed]:
    """A document, the turn that wants two changes in it, and the preview of them."""
    uri = editor.new_file(SHAPES)
    turn = await editor.turn(f"rewrite area and volume in {uri.rpartition('/')[2]}", uri)
    (await editor.question()).choose("Review")
    preview = await editor.preview()
    assert preview.texts == [NEW_AREA, NEW_VOLUME]
    assert editor.text(uri) == SHAPES, "nothing is applied by being shown"
    return uri, turn, preview


async def states(editor: MemoryEditor, turn: str) -> list[str]:
    return [hunk["state"] for hunk in (await editor.command("tark.hunk.list", {"turnId": turn}))["hunks"]]


@each_profile
async def test_each_hunk_is_confirmed_on_its_own(open_editor: OpenEditor, profile: Profile) -> None:
    editor = await open_editor(profile)
    uri, turn, preview = await previewed(editor)
    (change,) = preview.edit["documentChanges"]
    assert change["textDocument"] == {"uri": uri, "version": editor.documents[uri].version}
    annotations = preview.edit["changeAnnotations"]
    assert [edit["annotationId"] for edit in change["edits"]] == list(annotations)
    assert all(annotation["needsConfirmation"] and annotation["label"] for annotation in annotations.values())
    assert len(annotations) == 2
    preview.discard()
    assert await states(editor, turn) == ["pending", "pending"]


@each_profile
@pytest.mark.parametrize(
    ("ticked", "text", "state"),
    [
        (BOTH, WITH_AREA.replace(VOLUME, NEW_VOLUME), "applied"),
        ({NEW_AREA}, WITH_AREA, "partly"),
        ({NEW_VOLUME}, SHAPES.replace(VOLUME, NEW_VOLUME), "partly"),
    ],
    ids=["both", "first", "second"],
)
async def test_what_is_ticked_is_accepted_and_the_rest_rejected(
    open_editor: OpenEditor, profile: Profile, ticked: set[str], text: str, state: str
) -> None:
    editor = await open_editor(profile)
    uri, turn, preview = await previewed(editor)
    preview.tick(ticked)
    end = await editor.end(turn)
    assert editor.text(uri) == text
    assert end["edits"] == [{"uri": uri, "state": state}]
    assert len(editor.sent("workspace/applyEdit")) == 1, "what the person applied is not applied again"
    assert await editor.command("tark.turn.undo", {"turnId": turn}) == {"restored": [uri], "kept": []}
    assert editor.text(uri) == SHAPES


@each_profile
@pytest.mark.parametrize("how", ["discarded", "nothing ticked"])
async def test_nothing_taken_is_no_answer(open_editor: OpenEditor, profile: Profile, how: str) -> None:
    editor = await open_editor(profile)
    uri, turn, preview = await previewed(editor)
    preview.discard() if how == "discarded" else preview.tick(())
    again = await editor.question(10)
    assert await states(editor, turn) == ["pending", "pending"]
    assert editor.text(uri) == SHAPES
    again.allow()
    await editor.end(turn)
    assert editor.text(uri) == WITH_AREA.replace(VOLUME, NEW_VOLUME)


async def test_typing_while_it_is_open_and_a_subset_late(open_editor: OpenEditor) -> None:
    """An editor that carries the preview along, as one with no version check does; undo keeps what was typed."""
    editor = await open_editor(VISUAL_STUDIO_CODE)
    uri, turn, preview = await previewed(editor)
    last = editor.text(uri).count("\n")
    for character in "# mine":
        editor.type(uri, last, len(editor.text(uri).splitlines()[last:]), character)
        await asyncio.sleep(0.01)
    typed = editor.text(uri)
    preview.edit["documentChanges"][0]["textDocument"]["version"] = editor.documents[uri].version
    preview.tick({NEW_VOLUME})
    end = await editor.end(turn)
    assert editor.text(uri) == typed.replace(VOLUME, NEW_VOLUME)
    assert end["edits"] == [{"uri": uri, "state": "partly"}]
    await editor.command("tark.turn.undo", {"turnId": turn})
    assert editor.text(uri) == typed


@each_profile
async def test_an_editor_that_refuses_since_the_person_typed(open_editor: OpenEditor, profile: Profile) -> None:
    editor = await open_editor(profile)
    uri, turn, preview = await previewed(editor)
    editor.type(uri, 0, 0, "# typed\n")
    preview.tick(BOTH)
    (await editor.question(10)).choose("Review")
    (await editor.preview()).tick({NEW_AREA})
    await editor.end(turn)
    assert editor.text(uri) == "# typed\n" + WITH_AREA


async def test_others_go_on_while_it_is_open(open_editor: OpenEditor) -> None:
    """A preview is open for as long as a person reads it; an edit of another turn does not wait for that."""
    editor = await open_editor(VISUAL_STUDIO_CODE)
    _, turn, preview = await previewed(editor)
    other = editor.new_file(SHAPES)
    second = await editor.turn(f"rewrite the area in {other.rpartition('/')[2]}", other)
    (await editor.question()).choose("Apply")
    await editor.end(second)
    assert editor.text(other) == WITH_AREA
    preview.tick(BOTH)
    await editor.end(turn)


async def test_a_late_answer_after_the_turn_counts(open_editor: OpenEditor) -> None:
    editor = await open_editor(VISUAL_STUDIO_CODE)
    uri, turn, preview = await previewed(editor)
    await editor.command("tark.turn.cancel", {"turnId": turn})
    await editor.end(turn)
    assert await states(editor, turn) == ["rejected", "rejected"]
    preview.tick({NEW_AREA})
    await editor.connection.until(lambda: editor.text(uri) == WITH_AREA, "applied by the editor itself")
    assert await states(editor, turn) == ["accepted", "rejected"]
    assert (await editor.command("tark.turn.undo", {"turnId": turn}))["restored"] == [uri]
    assert editor.text(uri) == SHAPES


async def test_never_where_it_would_be_applied_at_once(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM)
    uri = editor.new_file(SHAPES)
    await editor.turn(f"rewrite area and volume in {uri.rpartition('/')[2]}", uri)
    (await editor.question()).choose("Review")
    await editor.question()
    assert editor.shown
    assert not editor.sent("workspace/applyEdit")


async def test_a_new_file_is_shown_as_a_text(open_editor: OpenEditor) -> None:
    """The server writes files that are not open, so the editor has nothing to apply."""
    editor = await open_editor(VISUAL_STUDIO_CODE)
    await editor.turn("write a file called notes.md")
    (await editor.question()).choose("Review")
    await editor.question()
    assert editor.shown or editor.notes
    assert not editor.sent("workspace/applyEdit")
