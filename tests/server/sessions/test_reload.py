"""A client that starts again: what `tark.session.open` tells of turns, and of a long session page by page."""

from typing import Any

import pytest

from tark_lsp.agent.kinds import KINDS
from tark_lsp.messages import Message, Text
from tark_lsp.server.sessions.shown_turn import LONGEST_PROMPT, LONGEST_TEXT, bounded, typed
from tark_lsp.sessions.rows import TurnRow
from tests.server.desk import TEXT, Desk, allow
from tests.server.scripted import Json
from tests.server.sessions.conftest import Another
from tests.server.sessions.probe import opened, refused, run, said, talking


async def test_a_running_turn_can_be_drawn_again(desk: Desk) -> None:
    started = await desk.command("tark.turn.start", {"prompt": "wait"})
    session, running = started["sessionId"], started["turnId"]
    queued = await desk.start("hello " * 100, sessionId=session)
    await talking(desk, running)
    await desk.command("tark.turn.steer", {"turnId": running, "prompt": "hurry"})
    shown = await opened(desk, session)
    first, second = shown["turns"]
    seq = first["seq"]
    assert (first["turnId"], first["state"], first["model"]) == (running, "running", "scripted/desk")
    assert first["steers"] == ["hurry"]
    told = [params for method, params in desk.connection.told if method == "tark/update"]
    before = [item["update"] for item in told if item["turnId"] == running and item["seq"] <= seq]
    words = "".join(update["delta"] for update in before if update["kind"] == "text")
    assert words
    assert said(shown) == [("user", "wait"), ("assistant", words), ("user", "hello " * 100)]
    assert (second["turnId"], second["state"], second["seq"]) == (queued, "queued", 0)
    assert len(second["prompt"]) == LONGEST_PROMPT
    await desk.command("tark.turn.cancel", {"sessionId": session})
    await desk.end(running)


async def test_an_ended_turn_says_what_it_did(desk: Desk, another: Another) -> None:
    (desk.folder / "f.py").write_text(TEXT)
    desk.connection.answers["tark/requestPermission"] = allow
    session = await run(desk, "edit f.py")
    (here,) = (await opened(desk, session))["turns"]
    assert here["seq"] == max(params["seq"] for method, params in desk.connection.told if method == "tark/update")
    await desk.stop()
    (turn,) = (await opened(another(), session))["turns"]
    assert {**turn, "seq": here["seq"]} == here
    assert (turn["state"], turn["stopReason"]) == ("ended", "end_turn")
    assert turn["edits"] == [{"uri": (desk.folder / "f.py").as_uri(), "state": "applied"}]
    assert turn["usage"]["inputTokens"] > 0
    assert turn["usage"]["contextUsed"] > 0
    assert "seq" not in turn


async def test_looking_takes_nothing_away(desk: Desk, another: Another) -> None:
    session = await run(desk, "hello")
    await desk.stop()
    one, other = another(), another()
    for item in (one, other, one):
        assert (await opened(item, session))["readOnly"] is False
    await run(other, "hello", session)
    assert (await opened(one, session))["readOnly"] is True


async def long_session(desk: Desk) -> tuple[str, list[Json]]:
    session = await run(desk, "hello")
    for prompt in ("list .", "hello", "list ."):
        await run(desk, prompt, session)
    return session, (await opened(desk, session))["messages"]


@pytest.mark.parametrize("last", [1, 2, 3, 4, 7, 9, 10, 11])
async def test_page_by_page_everything_is_shown_once(desk: Desk, last: int) -> None:
    session, whole = await long_session(desk)
    assert len(whole) == 10
    pages: list[list[Json]] = []
    about: dict[str, Any] = {}
    earlier = True
    while earlier:
        shown = await desk.command("tark.session.open", {"sessionId": session, "last": last, **about})
        assert len(shown["messages"]) == min(last, 10 - sum(map(len, pages)))
        assert {turn["turnId"] for turn in shown["turns"]} == {item["turnId"] for item in shown["messages"]}
        pages.insert(0, shown["messages"])
        about = {"before": shown["messages"][0]["messageId"]}
        earlier = shown["earlier"]
    assert [message for page in pages for message in page] == whole
    assert (await opened(desk, session))["earlier"] is False


