"""`tark:` comments in documents: what each is for, put there to be written into, run, and gone with the first edit."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.errors import RequestError
from tark_lsp.server.documents.sync import DocumentSync
from tests.server.desk import Desk, allow

ASK = "tark/requestPermission"
PROGRAM = "import math\n\n\n@cache\ndef area(radius):\n    return radius\n\n\nprint(area(1))\n"


@pytest.fixture
async def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    desk = Desk(
        tmp_path, monkeypatch, "textDocument.codeAction.codeActionLiteralSupport", tark=["updates", "permission"]
    )
    yield desk
    await desk.stop()


def argument(action: dict[str, Any]) -> dict[str, Any]:
    return dict(action["command"]["arguments"][0])


async def offered(desk: Desk, path: Path, line: int, start: str) -> dict[str, Any]:
    found = [action for action in await desk.actions(path, line) if action["title"].startswith(start)]
    assert len(found) == 1, [action["title"] for action in await desk.actions(path, line)]
    return found[0]


def lines(first: int, last: int) -> dict[str, Any]:
    return {"start": {"line": first, "character": 0}, "end": {"line": last, "character": 0}}


async def test_it_is_a_prompt_for_the_definition_after_it(desk: Desk) -> None:
    path = desk.editor.open("f.py", PROGRAM.replace("@cache", "# tark: shorter\n# please\n@cache"))
    action = await offered(desk, path, 3, "Run: ")
    assert action["title"] == "Run: shorter⏎please (lines 6-8)"
    asked = argument(action)
    assert (asked["kind"], asked["prompt"], asked["range"]) == ("agent", "shorter\nplease", lines(5, 8))
    assert asked["comment"] == lines(3, 5)


async def test_it_stands_before_nothing(desk: Desk) -> None:
    path = desk.editor.open("f.py", PROGRAM + "# tark: shorter\n")
    action = await offered(desk, path, 9, "Run: ")
    assert action["title"] == "Run: shorter"
    assert "range" not in argument(action)


async def test_an_empty_one_is_not_run(desk: Desk) -> None:
    path = desk.editor.open("f.py", "# tark: \n" + PROGRAM)
    assert [action for action in await desk.actions(path, 0) if action["title"].startswith("Run")] == []


async def test_ask_and_edit_use_the_comment_above(desk: Desk) -> None:
    path = desk.editor.open("f.py", PROGRAM.replace("@cache", "# tark: shorter\n@cache"))
    action = await offered(desk, path, 5, "Edit…")
    assert action["title"] == "Edit… shorter (lines 5-7)"
    assert argument(action)["prompt"] == "shorter"


@pytest.mark.parametrize(
    ("text", "line", "after", "meant"),
    [
        (PROGRAM, 5, PROGRAM.replace("@cache", "# tark: \n@cache"), lines(4, 7)),
        ("a = 1", 0, "# tark: \na = 1", {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 5}}),
        (
            "\tdef f():\n\t\treturn '日本'",
            1,
            "\t# tark: \n\tdef f():\n\t\treturn '日本'",
            {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 13}},
        ),
        ("a = 1\r\nb = 2\r\n", 1, "a = 1\r\n# tark: \r\nb = 2\r\n", lines(2, 3)),
        ("", 0, "# tark: \n", {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 0}}),
    ],
)
async def test_one_is_put_there_to_write_into(desk: Desk, text: str, line: int, after: str, meant: Any) -> None:
    path = desk.editor.open("f.py", text)
    action = await offered(desk, path, line, "Edit…")
    assert await desk.command("tark.turn.start", argument(action)) == {"inserted": True}
    assert desk.editor.text(path) == after
    at = after.index("tark: ") + 6
    desk.editor.type(path, (at, at, "shorter"))
    run = await offered(desk, path, after[:at].count("\n"), "Run: ")
    assert argument(run)["kind"] == "edit", "what it was put there for"
    assert argument(run)["range"] == meant


async def test_what_is_typed_above_moves_it(desk: Desk) -> None:
    path = desk.editor.open("f.py", PROGRAM)
    await desk.command("tark.turn.start", argument(await offered(desk, path, 5, "Edit…")))
    at = desk.editor.text(path).index("tark: ") + 6
    desk.editor.type(path, (at, at, "shorter"), (0, 0, "# one\n# two\n"))
    assert argument(await offered(desk, path, 5, "Run: "))["kind"] == "edit"


async def test_none_can_be_put_into_what_is_no_file(desk: Desk) -> None:
    item = {"uri": "untitled:1", "languageId": "python", "version": 1, "text": PROGRAM}
    DocumentSync(desk.app.parts.documents).did_open({"textDocument": item})
    asked = {"prompt": "", "kind": "ask", "askForPrompt": True, "textDocument": {"uri": "untitled:1"}}
    with pytest.raises(RequestError, match="not an open file"):
        await desk.command("tark.turn.start", asked)


async def test_it_goes_with_the_first_edit(desk: Desk) -> None:
    text = "# tark: edit f.py\n" + "".join(f"line {n}\n" for n in range(6))
    path = desk.editor.open("f.py", text)
    run = await offered(desk, path, 0, "Run: ")
    desk.connection.answers[ASK] = allow
    turn = (await desk.command("tark.turn.start", argument(run)))["turnId"]
    await desk.end(turn)
    assert desk.editor.text(path) == text.removeprefix("# tark: edit f.py\n").replace("line 3", "THREE")


async def test_the_lines_of_an_old_action_are_not_taken_for_the_comment(desk: Desk) -> None:
    """The action was made before the user typed above: its lines hold the user's code now."""
    text = "# tark: edit f.py\n" + "".join(f"line {n}\n" for n in range(6))
    path = desk.editor.open("f.py", text)
    run = argument(await offered(desk, path, 0, "Run: "))
    desk.editor.type(path, (0, 0, "precious()\n"))
    desk.connection.answers[ASK] = allow
    await desk.end((await desk.command("tark.turn.start", {**run, "range": None}))["turnId"])
    assert desk.editor.text(path).startswith("precious()\nline 0\n")


async def test_a_comment_that_was_changed_stays(desk: Desk) -> None:
    text = "# tark: edit f.py\n" + "".join(f"line {n}\n" for n in range(6))
    path = desk.editor.open("f.py", text)
    run = argument(await offered(desk, path, 0, "Run: "))
    desk.editor.type(path, (17, 17, " and more"))
    desk.connection.answers[ASK] = allow
    await desk.end((await desk.command("tark.turn.start", {**run, "range": None}))["turnId"])
    assert desk.editor.text(path).startswith("# tark: edit f.py and more\nline 0\n")
