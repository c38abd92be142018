"""The gate after an edit: new errors go to the model with the result, and one action takes the edit back."""

from typing import Any

import pytest

from tests.editors.behaviour import NATIVE, VISUAL_STUDIO_CODE
from tests.editors.conftest import OpenEditor
from tests.editors.connection import Json
from tests.editors.memory_editor import MemoryEditor
from tests.editors.question import allow
from tests.editors.shapes import AREA, NEW_AREA, NEW_VOLUME, SHAPES

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

FLAGS = (*NATIVE, "clientState")
EDITED = SHAPES.replace(AREA, NEW_AREA)


def no_tau(text: str) -> list[Json]:
    """A linter that knows no `tau`, and never liked `print`."""
    found = []
    for number, line in enumerate(text.splitlines()):
        for word in ("tau", "print"):
            if word in line:
                place = {"line": number, "character": line.index(word)}
                span = {"start": place, "end": place}
                found.append({"range": span, "severity": 1, "message": f"no {word} here", "source": "lint"})
    return found


async def linted(open_editor: OpenEditor, *flags: str) -> tuple[MemoryEditor, str]:
    editor = await open_editor(VISUAL_STUDIO_CODE, *flags)
    uri = editor.new_file(SHAPES)
    editor.lint = no_tau
    editor.look_for_problems(uri)
    editor.policy = allow
    return editor, uri


def told(editor: MemoryEditor, turn: str) -> list[str]:
    """The results of the turn's calls."""
    updates = editor.updates(turn, "toolCall")
    return [part["text"] for update in updates for part in update.get("content", ()) if part["type"] == "text"]


async def edited(editor: MemoryEditor, uri: str, what: str = "the area") -> str:
    turn = await editor.turn(f"rewrite {what} in {uri.rpartition('/')[2]}", uri)
    await editor.end(turn)
    return turn


async def actions(editor: MemoryEditor, uri: str, text: str = NEW_AREA) -> list[Json]:
    """What takes back an edit, of the actions on these lines."""
    offered = await editor.actions(uri, editor.documents[uri].find(text))
    return [action for action in offered if action["title"].startswith("Undo Tark")]


async def lenses(editor: MemoryEditor, uri: str) -> list[tuple[int, str]]:
    found = await editor.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
    return [(lens["range"]["start"]["line"], lens["command"]["title"]) for lens in found]


@pytest.mark.parametrize("reviews", [(), ("review",)])
async def test_new_errors_are_told_and_the_edit_is_taken_back(open_editor: OpenEditor, reviews: Any) -> None:
    editor, uri = await linted(open_editor, *FLAGS, *reviews)
    turn = await edited(editor, uri)
    assert editor.text(uri) == EDITED
    name, line = uri.rpartition("/")[2], SHAPES[: SHAPES.index(AREA)].count("\n")
    column = NEW_AREA.index("tau") + 1
    error = f"{name}:{line + 1}:{column}: error: no tau here (lint)"
    assert told(editor, turn) == [f"Applied to {name}.\n\nSince then the editor shows 1 new error:\n{error}"]
    (action,) = await actions(editor, uri)
    assert action["title"] == "Undo Tark's change (1 new error)"
    assert (line, action["title"]) in await lenses(editor, uri)
    editor.type(uri, 0, 0, "# mine\n")
    answer = await editor.run_action(action)
    assert len(answer["hunks"]) == 1
    assert editor.text(uri) == "# mine\n" + SHAPES
    assert await actions(editor, uri, AREA) == []
    states = [hunk["state"] for hunk in (await editor.command("tark.hunk.list", {"turnId": turn}))["hunks"]]
    assert states == ["rejected"]


async def test_all_hunks_of_the_edit_go_at_once(open_editor: OpenEditor) -> None:
    editor, uri = await linted(open_editor, *FLAGS)
    await edited(editor, uri, "area and volume")
    (action,) = await actions(editor, uri, NEW_VOLUME)
    assert action["title"] == "Undo Tark's 2 changes (2 new errors)"
    await editor.run_action(action)
    assert editor.text(uri) == SHAPES


async def test_an_accepted_change_without_new_errors_is_not_taken_back(open_editor: OpenEditor) -> None:
    editor, uri = await linted(open_editor, *FLAGS)
    editor.lint = lambda text: [item for item in no_tau(text) if "print" in item["message"]]
    turn = await edited(editor, uri)
    assert told(editor, turn) == [f"Applied to {uri.rpartition('/')[2]}."]
    assert await actions(editor, uri) == []
    (hunk,) = (await editor.command("tark.hunk.list", {"turnId": turn}))["hunks"]
    answer = await editor.command("tark.hunk.reject", {"hunkIds": [hunk["hunkId"]], "takeBack": True})
    assert answer == {"hunks": [], "skipped": [{"hunkId": hunk["hunkId"], "reason": "it is accepted already"}]}
    assert editor.text(uri) == EDITED


@pytest.mark.parametrize("what", ["typed into", "undone", "another turn"])
async def test_the_offer_ends(open_editor: OpenEditor, what: str) -> None:
    editor, uri = await linted(open_editor, *FLAGS)
    turn = await edited(editor, uri)
    assert await actions(editor, uri)
    match what:
        case "typed into":
            place = editor.documents[uri].find(NEW_AREA)["start"]
            editor.type(uri, place["line"], place["character"] + 4, "0 + ")
        case "undone":
            await editor.command("tark.turn.undo", {"turnId": turn})
        case _:
            await editor.end(await editor.turn("say hello"))
    here = {"start": {"line": 0, "character": 0}, "end": {"line": 15, "character": 0}}
    offered = await editor.actions(uri, here)
    assert not [action for action in offered if action["title"].startswith("Undo Tark")]
    assert not [title for _, title in await lenses(editor, uri) if title.startswith("Undo Tark")]


async def test_without_a_way_to_ask_nothing_is_waited_for(open_editor: OpenEditor) -> None:
    editor, uri = await linted(open_editor, *NATIVE)
    turn = await edited(editor, uri)
    assert told(editor, turn) == [f"Applied to {uri.rpartition('/')[2]}."]
    assert await actions(editor, uri) == []


async def test_an_editor_that_asks_for_actions_by_itself_shows_what_it_knows_of_those_lines(
    open_editor: OpenEditor,
) -> None:
    """As VS Code's lightbulb: before the edit, and again once its diagnostics have changed."""
    editor, uri = await linted(open_editor, *NATIVE)

    async def lightbulb(text: str) -> None:
        lines = editor.documents[uri].find(text)
        here = [item for item in no_tau(editor.text(uri)) if item["range"]["start"]["line"] == lines["start"]["line"]]
        await editor.actions(uri, lines, invoked=False, diagnostics=here)

    await lightbulb(AREA)
    turn = await editor.turn(f"rewrite the area in {uri.rpartition('/')[2]}", uri)
    await editor.connection.until(lambda: editor.text(uri) == EDITED, "the edit")
    await lightbulb(NEW_AREA)
    await editor.end(turn)
    assert "1 new error" in told(editor, turn)[0]
