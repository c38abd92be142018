"""A chat in a document, in each editor: written, sent by an action, answered by edits, whatever the person types."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.editors.behaviour import BEHAVIOURS, EMACS, HELIX, HONEST, NATIVE, NEOVIM, PROFILES, Behaviour, Profile
from tests.editors.conftest import OpenEditor
from tests.editors.connection import Json, ResponseError
from tests.editors.memory_editor import MemoryEditor
from tests.editors.shapes import SHAPES

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

QUESTION = "## You\n\nsay hello\n"
ANSWER = "The word is hello."
SLOW = (
    "This answer is long and comes in small pieces, one after the other, until somebody stops it or it is at its end."
)
TOP: Json = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}


def open_chat(editor: MemoryEditor, text: str) -> str:
    path = editor.folder / f"notes_{len(list(editor.folder.iterdir()))}.tark.md"
    path.write_bytes(text.encode())
    return editor.open(path)


async def titles(editor: MemoryEditor, uri: str, range_: Json = TOP) -> list[str]:
    return [action["title"] for action in await editor.actions(uri, range_, invoked=False)]


async def run(editor: MemoryEditor, uri: str, title: str) -> Any:
    """The one action at the document's end whose title begins so; what its command answers."""
    end = editor.documents[uri].position(len(editor.text(uri)))
    actions = await editor.actions(uri, {"start": end, "end": end})
    (action,) = (item for item in actions if item["title"].startswith(title))
    return await editor.run_action(action)


async def send(editor: MemoryEditor, uri: str) -> str:
    return str((await run(editor, uri, "Send"))["turnId"])


async def holds(editor: MemoryEditor, uri: str, words: str) -> None:
    await editor.connection.until(lambda: words in editor.text(uri), f"{words!r} in the document", 15)


async def becomes(editor: MemoryEditor, uri: str, text: str) -> None:
    try:
        await editor.connection.until(lambda: editor.text(uri) == text, "the text", 15)
    except AssertionError:
        assert editor.text(uri) == text
        raise


@pytest.mark.parametrize("flags", [(), NATIVE], ids=["plain", "native"])
@pytest.mark.parametrize("profile", [*PROFILES, HELIX], ids=lambda profile: profile.name)
async def test_sent_and_answered(open_editor: OpenEditor, profile: Profile, flags: tuple[str, ...]) -> None:
    editor = await open_editor(profile, *flags)
    uri = open_chat(editor, QUESTION)
    end = await editor.end(await send(editor, uri))
    await becomes(editor, uri, f"{QUESTION}\n## Tark\n\n{ANSWER}\n\n## You\n\n")
    assert end["text"] == ANSWER
    assert (editor.shown, editor.notes) == ([], []), "it is not shown a second time"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("say hello", "say hello\n\n## Tark\n\n{}\n\n## You\n\n"),
        ("say hello\r\n", "say hello\r\n\r\n## Tark\r\n\r\n{}\r\n\r\n## You\r\n\r\n"),
        ("# Notes\n\n## You\nsay hello\n\n\n", "# Notes\n\n## You\nsay hello\n\n\n## Tark\n\n{}\n\n## You\n\n"),
        ("say hello\n```\nopen", "say hello\n```\nopen\n```\n\n## Tark\n\n{}\n\n## You\n\n"),
        (
            "## Tark\n\nYes?\n\n## You\n\nsay hello\n",
            "## Tark\n\nYes?\n\n## You\n\nsay hello\n\n## Tark\n\n{}\n\n## You\n\n",
        ),
    ],
)
async def test_where_the_answer_goes(open_editor: OpenEditor, text: str, expected: str) -> None:
    editor = await open_editor(NEOVIM)
    uri = open_chat(editor, text)
    await send(editor, uri)
    await becomes(editor, uri, expected.format(ANSWER))


async def test_it_streams(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM)
    uri = open_chat(editor, "talk slowly\n")
    turn = await send(editor, uri)
    edits = []
    for part in (SLOW[:10], SLOW[:50], SLOW[:100]):
        await holds(editor, uri, part)
        edits.append(len(editor.sent("workspace/applyEdit")))
    assert edits[0] < edits[1] < edits[2] < 60, "joined, but not all in one"
    await editor.end(turn)
    await becomes(editor, uri, f"talk slowly\n\n## Tark\n\n{SLOW}\n\n## You\n\n")


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda behaviour: behaviour.name)
async def test_what_the_person_types_meanwhile_is_kept(open_editor: OpenEditor, behaviour: Behaviour) -> None:
    """Above, below, and the next message; three kinds of stale edits among the behaviours."""
    editor = await open_editor(NEOVIM, behaviour=behaviour)
    uri = open_chat(editor, "talk a while\n")
    await send(editor, uri)
    await holds(editor, uri, "This answer")
    for number in range(5):
        editor.type(uri, 0, 0, f"above {number}\n")
        await asyncio.sleep(0.25)
    document = editor.documents[uri]
    end = document.position(len(document.text))
    editor.type(uri, end["line"], end["character"], "and next?\n")
    above = "".join(f"above {number}\n" for number in reversed(range(5)))
    await becomes(editor, uri, f"{above}talk a while\n\n## Tark\n\n{SLOW}\n\n## You\n\nand next?\n")


