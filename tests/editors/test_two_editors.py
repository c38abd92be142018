"""Two editors with a server each on one folder: neither loses what the other, its agent or its person wrote."""

import asyncio
import random
from pathlib import Path

import pytest

from tests.editors.connection import Json
from tests.editors.memory_editor import MemoryEditor
from tests.editors.question import allow, reject
from tests.editors.restarts import TEXT, Place, edit, ended

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

PROMPTS = {
    "three": edit("a.py", "line 3\n", "THREE\n"),
    "also three": edit("a.py", "line 3\n", "OTHER\n"),
    "twenty": edit("a.py", "line 20\n", "TWENTY\n"),
}
THREE, TWENTY = ("line 3\n", "THREE\n"), ("line 20\n", "TWENTY\n")


def put(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    place.write_home(prompts=PROMPTS)
    return place


async def asked(editor: MemoryEditor, prompt: str) -> str:
    """A turn whose question is open."""
    turn = await editor.turn(prompt)
    await editor.question(20)
    return turn


async def done(editor: MemoryEditor, turn: str) -> Json:
    """The question is answered with yes, and the turn over."""
    (await editor.question(20)).allow()
    return await editor.end(turn, 30)


async def test_both_agents_change_one_closed_file(place: Place) -> None:
    """Each was shown the text without the other's change. Undo of the one keeps the other's."""
    one, two = await place.editor(), await place.editor()
    first, second = await asked(one, "three"), await asked(two, "twenty")
    assert [edit["state"] for edit in (await done(one, first))["edits"]] == ["applied"]
    assert [edit["state"] for edit in (await done(two, second))["edits"]] == ["applied"]
    assert place.read("a.py") == put(TEXT, THREE, TWENTY)
    undone = await one.command("tark.turn.undo", {"turnId": first})
    assert undone["kept"] == []
    assert place.read("a.py") == put(TEXT, TWENTY)
    undone = await one.command("tark.turn.undo", {"turnId": second})  # whoever asks: the checkpoints are of all
    assert undone["kept"] == []
    assert place.read("a.py") == TEXT
    await ended(one)
    await ended(two)


async def test_both_agents_change_the_same_lines(place: Place) -> None:
    """The first one stands, and the second is told."""
    one, two = await place.editor(), await place.editor()
    first, second = await asked(one, "three"), await asked(two, "also three")
    await done(one, first)
    end = await done(two, second)
    assert [edit["state"] for edit in end["edits"]] == ["failed"]
    assert place.read("a.py") == put(TEXT, THREE)
    (hunk,) = (await two.command("tark.hunk.list", {}))["hunks"]
    assert hunk["state"] == "conflict"
    await one.command("tark.turn.undo", {"turnId": first})
    assert place.read("a.py") == TEXT
    await ended(one)
    await ended(two)


async def test_one_types_in_the_document_while_the_other_agent_changes_the_file(place: Place) -> None:
    """The server of the open document never writes its file, the other one nothing but the file."""
    one, two = await place.editor("a.py"), await place.editor()
    uri = place.uri("a.py")
    first, second = await asked(one, "three"), await asked(two, "twenty")
    one.type(uri, 0, 0, "typed\n")
    await done(two, second)
    assert place.read("a.py") == put(TEXT, TWENTY)
    one.type(uri, 11, 0, "and more\n")
    await done(one, first)
    typed = put("typed\n" + TEXT, ("line 10\n", "and more\nline 10\n"))
    assert one.text(uri) == put(typed, THREE)
    assert place.read("a.py") == put(TEXT, TWENTY)

    # The person takes over what is on disk by now, as editors offer it, and so it is in both.
    at = one.documents[uri].find("line 20\n")
    one.replace(uri, at, "TWENTY\n")
    (place.folder / "a.py").write_text(one.text(uri))
    one.connection.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    undone = await two.command("tark.turn.undo", {"turnId": second})
    assert undone["kept"] == []
    assert place.read("a.py") == put(typed, THREE)
    undone = await one.command("tark.turn.undo", {"turnId": first})
    assert undone["kept"] == []
    assert one.text(uri) == put(typed, TWENTY)
    await ended(one)
    await ended(two)


async def test_the_file_is_read_anew_while_a_question_is_open(place: Place) -> None:
    """An editor without unsaved changes takes over what the other agent wrote; the hunk goes along."""
    one, two = await place.editor("a.py"), await place.editor()
    uri = place.uri("a.py")
    first, second = await asked(one, "twenty"), await asked(two, "three")
    await done(two, second)
    document = one.documents[uri]
    one.replace(
        uri, {"start": document.position(0), "end": document.position(len(document.text))}, place.read("a.py") or ""
    )
    await done(one, first)
    assert one.text(uri) == put(TEXT, THREE, TWENTY)
    await ended(one)
    await ended(two)


@pytest.mark.slow
async def test_many_changes_at_once(tmp_path: Path) -> None:
    """Two agents, each line of one closed file is one of theirs, accepted at the same moments."""
    place = Place(tmp_path)
    lines = list(range(30))
    random.Random(7).shuffle(lines)
    place.write_home(prompts={f"do {n}\\b": edit("a.py", f"line {n}\n", f"by agent {n}\n") for n in lines})
    editors = [await place.editor(), await place.editor()]
    for editor in editors:
        editor.policy = allow
    turns: list[list[str]] = [[], []]

    async def work(number: int) -> None:
        for n in lines[number::2]:
            turn = await editors[number].turn(f"do {n}")
            end = await editors[number].end(turn, 60)
            assert [item["state"] for item in end["edits"]] == ["applied"], end
            turns[number].append(turn)

    await asyncio.gather(work(0), work(1))
    assert place.read("a.py") == "".join(f"by agent {n}\n" for n in range(30))

    async def undo(number: int) -> None:
        for turn in turns[number][::3]:
            undone = await editors[number].command("tark.turn.undo", {"turnId": turn})
            assert undone["kept"] == [], undone

    await asyncio.gather(undo(0), undo(1))
    back = {*lines[0::2][::3], *lines[1::2][::3]}
    assert place.read("a.py") == "".join(f"line {n}\n" if n in back else f"by agent {n}\n" for n in range(30))
    for editor in editors:
        await ended(editor)


async def test_a_rejection_here_is_none_there(place: Place) -> None:
    one, two = await place.editor(), await place.editor()
    one.policy = reject
    first, second = await one.turn("three"), await asked(two, "also three")
    await one.end(first, 30)
    await done(two, second)
    assert place.read("a.py") == put(TEXT, ("line 3\n", "OTHER\n"))
    await ended(one)
    await ended(two)