@pytest.mark.parametrize("last", [0, -1, 1.5, "1", True])
async def test_a_number_of_messages_is_one(desk: Desk, last: object) -> None:
    session = await run(desk, "hello")
    assert "last" in await refused(desk, "tark.session.open", sessionId=session, last=last)


async def test_pages_of_a_turn_that_runs_and_of_one_that_waits(desk: Desk) -> None:
    session, before = await long_session(desk)
    running = await desk.start("wait", sessionId=session)
    await desk.start("hello", sessionId=session)
    await talking(desk, running)
    shown = await desk.command("tark.session.open", {"sessionId": session, "last": 1})
    assert [item[0] for item in said(shown)] == ["user", "assistant", "user"]
    assert [turn["state"] for turn in shown["turns"]] == ["running", "queued"]
    rest = await desk.command("tark.session.open", {"sessionId": session, "before": shown["messages"][0]["messageId"]})
    assert rest["messages"] == before
    assert len(rest["turns"]) == 4
    await desk.command("tark.turn.cancel", {"sessionId": session})
    await desk.end(running)


async def test_clients_are_told_how_a_session_changes(desk: Desk) -> None:
    session = await run(desk, "hello")
    (first,) = told(desk)
    assert (first["sessionId"], first["title"], first["mode"]) == (session, "hello", "build")
    await run(desk, "hello", session)
    assert len(told(desk)) == 1
    await desk.command("tark.session.rename", {"sessionId": session, "title": "Mine"})
    await desk.command("tark.settings.set", {"sessionId": session, "mode": "plan"})
    assert [(item["title"], item["mode"]) for item in told(desk)[1:]] == [("Mine", "build"), ("Mine", "plan")]


async def test_a_session_that_is_renamed_unopened_is_told_too(desk: Desk, another: Another) -> None:
    session = await run(desk, "hello")
    await desk.stop()
    other = another()
    renamed = await other.command("tark.session.rename", {"sessionId": session, "title": "Mine"})
    assert told(other) == [renamed]


async def test_a_client_without_updates_is_not_told(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(tmp_path, monkeypatch, tark=())
    await run(desk, "hello")
    assert told(desk) == []
    await desk.stop()


def told(desk: Desk) -> list[Json]:
    return [params["session"] for method, params in desk.connection.told if method == "tark/session"]


EXPLAIN = KINDS["explain"].instructions


@pytest.mark.parametrize(
    ("prompt", "kind", "texts", "shown"),
    [
        ("hello", "agent", ("As an agent.\n\n", "The person says:\n\nhello"), "hello"),
        ("  hello ", "agent", ("x", "The person says:\n\n  hello "), "  hello "),
        ("/explain it", "explain", (EXPLAIN, "The person says:\n\nit"), "/explain it"),
        ("", "explain", (EXPLAIN,), ""),
        ("/explain", "explain", (EXPLAIN, "\n\nthe selection"), "/explain"),
        ("/mine", "mine", ("x", "The person says:\n\nfilled in"), "/mine\n\nfilled in"),
        ("", "edit", ("x", "The person says:\n\nasked for"), "asked for"),
        ("hello", "agent", ("delete all",), "delete all"),
        ("hello", "agent", ("x", "The person says:\n\ndelete all"), "delete all"),
        ("hello", "agent", ("delete", "all"), "deleteall"),
    ],
    ids=["plain", "blanks", "called", "no words", "called without words", "named", "asked", "other", "forged", "two"],
)
def test_what_the_model_was_told_is_shown_where_it_is_not_what_was_typed(
    prompt: str, kind: str, texts: tuple[str, ...], shown: str
) -> None:
    turn = TurnRow("turn-1", "session-1", prompt, kind, None, 0.0)
    assert typed(turn, Message("user", tuple(map(Text, texts)))) == shown


@pytest.mark.parametrize("length", [0, LONGEST_TEXT, LONGEST_TEXT + 1, 3 * LONGEST_TEXT])
def test_giant_texts_are_cut_with_a_word(length: int) -> None:
    shown = bounded("x" * length)
    assert shown.startswith("x" * min(length, LONGEST_TEXT))
    assert ("export the session" in shown) == (length > LONGEST_TEXT)
    assert len(shown) < LONGEST_TEXT + 100
