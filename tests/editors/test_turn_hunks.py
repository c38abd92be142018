"""Hunk by hunk: listing, accepting, rejecting while the question is open; undo of a whole turn."""

import pytest

from tests.editors.behaviour import NATIVE, NEOVIM, PROFILES, Profile
from tests.editors.conftest import OpenEditor
from tests.editors.connection import Json, ResponseError
from tests.editors.memory_editor import MemoryEditor
from tests.editors.question import allow
from tests.editors.shapes import AREA, NEW_AREA, NEW_VOLUME, SHAPES, VOLUME

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

each_profile = pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.client)
each_surface = pytest.mark.parametrize("flags", [(), NATIVE], ids=["message", "permission"])

PENDING: Json = {"restored": [], "kept": [], "pending": True}
BOTH = SHAPES.replace(AREA, NEW_AREA).replace(VOLUME, NEW_VOLUME)


def answered(profile: Profile, answer: Json, early: Json | None = None) -> Json | None:
    """eglot gets its answer before it is sent an edit."""
    return early if profile.client == "emacs" else answer


async def two_hunks(editor: MemoryEditor) -> tuple[str, str, list[Json]]:
    """A turn that waits for the answer about two hunks: its document, its id, its hunks."""
    uri = editor.new_file(SHAPES)
    turn = await editor.turn(f"rewrite area and volume in {uri.rpartition('/')[2]}", uri)
    await editor.question()
    hunks = (await editor.command("tark.hunk.list", {"turnId": turn}))["hunks"]
    return uri, turn, hunks


@each_profile
@each_surface
async def test_hunks_are_listed(open_editor: OpenEditor, profile: Profile, flags: tuple[str, ...]) -> None:
    editor = await open_editor(profile, *flags)
    uri, turn, hunks = await two_hunks(editor)
    assert [(hunk["oldText"], hunk["newText"]) for hunk in hunks] == [(AREA, NEW_AREA), (VOLUME, NEW_VOLUME)]
    document = editor.documents[uri]
    assert [hunk["range"] for hunk in hunks] == [document.find(AREA), document.find(VOLUME)]
    assert {(hunk["turnId"], hunk["state"], hunk["applied"]) for hunk in hunks} == {(turn, "pending", False)}
    assert len({hunk["hunkId"] for hunk in hunks}) == 2
    assert (await editor.command("tark.hunk.list", {"uri": uri}))["hunks"] == hunks


@each_profile
@each_surface
async def test_one_is_accepted_and_one_rejected(
    open_editor: OpenEditor, profile: Profile, flags: tuple[str, ...]
) -> None:
    editor = await open_editor(profile, *flags)
    uri, turn, (area, volume) = await two_hunks(editor)
    answer = await editor.command("tark.hunk.accept", {"hunkIds": [area["hunkId"]]})
    assert answer == answered(profile, {"hunks": [area["hunkId"]], "skipped": []})
    await editor.connection.until(lambda: editor.text(uri) == SHAPES.replace(AREA, NEW_AREA), "applied at once")
    answer = await editor.command("tark.hunk.reject", {"hunkIds": [volume["hunkId"]]})
    assert answer == {"hunks": [volume["hunkId"]], "skipped": []}
    end = await editor.end(turn)
    assert editor.text(uri) == SHAPES.replace(AREA, NEW_AREA)
    assert end["edits"] == [{"uri": uri, "state": "partly"}]
    assert editor.open_question() is None, "the question is withdrawn with its last hunk"


ONE, LAST = "# One more.\n", "# And the last.\n"
NEW_ONE, NEW_LAST = "# One more line.\n", "# And the last line.\n# Really.\n"


@each_profile
@each_surface
@pytest.mark.parametrize("accepted", [0, 1], ids=["above", "below"])
async def test_neighbouring_lines_of_two_calls_are_decided_apart(
    open_editor: OpenEditor, profile: Profile, flags: tuple[str, ...], accepted: int
) -> None:
    editor = await open_editor(profile, *flags)
    uri = editor.new_file(SHAPES)
    turn = await editor.turn(f"reword the comments in {uri.rpartition('/')[2]}", uri)
    await editor.question()
    hunks = (await editor.command("tark.hunk.list", {"turnId": turn}))["hunks"]
    assert [(hunk["oldText"], hunk["newText"]) for hunk in hunks] == [(ONE, NEW_ONE), (LAST, NEW_LAST)]
    place = editor.documents[uri].find((ONE, LAST)[accepted])
    await editor.command("tark.hunk.accept", {"hunkIds": [hunks[accepted]["hunkId"]]})
    await editor.command("tark.hunk.reject", {"hunkIds": [hunks[1 - accepted]["hunkId"]]})
    await editor.end(turn)
    assert editor.text(uri) == SHAPES.replace(*((ONE, NEW_ONE), (LAST, NEW_LAST))[accepted])
    (sent,) = editor.sent("workspace/applyEdit")
    (edit,) = sent.params["edit"]["documentChanges"][0]["edits"]
    assert edit == {"range": place, "newText": (NEW_ONE, NEW_LAST)[accepted]}


