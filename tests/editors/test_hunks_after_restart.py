"""kill -9 of the server while hunks wait to be decided: the next one has them, and writes nothing wrong."""

import asyncio
import contextlib
import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.editors.connection import Json, Message
from tests.editors.memory_editor import MemoryEditor
from tests.editors.question import allow
from tests.editors.restarts import TEXT, Place, edit, ended
from tests.exhaustive import seeds

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

EDIT = edit("a.py", "line 3\n", "THREE\n")
MORE = edit("a.py", "line 20\n", "line 20\nmore\n")
CLOSED = edit("b.py", "line 5\n", "")
FRESH = {"name": "write_file", "arguments": {"path": "new.py", "content": "made\n"}}
DELETE = {"name": "delete_file", "arguments": {"path": "c.py"}}
MOVE = {"name": "move_file", "arguments": {"source": "d.py", "target": "lib/d.py"}}
CHANGED = TEXT.replace("line 3\n", "THREE\n").replace("line 20\n", "line 20\nmore\n")
SHORTER = TEXT.replace("line 5\n", "")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def strike(editor: MemoryEditor) -> None:
    for question in editor.questions:
        question.result.cancel()  # nobody is there to answer either
    if editor.connection.exit_code is None:
        editor.connection._process.kill()


async def killed(editor: MemoryEditor, *, saved: bool = True) -> None:
    """And so is the editor; `saved`: the person could save before."""
    strike(editor)
    await editor.connection.exited(30)
    await editor.connection.stop()
    for uri, document in editor.documents.items():
        if saved:
            (editor.folder / Path(uri).name).write_bytes(document.text.encode())
    assert not editor.contract.violations


async def hunks_of(editor: MemoryEditor) -> dict[str, Json]:
    """By what is new in them, or their operation."""
    found = (await editor.command("tark.hunk.list", {}))["hunks"]
    return {hunk.get("operation", {}).get("kind") or hunk["newText"] or "-" + hunk["oldText"]: hunk for hunk in found}


def calls_of(opened: Json) -> list[Json]:
    return [call for message in opened["messages"] for call in message.get("toolCalls", ())]


def shown(hunks: dict[str, Json]) -> dict[str, tuple[str, bool]]:
    return {name: (hunk["state"], hunk["applied"]) for name, hunk in hunks.items()}


async def decide(editor: MemoryEditor, verb: str, *hunks: Json) -> Any:
    return await editor.command(f"tark.hunk.{verb}", {"hunkIds": [hunk["hunkId"] for hunk in hunks]})


async def test_a_question_that_was_open(place: Place) -> None:
    """The hunks are the same ones, where the text is now; the whole turn can be taken back, by yet another server."""
    place.write_home(EDIT, MORE, CLOSED)
    editor = await place.editor("a.py")
    turn = await editor.turn("do it")
    await editor.question(20)
    before = await hunks_of(editor)
    editor.type(place.uri("a.py"), 0, 0, "typed\n")
    await killed(editor)
    (place.folder / "b.py").write_text(TEXT + "below\n")

    other = await place.editor("a.py")
    uri = place.uri("a.py")
    await other.connection.until(lambda: len(other.diagnostics.get(uri, ())) == 2, "the hunks in the list", 20)
    assert [diagnostic["range"]["start"]["line"] for diagnostic in other.diagnostics[uri]] == [4, 22]
    await other.connection.until(lambda: other.diagnostics.get(place.uri("b.py")), "those of the closed file", 20)
    (told,) = [update for update in other.updates(turn, "hunks") if update["uri"] == uri]
    assert [hunk["state"] for hunk in told["hunks"]] == ["pending", "pending"]
    state = await other.command("tark.state", {})
    assert sum(len(item["hunks"]) for item in state["hunks"]) == 3
    (session,) = (await other.command("tark.session.list", {}))["sessions"]
    opened = await other.command("tark.session.open", {"sessionId": session["sessionId"]})
    assert [call["status"] for call in calls_of(opened)] == ["completed"] * 3, "they wait"
    after = await hunks_of(other)
    assert shown(after) == dict.fromkeys(before, ("pending", False))
    assert {name: hunk["hunkId"] for name, hunk in after.items()} == {
        name: hunk["hunkId"] for name, hunk in before.items()
    }

    at = {"start": {"line": 4, "character": 0}, "end": {"line": 4, "character": 0}}
    actions = {action["title"]: action for action in await other.actions(uri, at)}
    await other.run_action(actions["Accept (+1 -1)"])
    answer = await decide(other, "accept", after["more\n"], after["-line 5\n"])
    assert answer["skipped"] == []
    assert (other.text(uri), place.read("b.py")) == ("typed\n" + CHANGED, SHORTER + "below\n")
    (place.folder / "a.py").write_text(other.text(uri))
    await ended(other)

    third = await place.editor()
    assert await hunks_of(third) == {}
    undone = await third.command("tark.turn.undo", {"turnId": turn})
    assert undone["kept"] == []
    assert (place.read("a.py"), place.read("b.py")) == ("typed\n" + TEXT, TEXT + "below\n")
    await ended(third)


