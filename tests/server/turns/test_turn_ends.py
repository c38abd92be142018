"""Every turn ends, and its end says what happened: with odd file names, and if a part of the server fails."""

import os
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tark_lsp.agent.events import CallChanged
from tark_lsp.server.turns.turn_record import TurnRecord
from tests.server.desk import Desk, MakeDesk, allow

ASK = "tark/requestPermission"
BUG = "this is a bug in tark-lsp: its log has details"


class Failing:
    """An observer that fails in one of its methods."""

    def __init__(self, method: str) -> None:
        self._method = method

    def on_turn_accepted(self, *_: object) -> None:
        self._fail_in("on_turn_accepted")

    def on_turn_event(self, *_: object) -> None:
        self._fail_in("on_turn_event")

    def on_update_sent(self, *_: object) -> None:
        self._fail_in("on_update_sent")

    def on_turn_ended(self, *_: object) -> None:
        self._fail_in("on_turn_ended")

    def _fail_in(self, method: str) -> None:
        if method == self._method:
            fail()


def fail(*_: object) -> None:
    raise LookupError("a listener is broken")


async def ended(desk: Desk, prompt: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The end as `tark.turn.wait` returns it, and the `end` updates that the client got."""
    turn = await desk.start(prompt)
    return await desk.end(turn), desk.updates(turn, "end")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse names that are not UTF-8")
async def test_a_command_that_makes_a_file_whose_name_is_not_utf_8(make: MakeDesk) -> None:
    desk = make()
    desk.connection.answers[ASK] = allow
    turn = await desk.start("run touch \"$(printf 'bad\\377.py')\"")
    end = await desk.end(turn)
    assert [os.fsencode(path.name) for path in desk.folder.iterdir()] == [b"bad\xff.py"]
    assert (end["stopReason"], end["changedByCommand"]) == ("end_turn", [f"{desk.folder.as_uri()}/bad%FF.py"])
    assert [update["text"] for update in desk.updates(turn, "end")] == ["Run."]


@pytest.mark.parametrize("method", ["on_turn_accepted", "on_turn_event", "on_update_sent"])
async def test_a_listener_that_fails_is_the_error_of_the_turn(make: MakeDesk, method: str) -> None:
    desk = make()
    desk.connection.answers[ASK] = allow
    desk.app.parts.turns.listen(Failing(method))
    end, sent = await ended(desk, "write new.py")
    assert end["stopReason"] == "error"
    assert end["error"]["message"] == "LookupError: a listener is broken"
    assert end["error"]["hint"] == BUG
    assert [update["stopReason"] for update in sent] == ["error"]
    assert end["edits"] == [{"uri": f"{desk.folder.as_uri()}/new.py", "state": "applied"}]  # it was made


async def test_the_next_turn_runs_after_a_listener_failed_at_the_end(make: MakeDesk) -> None:
    desk = make()
    desk.app.parts.turns.listen(Failing("on_turn_ended"))
    session = (await desk.command("tark.session.new"))["sessionId"]
    first, second = [await desk.start("hello", sessionId=session) for _ in range(2)]
    assert [(await desk.end(turn))["text"] for turn in (first, second)] == ["Hello.", "Hello."]


@pytest.mark.parametrize("status", ["pending", "completed"])
async def test_a_call_that_cannot_be_shown_is_the_error_of_the_turn(
    make: MakeDesk, monkeypatch: pytest.MonkeyPatch, status: str
) -> None:
    desk = make()
    writer = desk.app.parts.turns._writer
    write: Callable[[TurnRecord, Any], None] = writer.write_event

    def write_most(record: TurnRecord, event: Any) -> None:
        if isinstance(event, CallChanged) and event.status == status:
            fail()
        write(record, event)

    monkeypatch.setattr(writer, "write_event", write_most)
    end, sent = await ended(desk, "list .")
    assert end["error"]["message"] == "LookupError: a listener is broken"
    assert [update["stopReason"] for update in sent] == ["error"]


async def test_an_end_that_cannot_be_sent_is_replaced_by_an_error(make: MakeDesk) -> None:
    desk = make()
    notify = desk.connection.notify

    def refuse_text(method: str, params: Any = None) -> None:
        if method == "tark/update" and params["update"].get("kind") == "end" and params["update"]["text"]:
            fail()
        notify(method, params)

    desk.connection.notify = refuse_text  # type: ignore[method-assign]  # a connection that cannot encode the text
    end, sent = await ended(desk, "hello")
    assert [update["error"] for update in sent] == [end["error"]]
    assert end["error"]["message"] == "LookupError: a listener is broken"