@each_profile
async def test_a_permission_for_some_hunks(open_editor: OpenEditor, profile: Profile) -> None:
    editor = await open_editor(profile, *NATIVE)
    uri, turn, (_, volume) = await two_hunks(editor)
    (await editor.question()).answer({"outcome": "allow", "hunks": [volume["hunkId"]]})
    end = await editor.end(turn)
    assert editor.text(uri) == SHAPES.replace(VOLUME, NEW_VOLUME)
    assert end["edits"] == [{"uri": uri, "state": "partly"}]


@each_surface
async def test_a_hunk_edited_while_it_is_asked_about_is_asked_about_anew(
    open_editor: OpenEditor, flags: tuple[str, ...]
) -> None:
    editor = await open_editor(NEOVIM, *flags)
    uri, turn, (area, _) = await two_hunks(editor)
    old = await editor.question()
    (before,) = (await editor.command("tark.permission.list"))["requests"]
    mine = "    # mine\n    return 3 * radius**2\n"
    await editor.command("tark.hunk.edit", {"hunkId": area["hunkId"], "newText": mine})
    await editor.connection.until(lambda: old.withdrawn, "the question about the old text taken back")
    (after,) = (await editor.command("tark.permission.list"))["requests"]
    stale = {"requestId": before["requestId"], "digest": before["digest"], "outcome": "allow"}
    with pytest.raises(ResponseError, match="digest"):
        await editor.command("tark.permission.answer", stale)
    new = await editor.question()
    if flags:
        assert (new.params["digest"], new.params["edits"]) == (after["digest"], after["edits"])
        assert new.params["edits"][0]["hunks"][0]["newText"] == mine
    else:
        assert new.text != old.text
        assert "+3 -2 lines" in new.text
    new.allow()
    await editor.end(turn)
    assert editor.text(uri) == SHAPES.replace(AREA, mine).replace(VOLUME, NEW_VOLUME)


async def test_an_edited_hunk(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM, *NATIVE)
    uri, turn, (area, _) = await two_hunks(editor)
    mine = "    return 3.14159 * radius**2\n"
    edited = [{"hunkId": area["hunkId"], "newText": mine}]
    (await editor.question()).answer({"outcome": "allow", "edited": edited})
    await editor.end(turn)
    assert editor.text(uri) == BOTH.replace(NEW_AREA, mine)


@each_profile
async def test_a_hunk_is_edited_and_then_accepted(open_editor: OpenEditor, profile: Profile) -> None:
    editor = await open_editor(profile)
    uri, turn, (area, volume) = await two_hunks(editor)
    mine = "    return 3.14159 * radius**2\n"
    assert await editor.command("tark.hunk.edit", {"hunkId": area["hunkId"], "newText": mine}) == {
        "hunkId": area["hunkId"]
    }
    assert editor.text(uri) == SHAPES
    await editor.command("tark.hunk.accept", {"hunkIds": [area["hunkId"]]})
    await editor.command("tark.hunk.reject", {"hunkIds": [volume["hunkId"]]})
    await editor.end(turn)
    assert editor.text(uri) == SHAPES.replace(AREA, mine)


@each_profile
async def test_typing_into_a_hunk_is_a_warning_with_a_way_out(open_editor: OpenEditor, profile: Profile) -> None:
    editor = await open_editor(profile)
    uri, turn, (area, volume) = await two_hunks(editor)
    editor.replace(uri, area["range"], "    return 0\n")
    await editor.command("tark.hunk.reject", {"hunkIds": [volume["hunkId"]]})

    def warned() -> bool:
        return [diagnostic["severity"] for diagnostic in editor.diagnostics.get(uri, ())] == [2]

    await editor.connection.until(warned, "a warning where the person typed")
    await editor.end(turn)
    assert editor.text(uri) == SHAPES.replace(AREA, "    return 0\n")
    actions = await editor.actions(uri, area["range"])
    (use,) = [action for action in actions if action["title"].startswith("Use Tark's lines")]
    await editor.run_action(use)
    await editor.connection.until(lambda: editor.text(uri) == SHAPES.replace(AREA, NEW_AREA), "Tark's lines after all")
    await editor.connection.until(lambda: not editor.diagnostics.get(uri), "no warning any more")


