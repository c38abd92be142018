"""The main job in each editor: a turn on a selection, seen in progress, accepted or rejected, the text as expected."""

import pytest

from tests.editors.behaviour import HELIX, NATIVE, NEOVIM, PROFILES, Profile
from tests.editors.conftest import OpenEditor
from tests.editors.connection import Json
from tests.editors.memory_editor import MemoryEditor
from tests.editors.question import MESSAGE, PERMISSION, allow, reject, wait
from tests.editors.shapes import AREA, DOCSTRING, FUNCTION, HEAD, NEW_AREA, NEW_VOLUME, SHAPES, VOLUME

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

each_profile = pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.client)
each_surface = pytest.mark.parametrize("flags", [(), NATIVE], ids=["message", "permission"])


def order(editor: MemoryEditor) -> list[str]:
    """The main steps in the order in which the editor saw them."""
    steps: list[str] = []
    for message in editor.connection.messages:
        step = message.method
        if step == "$/progress":
            step = message.params["value"]["kind"]
        if step in ("begin", "end", "workspace/applyEdit", MESSAGE, PERMISSION):
            steps.append(step)
    return steps


@each_profile
@each_surface
async def test_a_turn_on_a_selection(open_editor: OpenEditor, profile: Profile, flags: tuple[str, ...]) -> None:
    editor = await open_editor(profile, *flags)
    editor.policy = allow
    uri = editor.new_file(SHAPES)
    turn = await editor.turn("add a docstring", uri, editor.documents[uri].find(FUNCTION))
    end = await editor.end(turn)
    assert editor.text(uri) == SHAPES.replace(FUNCTION, HEAD + DOCSTRING + AREA)
    assert (end["stopReason"], end["edits"]) == ("end_turn", [{"uri": uri, "state": "applied"}])
    assert end["text"] == "The selection is replaced."
    question = PERMISSION if "permission" in flags else MESSAGE
    assert order(editor) == ["begin", question, "workspace/applyEdit", "end"]
    (applied,) = editor.sent("workspace/applyEdit")
    (change,) = applied.params["edit"]["documentChanges"]
    (edit,) = change["edits"]
    assert edit["newText"] == DOCSTRING, "only the new line"
    assert change["textDocument"]["uri"] == uri
    assert len(editor.questions) == 1


@each_profile
async def test_progress_tells_what_happens(open_editor: OpenEditor, profile: Profile) -> None:
    editor = await open_editor(profile, *NATIVE)
    uri = editor.new_file(SHAPES)
    name = uri.rpartition("/")[2]
    prompt = f"rewrite the area in {name}"
    turn = await editor.turn(prompt, uri)
    question = await editor.question()
    begin, *reports = editor.progress(prompt)
    assert begin["title"] == f"Tark: {prompt}"
    assert f"waiting for you: edit {name}" in [report.get("message") for report in reports]
    question.allow()
    await editor.end(turn)
    last = editor.progress(prompt)[-1]
    assert last["kind"] == "end"
    assert last["message"].startswith("1 file changed")


@each_profile
@each_surface
async def test_a_rejected_edit(open_editor: OpenEditor, profile: Profile, flags: tuple[str, ...]) -> None:
    editor = await open_editor(profile, *flags)
    editor.policy = reject
    uri = editor.new_file(SHAPES)
    turn = await editor.turn("add a docstring", uri, editor.documents[uri].find(FUNCTION))
    end = await editor.end(turn)
    assert editor.text(uri) == SHAPES
    assert not editor.sent("workspace/applyEdit")
    assert (end["stopReason"], end["edits"]) == ("end_turn", [{"uri": uri, "state": "rejected"}])
    assert end["text"] == "Understood, I leave it as it is.", "the model was told"