async def test_a_question_that_was_open_when_the_editor_was_closed(place: Place) -> None:
    """Quitting is no answer: what nobody decided on is there again, and the call it came from is over."""
    place.write_home(EDIT, CLOSED)
    editor = await place.editor("a.py")
    await editor.turn("do it")
    await editor.question(20)
    before = await hunks_of(editor)
    await ended(editor)
    assert place.read("a.py") == place.read("b.py") == TEXT

    other = await place.editor("a.py")
    hunks = await hunks_of(other)
    assert {name: hunk["hunkId"] for name, hunk in hunks.items()} == {n: h["hunkId"] for n, h in before.items()}
    assert shown(hunks) == {"THREE\n": ("pending", False), "-line 5\n": ("pending", False)}
    (session,) = (await other.command("tark.session.list", {}))["sessions"]
    opened = await other.command("tark.session.open", {"sessionId": session["sessionId"]})
    assert [turn["stopReason"] for turn in opened["turns"]] == ["cancelled"]
    assert [call["status"] for call in calls_of(opened)] == ["completed"] * 2, "they wait"
    assert (await decide(other, "accept", *hunks.values()))["skipped"] == []
    assert place.read("b.py") == SHORTER
    await ended(other)


async def test_what_was_applied_and_not_decided(place: Place) -> None:
    """Of all kinds: in an open document, a closed file, a new one, one that is removed, one that is moved."""
    place.write_home(EDIT, MORE, CLOSED, FRESH, DELETE, MOVE, settings='editReview = "after"')
    editor = await place.editor("a.py")
    editor.policy = allow  # a deletion is asked about all the same
    turn = await editor.turn("do it")
    end = await editor.end(turn, 30)
    assert end["text"] == "All done.", end
    expected = {
        "THREE\n": ("pending", True),
        "more\n": ("pending", True),
        "-line 5\n": ("pending", True),
        "made\n": ("pending", True),
        "move": ("pending", True),
    }
    before = shown(await hunks_of(editor))
    assert {name: before[name] for name in expected} == expected
    await killed(editor)

    other = await place.editor("a.py")
    after = await hunks_of(other)
    assert shown(after) == {name: shown for name, shown in before.items() if shown[0] == "pending"}
    await decide(other, "reject", after["THREE\n"], after["-line 5\n"], after["made\n"], after["move"])
    await decide(other, "accept", after["more\n"])
    assert other.text(place.uri("a.py")) == TEXT.replace("line 20\n", "line 20\nmore\n")
    assert (place.read("b.py"), place.read("new.py"), place.read("d.py")) == (TEXT, None, TEXT)
    assert place.read("lib/d.py") is None
    await other.command("tark.turn.undo", {"turnId": turn})
    assert other.text(place.uri("a.py")) == TEXT
    assert place.read("c.py") == TEXT
    await ended(other)


@pytest.mark.parametrize("saved", [True, False], ids=["the editor lives", "the editor dies, too"])
async def test_between_accept_and_apply(place: Place, saved: bool) -> None:
    """Killed when the edit has come to the editor, which applies it: the text alone says what became of it."""
    place.write_home(EDIT, MORE)
    editor = await place.editor("a.py")
    turn = await editor.turn("do it")
    await editor.question(20)
    hunks = await hunks_of(editor)
    editor.before_apply = partial(strike, editor)
    accepting = asyncio.ensure_future(decide(editor, "accept", hunks["THREE\n"]))
    await editor.connection.exited(30)
    accepting.cancel()
    uri = place.uri("a.py")
    await editor.connection.until(lambda: "THREE" in editor.text(uri), "the edit in the editor")
    await killed(editor, saved=saved)

    other = await place.editor("a.py")
    after = await hunks_of(other)
    assert shown(after) == {"THREE\n": ("pending", saved), "more\n": ("pending", False)}
    await decide(other, "accept", *after.values())
    assert other.text(uri) == CHANGED
    await other.command("tark.turn.undo", {"turnId": turn})
    assert other.text(uri) == TEXT
    await ended(other)


