"""`workspace/executeCommand`: wrong shapes and unknown ids are named; what is started is found, waited for, ended."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import pytest
from pygls.exceptions import CommandAlreadyRegisteredError

from tark_lsp.errors import RequestError
from tark_lsp.server.commands import Command, Commands
from tark_lsp.server.connection.early_answers import EarlyAnswers
from tark_lsp.server.documents.sync import DocumentSync
from tark_lsp.server.protocol.capabilities import COMMANDS
from tark_lsp.server.protocol.command_payloads import Nothing
from tests.server.desk import TEXT, Desk, allow
from tests.server.raw import ROOT

pytestmark = pytest.mark.virtual_clock

ASK = "tark/requestPermission"
NEED_SOMETHING = {
    *(f"tark.turn.{name}" for name in ("start", "steer", "undo", "redo", "wait")),
    *(f"tark.hunk.{name}" for name in ("accept", "reject", "edit", "regenerate")),
    *("tark.permission.answer", "tark.input.answer", "tark.codeBlock.apply"),
    *(f"tark.session.{name}" for name in ("open", "context", "rename", "delete", "fork", "restore")),
    *("tark.session.export", "tark.session.compact"),
    *("tark.auth.login", "tark.auth.logout", "tark.auth.check", "tark.models.check", "tark.commitMessage"),
    "tark.index.rebuild",
}


@pytest.fixture
async def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path, monkeypatch)
    yield desk
    await desk.stop()


async def refused(desk: Desk, name: str, *arguments: object) -> str:
    with pytest.raises(RequestError) as caught:
        await desk.command(name, *arguments)
    assert caught.value.rpc_code == -32602
    return str(caught.value)


WRONG: list[tuple[str, object, str]] = [
    ("tark.turn.start", {}, "prompt"),
    ("tark.turn.start", {"prompt": None}, "prompt"),
    ("tark.turn.start", {"prompt": 7}, "prompt"),
    ("tark.turn.start", {"prompt": ["x"]}, "prompt"),
    ("tark.turn.start", {"prompt": "  "}, "prompt"),
    ("tark.turn.start", {"prompt": "x", "kind": "nonesuch"}, "nonesuch"),
    ("tark.turn.start", {"prompt": "x", "kind": 7}, "kind"),
    ("tark.turn.start", {"prompt": "x", "kind": "edit"}, "range"),
    ("tark.turn.start", {"prompt": "", "kind": "ask"}, "prompt"),
    ("tark.turn.start", {"prompt": "x", "textDocument": "f.py"}, "textDocument"),
    ("tark.turn.start", {"prompt": "x", "textDocument": {"version": 1}}, "textDocument.uri"),
    ("tark.turn.start", {"prompt": "x", "textDocument": {"uri": "file:///f", "version": "1"}}, "textDocument.version"),
    ("tark.turn.start", {"prompt": "x", "textDocument": {"uri": "file:///nonesuch/f"}}, "textDocument"),
    ("tark.turn.start", {"prompt": "x", "range": {"start": 1, "end": 2}}, "range.start"),
    ("tark.turn.start", {"prompt": "x", "range": {"start": {"line": -1, "character": 0}}}, "range.start.line"),
    ("tark.turn.start", {"prompt": "x", "range": {"start": {"line": 1.5, "character": 0}}}, "range.start.line"),
    (
        "tark.turn.start",
        {"prompt": "x", "range": {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}},
        "textDocument",
    ),
    ("tark.turn.start", {"prompt": "x", "sessionId": "nonesuch"}, "nonesuch"),
    ("tark.turn.start", {"prompt": "x", "sessionId": 7}, "sessionId"),
    ("tark.turn.start", {"prompt": "x", "model": "gpt"}, "model"),
    ("tark.turn.start", {"prompt": "x", "model": "/"}, "model"),
    ("tark.turn.start", {"prompt": "x", "mode": "yolo"}, "mode"),
    ("tark.turn.start", {"prompt": "x", "context": {}}, "context"),
    ("tark.turn.start", {"prompt": "x", "context": [{"type": "sound"}]}, "context.0"),
    ("tark.turn.start", {"prompt": "x", "context": [{"type": "text", "name": "n"}]}, "context.0.text.text"),
    ("tark.turn.steer", {"turnId": "nonesuch", "prompt": "x"}, "nonesuch"),
    ("tark.turn.steer", {"turnId": "x"}, "prompt"),
    ("tark.turn.steer", {"prompt": "x"}, "turnId"),
    ("tark.turn.cancel", {"turnId": "nonesuch"}, "nonesuch"),
    ("tark.turn.cancel", {"sessionId": "nonesuch"}, "nonesuch"),
    ("tark.turn.cancel", {"turnId": 7}, "turnId"),
    ("tark.turn.undo", {}, "turnId"),
    ("tark.turn.undo", {"turnId": "nonesuch"}, "nonesuch"),
    ("tark.turn.redo", {}, "turnId"),
    ("tark.turn.redo", {"turnId": "nonesuch"}, "nonesuch"),
    ("tark.session.restore", {"sessionId": "x"}, "messageId"),
    ("tark.session.restore", {"sessionId": "nonesuch", "messageId": "nonesuch.1"}, "nonesuch"),
    ("tark.turn.wait", {}, "turnId"),
    ("tark.turn.wait", {"turnId": "nonesuch"}, "nonesuch"),
    ("tark.hunk.list", {"uri": 7}, "uri"),
    ("tark.hunk.list", {"uri": "untitled:1"}, "untitled:1"),
    ("tark.hunk.list", {"turnId": "nonesuch"}, "nonesuch"),
    ("tark.hunk.accept", {}, "hunkIds"),
    ("tark.hunk.accept", {"hunkIds": "h"}, "hunkIds"),
    ("tark.hunk.accept", {"hunkIds": [7]}, "hunkIds.0"),
    ("tark.hunk.reject", {"hunkIds": ["nonesuch"]}, "nonesuch"),
    ("tark.hunk.reject", {"turnId": "nonesuch"}, "nonesuch"),
    ("tark.hunk.edit", {}, "hunkId"),
    ("tark.hunk.edit", {"hunkId": "x"}, "newText"),
    ("tark.hunk.edit", {"hunkId": "nonesuch", "newText": ""}, "nonesuch"),
    ("tark.hunk.regenerate", {}, "hunkId"),
    ("tark.hunk.regenerate", {"hunkId": "nonesuch"}, "nonesuch"),
    ("tark.hunk.regenerate", {"hunkId": "x", "prompt": 7}, "prompt"),
    ("tark.state", {"sessionId": "nonesuch"}, "nonesuch"),
    ("tark.permission.list", {"show": "nonesuch"}, "nonesuch"),
    ("tark.permission.answer", {}, "requestId"),
    ("tark.permission.answer", {"requestId": "x", "digest": "y"}, "outcome"),
    ("tark.permission.answer", {"requestId": "x", "digest": "y", "outcome": "maybe"}, "outcome"),
    ("tark.permission.answer", {"requestId": "nonesuch", "digest": "y", "outcome": "allow"}, "nonesuch"),
    ("tark.input.answer", {"answer": "x"}, "requestId"),
    ("tark.input.answer", {"requestId": "nonesuch", "answer": "x"}, "nonesuch"),
    ("tark.input.answer", {"requestId": "x", "answer": 7}, "answer"),
    ("tark.session.list", {"all": "yes"}, "all"),
    ("tark.session.new", {"title": "  \n "}, "title"),
    ("tark.session.new", {"title": 7}, "title"),
    ("tark.session.new", {"import": 7}, "import"),
    ("tark.session.open", {}, "sessionId"),
    *(
        (f"tark.session.{name}", {"sessionId": "nonesuch", "title": "x"}, "nonesuch")
        for name in ("open", "context", "rename", "delete", "fork", "export", "compact")
    ),
    ("tark.session.rename", {"sessionId": "x"}, "title"),
    ("tark.session.fork", {"sessionId": "x", "messageId": 7}, "messageId"),
    ("tark.models.list", {"provider": 7}, "provider"),
    ("tark.models.check", {"model": "gpt"}, "model"),
    ("tark.models.check", {"model": "nonesuch/gpt"}, "nonesuch"),
    ("tark.models.list", {"provider": "nonesuch"}, "nonesuch"),
    ("tark.models.list", {"refresh": "yes"}, "refresh"),
    ("tark.settings.set", {"mode": "yolo"}, "mode"),
    ("tark.settings.set", {"approval": "never"}, "approval"),
    ("tark.settings.set", {"thinking": "much"}, "thinking"),
    ("tark.settings.set", {"model": "gpt 5"}, "model"),
    ("tark.settings.set", {"model": "nonesuch/gpt-5"}, "there is no provider 'nonesuch'"),
    ("tark.settings.set", {"sessionId": "nonesuch"}, "nonesuch"),
    *((f"tark.auth.{name}", {"provider": "nonesuch"}, "nonesuch") for name in ("login", "logout", "status", "check")),
    *((f"tark.auth.{name}", {"provider": 7}, "provider") for name in ("login", "logout", "status")),
    ("tark.auth.login", {"provider": "scripted"}, "scripted"),
]


@pytest.mark.parametrize(("name", "argument", "named"), WRONG)
async def test_wrong_shapes_and_unknown_ids(desk: Desk, name: str, argument: object, named: str) -> None:
    assert named in await refused(desk, name, argument)
    assert (await desk.command("tark.state"))["turns"] == []


@pytest.mark.parametrize("arguments", [["x"], [None], [[]], [{}, {}], [7]])
async def test_each_takes_one_object(desk: Desk, arguments: list[object]) -> None:
    assert "tark.doctor takes one JSON object" in await refused(desk, "tark.doctor", *arguments)


async def test_unknown_commands(desk: Desk) -> None:
    for name in ("tark.nonesuch", "", "tark.turn", "other.command"):
        assert repr(name) in await refused(desk, name)


def test_the_list_of_the_handshake_is_what_the_features_offer(desk: Desk) -> None:
    assert len(COMMANDS) == len(set(COMMANDS))
    assert set(COMMANDS) == set(desk.registry.commands)
    assert set(COMMANDS) == set(desk.app.parts.commands.rows)


def test_the_page_of_the_protocol_has_a_row_for_every_command() -> None:
    """A row begins with one id or more: `tark.hunk.accept`, `.reject`."""
    rows = re.findall(
        r"^\| (`tark\.[^|]*) \|", (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    documented: list[str] = []
    for row in rows:
        first, *others = re.findall(r"`([\w.]+)`", row)
        documented += [first, *(f"{first.rpartition('.')[0]}{name}" for name in others)]
    assert sorted(documented) == sorted(COMMANDS)


def test_a_command_is_offered_once(desk: Desk) -> None:
    commands = Commands(EarlyAnswers(desk.connection, print), lambda: [Again()], lambda _: None)
    with pytest.raises(CommandAlreadyRegisteredError, match=r"tark\.doctor"):
        _ = commands.rows


class Again:
    def commands(self) -> Iterable[Command]:
        async def nothing(_: Nothing) -> None:
            return None

        yield Command("tark.doctor", Nothing, nothing)
        yield Command("tark.doctor", Nothing, nothing)


@pytest.mark.real_clock
@pytest.mark.parametrize("name", COMMANDS)
async def test_each_command_that_is_advertised_answers(desk: Desk, name: str) -> None:
    if name in NEED_SOMETHING:
        await refused(desk, name)
    else:
        await desk.command(name, {"unknownField": 1})


async def test_unknown_fields_are_ignored(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="tark_lsp.server.commands"):
        turn = await desk.start("hello", unheardOf=1, kind=None, context=None, sessionId=None)
    assert "ignored unheardOf" in caplog.text
    assert (await desk.end(turn))["text"] == "Hello."


# Turns


async def test_a_session_queues_and_cancels(desk: Desk) -> None:
    first = await desk.command("tark.turn.start", {"prompt": "wait"})
    session = first["sessionId"]
    queued = [await desk.command("tark.turn.start", {"prompt": f"hello {n}", "sessionId": session}) for n in (1, 2)]
    assert [item["queued"] for item in queued] == [1, 2]
    assert "queued" not in first
    state = await desk.command("tark.state", {"sessionId": session})
    assert [(turn["turnId"], turn["state"]) for turn in state["turns"]] == [
        (first["turnId"], "running"),
        (queued[0]["turnId"], "queued"),
        (queued[1]["turnId"], "queued"),
    ]
    assert (await desk.command("tark.turn.cancel", {"turnId": queued[0]["turnId"]}))["cancelled"] == [
        queued[0]["turnId"]
    ]
    assert (await desk.command("tark.turn.cancel", {"turnId": first["turnId"]}))["cancelled"] == [first["turnId"]]
    ends = [await desk.end(item["turnId"]) for item in (first, *queued)]
    assert [end["stopReason"] for end in ends] == ["cancelled", "cancelled", "end_turn"]
    assert (await desk.command("tark.turn.cancel", {"turnId": first["turnId"]}))["cancelled"] == []
    for item in (first, *queued):
        kinds = [update["kind"] for update in desk.updates(item["turnId"])]
        assert (kinds[0], kinds[-1]) == ("start", "end")


@pytest.mark.parametrize("argument", [{}, {"sessionId": ...}])
async def test_cancelling_a_session_empties_its_queue(desk: Desk, argument: dict[str, Any]) -> None:
    first = await desk.command("tark.turn.start", {"prompt": "wait"})
    second = await desk.command("tark.turn.start", {"prompt": "hello", "sessionId": first["sessionId"]})
    if argument:
        argument = {"sessionId": first["sessionId"]}
    cancelled = (await desk.command("tark.turn.cancel", argument))["cancelled"]
    assert sorted(cancelled) == sorted([first["turnId"], second["turnId"]])
    for item in (first, second):
        assert (await desk.end(item["turnId"]))["stopReason"] == "cancelled"
    turn = await desk.start("hello", sessionId=first["sessionId"])
    assert (await desk.end(turn))["stopReason"] == "end_turn"


async def test_a_turn_cancelled_before_its_first_step_ends(desk: Desk) -> None:
    """As the one behind it in the queue may be, when all are cancelled at the moment the one before ends."""
    first = await desk.command("tark.turn.start", {"prompt": "hello"})
    second = await desk.command("tark.turn.start", {"prompt": "hello", "sessionId": first["sessionId"]})
    turns = desk.app.parts.turns
    for item in (first, second):
        turns.cancel(item["turnId"])  # with no chance to run in between
    for item in (first, second):
        assert (await desk.end(item["turnId"]))["stopReason"] == "cancelled"
    turn = await desk.start("hello", sessionId=first["sessionId"])
    assert (await desk.end(turn))["stopReason"] == "end_turn"


async def test_the_mode_of_a_queued_turn_waits_for_its_turn(desk: Desk) -> None:
    first = await desk.command("tark.turn.start", {"prompt": "wait", "mode": "ask"})
    second = await desk.start("hello", sessionId=first["sessionId"], mode="build")
    await asyncio.sleep(0.1)
    assert desk.updates(first["turnId"], "start")
    (session,) = (await desk.command("tark.state"))["sessions"]
    assert session["mode"] == "ask"
    await desk.command("tark.turn.cancel", {"turnId": first["turnId"]})
    await desk.end(second)
    assert [desk.updates(turn, "start")[0]["mode"] for turn in (first["turnId"], second)] == ["ask", "build"]


async def test_steering(desk: Desk) -> None:
    first = await desk.command("tark.turn.start", {"prompt": "wait"})
    second = await desk.start("hello", sessionId=first["sessionId"])
    for turn in (first["turnId"], second):
        assert (await desk.command("tark.turn.steer", {"turnId": turn, "prompt": "and more"}))["accepted"]
    await desk.command("tark.turn.cancel", {"turnId": first["turnId"]})
    await desk.end(second)
    steer = {"turnId": second, "prompt": "too late"}
    assert await desk.command("tark.turn.steer", steer) == {"accepted": False}


async def test_waiting_with_a_token(desk: Desk) -> None:
    first = await desk.command("tark.turn.start", {"prompt": "wait"})
    second = await desk.start("hello", sessionId=first["sessionId"])
    waiting = asyncio.create_task(desk.command("tark.turn.wait", {"turnId": second}, token="given"))
    given_up = asyncio.create_task(desk.command("tark.turn.wait", {"turnId": first["turnId"]}, token="given up"))
    await asyncio.sleep(0.05)
    given_up.cancel()
    await asyncio.gather(given_up, return_exceptions=True)
    before = len(progress(desk, "given up"))
    await desk.command("tark.turn.cancel", {"turnId": first["turnId"]})
    assert (await waiting)["stopReason"] == "end_turn"
    assert len(progress(desk, "given up")) == before, "the token died with its answer"
    kinds = [value["kind"] for value in progress(desk, "given")]
    assert (kinds[0], kinds[-1]) == ("begin", "end")


def progress(desk: Desk, token: str) -> list[Any]:
    return [
        params["value"]
        for method, params in desk.connection.told
        if method == "$/progress" and params["token"] == token
    ]


async def test_a_token_cancels_its_turn(desk: Desk) -> None:
    turn = await desk.start("wait")
    waiting = asyncio.create_task(desk.command("tark.turn.wait", {"turnId": turn}, token="given"))
    await asyncio.sleep(0.01)
    tokens: list[object] = ["nonesuch", None, [], "given"]
    for token in tokens:
        desk.app.progress_cancelled({"token": token})
    assert (await waiting)["stopReason"] == "cancelled"


async def test_a_running_turn_cannot_be_undone(desk: Desk) -> None:
    turn = await desk.start("wait")
    assert "still running" in await refused(desk, "tark.turn.undo", {"turnId": turn})


async def test_the_last_200_turns_can_be_waited_for(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from tark_lsp.server.turns import turn_records

    assert turn_records.REMEMBERED_TURNS == 200
    monkeypatch.setattr(turn_records, "REMEMBERED_TURNS", 2)
    ids = []
    for _ in range(4):
        ids.append(await desk.start("hello"))
        await desk.end(ids[-1])
    await desk.start("hello")
    assert [desk.app.parts.records.get_turn(turn) is not None for turn in ids] == [False, False, True, True]
    assert (await desk.end(ids[0]))["text"] == "Hello."  # as one of an earlier server: from the store
    assert (await desk.end(ids[-1]))["text"] == "Hello."


# What a turn is about


def span(start: int, end: int) -> dict[str, Any]:
    return {"start": {"line": start, "character": 0}, "end": {"line": end, "character": 0}}


async def test_without_a_document_it_is_that_of_the_last_code_action(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    desk.editor.open("g.py", TEXT)
    await desk.actions(path, 2, 4)
    desk.editor.type(path, (0, 0, "typed\n"))
    turn = await desk.start("hello")
    await desk.end(turn)
    assert desk.updates(turn, "start")[0]["range"] == span(3, 5)
    turn = await desk.start("hello", range=span(5, 7))
    await desk.end(turn)
    assert desk.updates(turn, "start")[0]["range"] == span(5, 7)
    desk.editor.close(path)
    turn = await desk.start("hello")
    await desk.end(turn)
    assert "range" not in desk.updates(turn, "start")[0]


async def test_the_lines_of_the_last_code_action_were_changed(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    await desk.actions(path, 2, 4)
    at = TEXT.index("line 3")
    desk.editor.type(path, (at, at, "x"))
    with pytest.raises(RequestError) as caught:
        await desk.start("hello")
    assert caught.value.rpc_code == -32801
    turn = await desk.start("hello", noDocument=True)
    await desk.end(turn)
    assert "range" not in desk.updates(turn, "start")[0]


@pytest.mark.parametrize("uri", ["untitled:1", "notebook-cell:/f.ipynb#1"])
async def test_what_is_no_file_is_text_only(desk: Desk, uri: str) -> None:
    item = {"uri": uri, "languageId": "python", "version": 1, "text": TEXT}
    DocumentSync(desk.app.parts.documents).did_open({"textDocument": item})
    argument = {"prompt": "hello", "kind": "edit", "textDocument": {"uri": uri}, "range": span(0, 2)}
    assert "needs a file" in await refused(desk, "tark.turn.start", argument)
    turn = (await desk.command("tark.turn.start", {**argument, "kind": "explain"}))["turnId"]
    assert (await desk.end(turn))["text"] == "Hello."


# Hunks, undo, permissions


async def test_undo(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    desk.connection.answers[ASK] = allow
    turn = await desk.start("edit f.py", path)
    end = await desk.end(turn)
    assert end["edits"] == [{"uri": path.as_uri(), "state": "applied"}]
    assert await desk.command("tark.turn.undo", {"turnId": turn}) == {"restored": [path.as_uri()], "kept": []}
    assert desk.editor.text(path) == TEXT
    assert (await desk.command("tark.turn.undo", {"turnId": turn}))["kept"] == []
    assert desk.editor.text(path) == TEXT


async def test_a_decided_hunk_is_skipped_and_says_why(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    turn = await desk.start("edit f.py", path)
    await desk.connection.asking(ASK)
    (hunk,) = (await desk.command("tark.hunk.list", {"uri": path.as_uri()}))["hunks"]
    assert (await desk.command("tark.hunk.reject", {"hunkIds": [hunk["hunkId"]]}))["hunks"] == [hunk["hunkId"]]
    again = await desk.command("tark.hunk.accept", {"hunkIds": [hunk["hunkId"]]})
    assert again == {"hunks": [], "skipped": [{"hunkId": hunk["hunkId"], "reason": "it is rejected already"}]}
    assert (await desk.end(turn))["edits"] == [{"uri": path.as_uri(), "state": "rejected"}]
    assert await desk.command("tark.hunk.accept", {"uri": path.as_uri()}) == {"hunks": [], "skipped": []}
    assert desk.connection.withdrawn == [ASK]


async def test_state_tells_all_that_is_open(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    turn = await desk.start("edit f.py", path)
    await desk.connection.asking(ASK)
    await desk.command("tark.settings.set", {"approval": "manual"})
    state = await desk.command("tark.state")
    assert [(item["turnId"], item["state"]) for item in state["turns"]] == [(turn, "running")]
    assert state["turns"][0]["seq"] == len(desk.updates(turn))
    assert [permission["turnId"] for permission in state["permissions"]] == [turn]
    assert [hunk["uri"] for hunk in state["hunks"]] == [path.as_uri()]
    assert state["settings"]["approval"] == "manual"
    other = await desk.command("tark.turn.start", {"prompt": "hello"})
    await desk.end(other["turnId"])
    only = await desk.command("tark.state", {"sessionId": other["sessionId"]})
    assert (only["turns"], only["permissions"]) == ([], [])


async def test_settings_of_one_session_or_of_those_to_come(desk: Desk) -> None:
    first = await desk.command("tark.turn.start", {"prompt": "hello"})
    changed = await desk.command("tark.settings.set", {"sessionId": first["sessionId"], "mode": "plan"})
    assert changed == {"model": "scripted/desk", "mode": "plan", "approval": "careful", "thinking": "auto"}
    assert (await desk.command("tark.settings.set", {}))["mode"] == "build"
    assert (await desk.command("tark.settings.set", {"mode": "ask", "thinking": "low"}))["mode"] == "ask"
    second = await desk.command("tark.turn.start", {"prompt": "hello"})
    sessions = {session["sessionId"]: session for session in (await desk.command("tark.state"))["sessions"]}
    assert (sessions[first["sessionId"]]["mode"], sessions[second["sessionId"]]["mode"]) == ("plan", "ask")
    for item in (first, second):
        await desk.end(item["turnId"])


async def test_old_turns_are_not_told_again_and_again(desk: Desk) -> None:
    """Only a turn with an undecided hunk in the file, or one that was just decided, gets the update."""
    path = desk.editor.open("f.py", TEXT)
    desk.connection.answers[ASK] = allow
    old = await desk.start("edit f.py", path)
    await desk.end(old)
    told = len(desk.updates(old, "hunks"))
    assert desk.updates(old, "hunks")[-1]["hunks"][0]["state"] == "accepted"
    del desk.connection.answers[ASK]
    at = desk.editor.text(path).index("THREE")
    desk.editor.type(path, (at, at + 5, "line 3"))
    new = await desk.start("edit f.py", path)
    await desk.connection.asking(ASK, 2)
    desk.editor.type(path, (0, 0, "typed\n"))
    await asyncio.sleep(0.15)
    assert len(desk.updates(old, "hunks")) == told
    assert desk.updates(new, "hunks")[-1]["hunks"][-1]["range"] == span(4, 5)