@each_profile
@pytest.mark.parametrize("by", ["uri", "turnId"])
@pytest.mark.parametrize("decision", ["accept", "reject"])
async def test_all_hunks_at_once(open_editor: OpenEditor, profile: Profile, by: str, decision: str) -> None:
    editor = await open_editor(profile, *NATIVE)
    uri, turn, hunks = await two_hunks(editor)
    answer = await editor.command(f"tark.hunk.{decision}", {by: uri if by == "uri" else turn})
    decided: Json = {"hunks": [hunk["hunkId"] for hunk in hunks], "skipped": []}
    assert answer == (answered(profile, decided) if decision == "accept" else decided)
    end = await editor.end(turn)
    assert editor.text(uri) == (BOTH if decision == "accept" else SHAPES)
    assert [edit["state"] for edit in end["edits"]] == ["applied" if decision == "accept" else "rejected"]


async def test_a_decided_hunk_is_skipped(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM, *NATIVE)
    _, _, (area, _) = await two_hunks(editor)
    await editor.command("tark.hunk.reject", {"hunkIds": [area["hunkId"]]})
    answer = await editor.command("tark.hunk.accept", {"hunkIds": [area["hunkId"]]})
    assert answer["hunks"] == []
    assert [skipped["hunkId"] for skipped in answer["skipped"]] == [area["hunkId"]]
    assert answer["skipped"][0]["reason"]


async def test_an_unknown_hunk_is_named(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM, *NATIVE)
    with pytest.raises(ResponseError, match="nonesuch") as caught:
        await editor.command("tark.hunk.accept", {"hunkIds": ["nonesuch"]})
    assert caught.value.code == -32602


@each_profile
async def test_hunks_are_actions(open_editor: OpenEditor, profile: Profile) -> None:
    editor = await open_editor(profile)
    uri, turn, (area, volume) = await two_hunks(editor)
    for hunk, verb in ((area, "Accept"), (volume, "Reject")):
        actions = await editor.actions(uri, hunk["range"])
        (action,) = [item for item in actions if item["title"].startswith(verb) and "all" not in item["title"].lower()]
        await editor.run_action(action)
    end = await editor.end(turn)
    assert editor.text(uri) == SHAPES.replace(AREA, NEW_AREA)
    assert end["edits"] == [{"uri": uri, "state": "partly"}]


@each_profile
async def test_pending_hunks_are_a_list_of_problems(open_editor: OpenEditor, profile: Profile) -> None:
    editor = await open_editor(profile)
    uri, turn, hunks = await two_hunks(editor)
    ranges = [hunk["range"]["start"]["line"] for hunk in hunks]
    await editor.connection.until(lambda: len(editor.diagnostics.get(uri, ())) == 2, "two diagnostics")
    assert [diagnostic["range"]["start"]["line"] for diagnostic in editor.diagnostics[uri]] == ranges
    assert {(diagnostic["source"], diagnostic["severity"]) for diagnostic in editor.diagnostics[uri]} == {("tark", 3)}
    await editor.command("tark.hunk.reject", {"turnId": turn})
    await editor.connection.until(lambda: editor.diagnostics.get(uri) == [], "no diagnostics any more")


@each_profile
async def test_undo_takes_the_turn_back(open_editor: OpenEditor, profile: Profile) -> None:
    editor = await open_editor(profile, *NATIVE)
    editor.policy = allow
    uri = editor.new_file(SHAPES)
    turn = await editor.turn(f"rewrite area and volume in {uri.rpartition('/')[2]}", uri)
    await editor.end(turn)
    assert editor.text(uri) == BOTH
    answer = await editor.command("tark.turn.undo", {"turnId": turn})
    assert answer == answered(profile, {"restored": [uri], "kept": []}, PENDING)
    await editor.connection.until(lambda: editor.text(uri) == SHAPES, "undone")


@each_profile
async def test_undo_keeps_what_was_typed_since(open_editor: OpenEditor, profile: Profile) -> None:
    editor = await open_editor(profile, *NATIVE)
    editor.policy = allow
    uri = editor.new_file(SHAPES)
    turn = await editor.turn(f"rewrite area and volume in {uri.rpartition('/')[2]}", uri)
    await editor.end(turn)
    editor.type(uri, 0, 0, "# mine\n")
    answer = await editor.command("tark.turn.undo", {"turnId": turn})
    assert answer == answered(profile, {"restored": [uri], "kept": []}, PENDING)
    await editor.connection.until(lambda: editor.text(uri) == "# mine\n" + SHAPES, "undone")


async def test_the_end_can_be_waited_for_again(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM, *NATIVE)
    turn = await editor.turn("say hello")
    assert await editor.end(turn) == await editor.end(turn)
    with pytest.raises(ResponseError, match="nonesuch") as caught:
        await editor.command("tark.turn.wait", {"turnId": "nonesuch"})
    assert caught.value.code == -32602