async def test_typing_into_the_line_that_is_written(open_editor: OpenEditor) -> None:
    """The place is lost: that is said, nothing of theirs is touched, and the whole answer is shown."""
    editor = await open_editor(NEOVIM)
    uri = open_chat(editor, "talk a while\n")
    await send(editor, uri)
    await holds(editor, uri, "This answer")
    line = next(at for at, words in enumerate(editor.text(uri).split("\n")) if words.startswith("This answer"))
    editor.type(uri, line, 0, "MINE ")
    (note,) = await editor.connection.until(lambda: editor.notes, "the message", 15)
    assert "stopped: its last line was changed" in note
    kept = editor.text(uri)
    (shown,) = await editor.connection.until(lambda: editor.shown, "the answer shown", 15)
    assert SLOW in Path(shown["uri"].removeprefix("file://")).read_text()
    assert "MINE This answer" in editor.text(uri)
    assert editor.text(uri) == kept


async def test_deleting_the_answer_while_it_is_written(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM)
    uri = open_chat(editor, "talk a while\n")
    await send(editor, uri)
    await holds(editor, uri, "This answer")
    document = editor.documents[uri]
    editor.replace(uri, document.range(len("talk a while\n"), len(document.text)), "mine\n")
    await editor.connection.until(lambda: editor.notes and editor.shown, "said, and shown", 15)
    assert editor.text(uri) == "talk a while\nmine\n"


async def test_closing_the_document_while_it_is_written(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM)
    uri = open_chat(editor, "talk slowly\n")
    await send(editor, uri)
    await holds(editor, uri, "This answer")
    editor.close_document(uri)
    (shown,) = await editor.connection.until(lambda: editor.shown, "the answer shown", 15)
    assert SLOW in Path(shown["uri"].removeprefix("file://")).read_text()


@pytest.mark.parametrize("how", ["action", "lens", "progress"])
async def test_stopped(open_editor: OpenEditor, how: str) -> None:
    editor = await open_editor(NEOVIM)
    uri = open_chat(editor, "talk for ever\n")
    turn = await send(editor, uri)
    await holds(editor, uri, "This answer")
    assert await titles(editor, uri) == [], "above the answer there is nothing to stop"
    if how == "action":
        await run(editor, uri, "Stop")
    elif how == "lens":
        (lens,) = await editor.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
        assert lens["command"]["title"] == "Stop the answer"
        await editor.run_action(lens)
    else:
        token = editor.sent("window/workDoneProgress/create")[0].params["token"]
        editor.connection.notify("window/workDoneProgress/cancel", {"token": token})
    assert (await editor.end(turn))["stopReason"] == "cancelled"
    await holds(editor, uri, "\n\n> cancelled\n\n## You\n\n")
    assert "here is its end" not in editor.text(uri)
    assert (editor.shown, editor.notes) == ([], [])


async def test_an_error_is_said_in_place(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM)
    uri = open_chat(editor, "fail\n")
    await editor.end(await send(editor, uri))
    await holds(editor, uri, "\n## Tark\n\n> error: ")
    await holds(editor, uri, "no such model")
    assert (editor.shown, editor.notes) == ([], [])


async def test_tools_and_code_are_links(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM)
    (editor.folder / "shapes.py").write_text(SHAPES)
    uri = open_chat(editor, "where is the area\n")
    await send(editor, uri)
    await becomes(
        editor,
        uri,
        "where is the area\n\n## Tark\n\nI look.\n\n> read_file shapes.py\n\nThe area is here:\n\n"
        "[shapes.py:6-7](shapes.py#L6-L7)\n\n````py\ndef area(radius):\n    return math.pi * radius**2\n````\n\n"
        "\\## You\nThis heading is not the person's.\n\n## You\n\n",
    )
    at = editor.documents[uri].find("[shapes.py:6-7]")["start"]
    found = await editor.request("textDocument/definition", {"textDocument": {"uri": uri}, "position": at})
    assert found == {
        "uri": (editor.folder / "shapes.py").as_uri(),
        "range": {"start": {"line": 5, "character": 0}, "end": {"line": 5, "character": 0}},
    }


async def test_an_editor_that_takes_no_edits(open_editor: OpenEditor, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read-only buffer, say: the model is not asked at all."""
    editor = await open_editor(NEOVIM, behaviour=HONEST)
    uri = open_chat(editor, QUESTION)
    monkeypatch.setattr(editor, "apply", lambda _: {"applied": False, "failureReason": "not modifiable"})
    end = await editor.end(await send(editor, uri), 20)
    assert end["stopReason"] == "error"
    assert "not modifiable" in end["error"]["message"]
    assert end["usage"]["inputTokens"] == 0
    assert "not modifiable" in (await editor.connection.until(lambda: editor.notes, "the message"))[0]
    assert editor.text(uri) == QUESTION


@pytest.mark.parametrize(
    "text", ["", "\n\n", "## You\n\n", "## You\n## Tark\n## You\n", "hello\n\n## Tark\n\nHello.\n"]
)
async def test_nothing_to_send(open_editor: OpenEditor, text: str) -> None:
    editor = await open_editor(NEOVIM)
    uri = open_chat(editor, text)
    whole = editor.documents[uri].range(0, len(text))
    assert await titles(editor, uri, whole) == []
    assert await editor.request("textDocument/codeLens", {"textDocument": {"uri": uri}}) == []
    with pytest.raises(ResponseError, match="no message of yours"):
        await editor.command("tark.turn.start", {"prompt": "", "chat": True, "textDocument": {"uri": uri}})


async def test_only_once_at_a_time(open_editor: OpenEditor) -> None:
    editor = await open_editor(EMACS)
    uri = open_chat(editor, "talk a while\n")
    await send(editor, uri)
    with pytest.raises(ResponseError, match="is being written"):
        await editor.command("tark.turn.start", {"prompt": "", "chat": True, "textDocument": {"uri": uri}})