async def test_in_an_editor_that_knows_nothing_of_us(place: Place) -> None:
    """And whose server ended in good order."""
    place.write_home(EDIT, settings='editReview = "after"')
    editor = await place.editor("a.py", flags=())
    await editor.end(await editor.turn("do it"), 30)
    (place.folder / "a.py").write_text(editor.text(place.uri("a.py")) + "typed\n")
    await ended(editor)
    other = await place.editor("a.py", flags=())
    uri = place.uri("a.py")
    await other.connection.until(lambda: other.diagnostics.get(uri), "the hunk in the list", 20)
    at = {"start": {"line": 3, "character": 0}, "end": {"line": 3, "character": 0}}
    titles = {action["title"]: action for action in await other.actions(uri, at)}
    await other.run_action(titles["Undo (+1 -1)"])
    await other.connection.until(lambda: other.text(uri) == TEXT + "typed\n", "taken back")
    await other.connection.until(lambda: not other.diagnostics[uri], "the list is empty")
    await ended(other)


async def test_text_that_is_another_by_now(place: Place) -> None:
    place.write_home(EDIT, MORE)
    editor = await place.editor("a.py")
    await editor.turn("do it")
    await editor.question(20)
    await killed(editor)
    mine = TEXT.replace("line 3\n", "mine\n")
    (place.folder / "a.py").write_text(mine)
    other = await place.editor("a.py")
    after = await hunks_of(other)
    assert shown(after) == {"THREE\n": ("stale", False), "more\n": ("pending", False)}
    answer = await decide(other, "accept", *after.values())
    assert answer["hunks"] == [after["more\n"]["hunkId"]]
    assert other.text(place.uri("a.py")) == mine.replace("line 20\n", "line 20\nmore\n")
    await ended(other)


async def test_a_server_that_lives_keeps_its_hunks(place: Place) -> None:
    """Of two servers on one folder only one has them, whichever is asked, and they are decided once."""
    place.write_home(EDIT, MORE)
    one = await place.editor("a.py")
    await one.turn("do it")
    await one.question(20)
    hunks = await hunks_of(one)
    two, three = await place.editor("b.py"), await place.editor()
    assert await hunks_of(two) == {}
    await decide(one, "reject", hunks["THREE\n"])
    await killed(one)
    found = [(await hunks_of(editor), editor, other) for editor, other in ((two, three), (three, two))]
    ((taken, keeper, other),) = (item for item in found if item[0])  # each also looks by itself now and then
    assert [*taken] == ["more\n"]
    await decide(keeper, "accept", taken["more\n"])
    assert place.read("a.py") == TEXT.replace("line 20\n", "line 20\nmore\n")
    await ended(keeper)
    assert await hunks_of(other) == {}
    await ended(other)


@pytest.mark.property
@pytest.mark.parametrize("seed", seeds(3))
async def test_killed_at_any_moment(place: Place, seed: int) -> None:
    """Whatever comes back is decided, and then nothing is left of the turn but what was accepted."""
    chance = random.Random(seed)
    after = chance.choice(["after", "ask"])
    place.write_home(EDIT, MORE, CLOSED, FRESH, MOVE, settings=f'editReview = "{after}"')
    editor = await place.editor("a.py")
    editor.policy = allow
    await editor.command("tark.doctor", {})  # whatever is slow but once is done
    left = chance.randrange(1, 20)

    def count(_: Message) -> None:
        """Messages of either side from the first hunks on."""
        nonlocal left
        left -= any(item.params["update"]["kind"] == "hunks" for item in editor.sent("tark/update"))
        if left == 0:
            asyncio.get_running_loop().call_soon(strike, editor)

    editor.connection.listeners.append(count)
    turn = asyncio.ensure_future(editor.turn("do it"))
    with contextlib.suppress(TimeoutError):  # it had not so much to say
        await editor.connection.exited(10)
    turn.cancel()
    await killed(editor)

    other = await place.editor("a.py")
    uri = place.uri("a.py")
    hunks = await hunks_of(other)
    assert {hunk["state"] for hunk in hunks.values()} <= {"pending"}
    assert hunks or after == "ask", "what is applied is to be decided"
    for hunk in hunks.values():
        verb = chance.choice(["accept", "reject"])
        answer = await decide(other, verb, hunk)
        assert answer["skipped"] == [], answer
        mark = hunk["newText"] or "line 5\n"
        text = other.text(uri) if hunk["newText"] in ("THREE\n", "more\n") else place.read("b.py") or ""
        if hunk["newText"] in ("THREE\n", "more\n"):
            assert (mark in text) is (verb == "accept")
        elif hunk["oldText"]:
            assert (mark in text) is (verb == "reject")
    for hunk in hunks.values():
        await other.command("tark.turn.undo", {"turnId": hunk["turnId"]})
    assert other.text(uri) in ((TEXT,) if hunks else (TEXT, CHANGED))
    assert (place.read("d.py") or place.read("lib/d.py")) == TEXT
    await ended(other)
