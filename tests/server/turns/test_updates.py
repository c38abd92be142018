"""`tark/update` and progress: numbered without gaps, text joined, tokens shown from beginning to end and forgotten."""

import asyncio
from typing import Any

import pytest

from tark_lsp.server.turns import updates
from tark_lsp.server.turns.updates import Progress, ProgressTokens, Updates
from tests.patience import AT_ONCE
from tests.server.scripted import Json, ScriptedConnection, capabilities, refuse

pytestmark = pytest.mark.virtual_clock

CREATE = "window/workDoneProgress/create"


def told(connection: ScriptedConnection) -> list[tuple[int, Json]]:
    return [(params["seq"], params["update"]) for method, params in connection.told if method == "tark/update"]


@pytest.fixture
def connection() -> ScriptedConnection:
    return ScriptedConnection(capabilities("window.workDoneProgress", tark=["updates"]))


async def test_text_is_joined_and_numbered_in_order(connection: ScriptedConnection) -> None:
    stream = Updates(connection, "session", "turn")
    stream.send("start", prompt="x")
    for piece in ("a", "b"):
        stream.add_text("thinking", piece)
    for piece in ("c", "d", "e"):
        stream.add_text("text", piece)
    stream.send("notice", level="info", message="y")
    stream.add_text("text", "f")
    stream.send("end", text="")
    assert told(connection) == [
        (1, {"kind": "start", "prompt": "x"}),
        (2, {"kind": "thinking", "delta": "ab"}),
        (3, {"kind": "text", "delta": "cde"}),
        (4, {"kind": "notice", "level": "info", "message": "y"}),
        (5, {"kind": "text", "delta": "f"}),
        (6, {"kind": "end", "text": ""}),
    ]
    assert connection.told[0][1]["turnId"] == "turn"
    await asyncio.sleep(updates.JOIN_SECONDS * 2)
    assert stream.seq == 6, "no timer was left behind"


async def test_text_waits_for_30_ms_at_most(connection: ScriptedConnection) -> None:
    assert updates.JOIN_SECONDS <= 0.03
    stream = Updates(connection, "session", "turn")
    loop = asyncio.get_running_loop()
    begun = loop.time()
    for _ in range(10):
        stream.add_text("text", "x")
        await asyncio.sleep(0.005)
    assert told(connection), f"nothing after {loop.time() - begun} s"
    await asyncio.sleep(0.05)
    assert "".join(update["delta"] for _, update in told(connection)) == "x" * 10
    assert [seq for seq, _ in told(connection)] == list(range(1, stream.seq + 1))


async def test_a_client_that_does_not_read_gets_fewer_and_larger(connection: ScriptedConnection) -> None:
    stream = Updates(connection, "session", "turn")
    connection.slow = True
    for _ in range(20):
        stream.add_text("text", "x")
        await asyncio.sleep(0.005)
    assert told(connection) == []
    connection.slow = False
    await asyncio.sleep(0.05)
    assert told(connection) == [(1, {"kind": "text", "delta": "x" * 20})]


async def test_nothing_is_sent_to_a_client_that_does_not_understand() -> None:
    connection = ScriptedConnection()
    stream = Updates(connection, "session", "turn")
    stream.add_text("text", "x")
    stream.send("end")
    assert connection.told == []
    assert stream.seq == 2


# Progress


def values(connection: ScriptedConnection, token: object = None) -> list[Json]:
    return [
        params["value"]
        for method, params in connection.told
        if method == "$/progress" and token in (None, params["token"])
    ]


async def test_a_token_of_our_own(connection: ScriptedConnection) -> None:
    connection.answers[CREATE] = lambda _: None
    tokens = ProgressTokens()
    progress = Progress(connection, tokens, "turn", "do it")
    progress.report("before it began")
    await progress.begin()
    token = connection.asked[0][1]["token"]
    assert tokens.find_turn_id(token) == "turn"
    progress.report("step")
    progress.end("done")
    progress.end("done again")
    assert [value["kind"] for value in values(connection, token)] == ["begin", "report", "report", "end"]
    assert values(connection, token)[0] == {"kind": "begin", "title": "Tark: do it", "cancellable": True}
    assert tokens.find_turn_id(token) is None


async def test_an_error_means_no_progress(connection: ScriptedConnection) -> None:
    connection.answers[CREATE] = refuse
    progress = Progress(connection, ProgressTokens(), "turn", "do it")
    await progress.begin()
    progress.report("step")
    progress.end("done")
    assert values(connection) == []


async def test_a_client_that_takes_its_time_gets_progress_later(
    connection: ScriptedConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(updates, "CREATE_SECONDS", 0.01)
    taken: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    connection.answers[CREATE] = lambda _: taken
    progress = Progress(connection, ProgressTokens(), "turn", "do it")
    await progress.begin()
    progress.report("step")
    assert values(connection) == []
    taken.set_result(None)
    await asyncio.sleep(0.01)
    progress.end("done")
    assert [value["kind"] for value in values(connection)] == ["begin", "report", "end"]


async def test_a_client_that_never_answers_holds_nothing_up(
    connection: ScriptedConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(updates, "CREATE_SECONDS", 0.01)
    progress = Progress(connection, ProgressTokens(), "turn", "do it")
    await asyncio.wait_for(progress.begin(), AT_ONCE)
    progress.end("done")
    await asyncio.sleep(0)
    assert connection.withdrawn == [CREATE]
    assert values(connection) == []


async def test_no_progress_where_the_client_has_none() -> None:
    connection = ScriptedConnection()
    await Progress(connection, ProgressTokens(), "turn", "do it").begin()
    assert connection.asked == []


async def test_a_given_token_mirrors_from_the_beginning_on() -> None:
    connection = ScriptedConnection()
    tokens = ProgressTokens()
    progress = Progress(connection, tokens, "turn", "do it")
    progress.mirror("early")
    assert values(connection) == []
    assert tokens.find_turn_id("early") == "turn", "a queued turn can be cancelled by it"
    await progress.begin()
    progress.report("step")
    progress.mirror("late")
    progress.mirror("gone")
    progress.forget("gone")
    progress.report("another")
    progress.end("done")
    progress.mirror("too late")
    for token, kinds in {
        "early": ["begin", "report", "report", "end"],
        "late": ["begin", "report", "report", "end"],
        "gone": ["begin", "report"],
        "too late": [],
    }.items():
        assert [value["kind"] for value in values(connection, token)] == kinds
        assert tokens.find_turn_id(token) is None


async def test_a_turn_that_never_began_shows_nothing() -> None:
    connection = ScriptedConnection()
    progress = Progress(connection, ProgressTokens(), "turn", "do it")
    progress.mirror("given")
    progress.end("cancelled")
    assert values(connection) == []


@pytest.mark.parametrize("token", [None, [], {}, 1.5, "unknown", 7])
def test_tokens_that_are_none(token: object) -> None:
    assert ProgressTokens().find_turn_id(token) is None