@each_profile
@each_surface
async def test_two_edits_of_one_answer_are_one_question(
    open_editor: OpenEditor, profile: Profile, flags: tuple[str, ...]
) -> None:
    editor = await open_editor(profile, *flags)
    editor.policy = allow
    uri = editor.new_file(SHAPES)
    turn = await editor.turn(f"rewrite area and volume in {uri.rpartition('/')[2]}", uri)
    end = await editor.end(turn)
    assert editor.text(uri) == SHAPES.replace(AREA, NEW_AREA).replace(VOLUME, NEW_VOLUME)
    assert end["edits"] == [{"uri": uri, "state": "applied"}]
    assert len(editor.questions) == 1
    assert len(editor.sent("workspace/applyEdit")) == 1


@each_profile
async def test_two_reading_calls_of_one_answer(open_editor: OpenEditor, profile: Profile) -> None:
    editor = await open_editor(profile, *NATIVE)
    uri = editor.new_file(SHAPES)
    turn = await editor.turn(f"read and search {uri.rpartition('/')[2]}", uri)
    end = await editor.end(turn)
    assert end["text"] == "Read and searched."
    assert not editor.questions
    calls: dict[str, Json] = {}
    for update in editor.updates(turn, "toolCall"):
        calls.setdefault(update["toolCallId"], {}).update(update)
    assert [(call["name"], call["status"]) for call in calls.values()] == [
        ("read_file", "completed"),
        ("search_text", "completed"),
    ]


@each_profile
async def test_updates_tell_the_whole_turn(open_editor: OpenEditor, profile: Profile) -> None:
    """The contract (contract.py) checks numbers and order; here the content."""
    editor = await open_editor(profile, *NATIVE)
    editor.policy = allow
    uri = editor.new_file(SHAPES)
    prompt = f"rewrite the area in {uri.rpartition('/')[2]}"
    turn = await editor.turn(prompt, uri)
    end = await editor.end(turn)
    await editor.connection.until(lambda: list(editor.updates(turn, "end")), "the update `end`")
    (start,) = editor.updates(turn, "start")
    assert (start["prompt"], start["turnKind"], start["model"], start["mode"]) == (
        prompt,
        "agent",
        "scripted/editors",
        "build",
    )
    assert "".join(update["delta"] for update in editor.updates(turn, "thinking")) == "One line will do."
    text = "".join(update["delta"] for update in editor.updates(turn, "text"))
    assert text == "I simplify the area.The edit is in place."
    (last,) = editor.updates(turn, "end")
    ids = {"sessionId": end["sessionId"], "turnId": turn}
    assert {**ids, **{name: value for name, value in last.items() if name != "kind"}} == end
    states = [update["status"] for update in editor.updates(turn, "toolCall") if "status" in update]
    assert list(dict.fromkeys(states)) == ["pending", "waiting", "completed"]
    assert list(editor.updates(turn, "usage"))


@each_profile
async def test_the_answer_to_start_comes_before_progress(open_editor: OpenEditor, profile: Profile) -> None:
    editor = await open_editor(profile)
    turn = await editor.turn("say hello")
    await editor.end(turn)
    bodies = [message.body for message in editor.connection.messages]
    answered = next(i for i, body in enumerate(bodies) if (body.get("result") or {}) and "turnId" in body["result"])
    began = next(i for i, body in enumerate(bodies) if body.get("params", {}).get("value", {}).get("kind") == "begin")
    assert answered < began


async def test_a_client_without_progress_gets_none(open_editor: OpenEditor) -> None:
    editor = await open_editor(HELIX)
    turn = await editor.turn("say hello")
    assert (await editor.end(turn))["text"] == "The word is hello."
    assert not editor.sent("$/progress")


async def test_an_open_question_holds_the_turn(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM, *NATIVE)
    editor.policy = wait
    uri = editor.new_file(SHAPES)
    turn = await editor.turn(f"rewrite the area in {uri.rpartition('/')[2]}", uri)
    await editor.question()
    state = await editor.command("tark.state", {})
    assert turn in str(state["turns"])
    assert editor.text(uri) == SHAPES
