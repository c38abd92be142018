"""The writer of an answer while a user types at random: everything typed stays, and the answer is complete."""

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.server.chat import writer as module
from tark_lsp.server.chat.writer import AnswerWriter
from tark_lsp.workspace.documents import Documents
from tests.server.scripted import ScriptedEditor, refuse

pytestmark = pytest.mark.virtual_clock

ANSWER = "".join(f"line {n} of the answer\n" for n in range(30)) + "\n"


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "JOIN_SECONDS", 0.0)


def start(editor: ScriptedEditor, path: Path, lost: list[str]) -> AnswerWriter:
    return AnswerWriter(editor.documents, editor.workspace, path, lost.append)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("seed", range(12))
async def test_whatever_is_typed_meanwhile(tmp_path: Path, seed: int) -> None:
    """Above the line that is written, below it, and between an edit's sending and its arrival, half of the time."""
    chance = random.Random(seed)
    editor = ScriptedEditor(tmp_path)
    path = editor.open("notes.tark.md", "".join(f"question {n}\n" for n in range(5)))
    typed: list[str] = []

    def type_something() -> None:
        text = editor.text(path)
        lines = text.split("\n")
        heading = lines.index("## Tark") if "## Tark" in lines else len(lines) - 2
        line = chance.randrange(heading)
        typed.append(chr(0x4E00 + len(typed)))  # one character, so that nothing is typed into it
        place = sum(len(item) + 1 for item in lines[:line]) + chance.randrange(len(lines[line]) + 1)
        editor.type(path, (place, place, chance.choice(["", "\n"]) + typed[-1]))

    def apply(params: Any) -> Any:
        if chance.random() < 0.3:
            type_something()
        return editor.apply(params)

    editor.connection.answers["workspace/applyEdit"] = apply
    lost: list[str] = []
    writer = start(editor, path, lost)
    await writer.begin()
    at = 0
    while at < len(ANSWER):
        size = chance.randint(1, 120)
        writer.write(ANSWER[at : at + size])
        at += size
        if chance.random() < 0.5:
            type_something()
        await asyncio.sleep(0.001 * chance.randrange(3))
    assert await writer.finish()
    assert lost == []
    text = editor.text(path)
    assert text.endswith(f"## Tark\n\n{ANSWER}## You\n\n")
    assert all(text.count(item) == 1 for item in typed)
    without = text.partition("\n## Tark\n")[0]
    for item in typed:
        without = without.replace(item, "")
    assert "".join(without.split()) == "".join(f"question{n}" for n in range(5))


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("below", "after"),
    [("", "\n## You\n\n"), ("next?\n", "\n## You\n\nnext?\n"), ("## You\n\nnext?\n", "\n\n## You\n\nnext?\n")],
)
async def test_what_stands_below(tmp_path: Path, below: str, after: str) -> None:
    editor = ScriptedEditor(tmp_path)
    path = editor.open("notes.tark.md", "hello\n")
    writer = start(editor, path, [])
    await writer.begin()
    end = len(editor.text(path))
    editor.type(path, (end, end, below))
    writer.write("Hello.\n\n")
    assert await writer.finish()
    assert editor.text(path) == f"hello\n\n## Tark\n\nHello.\n{after}"


@pytest.mark.usefixtures("quick")
async def test_where_the_person_changed_the_line_that_was_written_last(tmp_path: Path) -> None:
    editor = ScriptedEditor(tmp_path)
    path = editor.open("notes.tark.md", "hello\n```\n")
    lost: list[str] = []
    writer = start(editor, path, lost)
    await writer.begin()
    end = len(editor.text(path)) - 1
    editor.type(path, (end, end, "mine"))
    writer.write("Hello.\n\n")
    assert not await writer.finish()
    assert lost == ["its last line was changed"]
    assert editor.text(path) == "hello\n```\n```\n\n## Tark\n\nmine\n"


async def test_nothing_is_written_before_there_is_a_place(tmp_path: Path) -> None:
    editor = ScriptedEditor(tmp_path)
    path = editor.open("notes.tark.md", "hello\n\n## Tark\n\nHello.\n")
    writer = start(editor, path, [])
    assert not await writer.finish()
    with pytest.raises(Exception, match="no longer at its end"):
        await writer.begin()
    assert not await writer.finish()


@pytest.mark.usefixtures("quick")
async def test_a_turn_cancelled_while_its_heading_is_on_its_way(tmp_path: Path) -> None:
    """The answer is a word on that, and the document is left in order."""
    editor = ScriptedEditor(tmp_path)
    path = editor.open("notes.tark.md", "hello\n")
    arrives = asyncio.Event()

    async def apply(params: Any) -> Any:
        await arrives.wait()
        return editor.apply(params)

    editor.connection.answers["workspace/applyEdit"] = apply
    writer = start(editor, path, [])
    begin = asyncio.create_task(writer.begin())
    await editor.connection.asking("workspace/applyEdit")
    begin.cancel()
    writer.write("> cancelled\n\n")
    finish = asyncio.create_task(writer.finish())
    arrives.set()
    assert await finish
    assert editor.text(path) == "hello\n\n## Tark\n\n> cancelled\n\n## You\n\n"


@pytest.mark.usefixtures("quick")
async def test_an_editor_that_stops_taking_edits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def at_once(self: Documents, seconds: float) -> None: ...

    monkeypatch.setattr(Documents, "wait_for_quiet", at_once)
    monkeypatch.setattr("tark_lsp.server.editing.apply.IN_FLIGHT_SECONDS", 0.01)
    editor = ScriptedEditor(tmp_path)
    path = editor.open("notes.tark.md", "hello\n")
    lost: list[str] = []
    writer = start(editor, path, lost)
    await writer.begin()
    editor.connection.answers["workspace/applyEdit"] = refuse
    writer.write("Hello.")
    assert not await writer.finish()
    (why,) = lost
    assert "the editor failed" in why
    assert editor.text(path) == "hello\n\n## Tark\n\n\n"


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("slow", "most", "least"), [(10.0, 40, 6), (0.01, 5, 3)])
async def test_an_editor_that_asks_about_every_edit_is_asked_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow: float, most: int, least: int
) -> None:
    monkeypatch.setattr(module, "SLOW_SECONDS", slow)
    editor = ScriptedEditor(tmp_path)
    path = editor.open("notes.tark.md", "hello\n")

    async def apply(params: Any) -> Any:
        await asyncio.sleep(0.03)
        return editor.apply(params)

    editor.connection.answers["workspace/applyEdit"] = apply
    writer = start(editor, path, [])
    await writer.begin()
    for number in range(40):
        writer.write(f"{number} ")
        await asyncio.sleep(0.01)
    writer.write("\n\n")
    assert await writer.finish()
    assert least <= len(editor.connection.asked) <= most
