"""Hunks whose session was deleted, or is held by another server, are decided like all others."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.errors import RequestError
from tests.server.desk import TEXT, Desk, MakeDesk
from tests.server.sessions.probe import process_is_gone, run

pytestmark = pytest.mark.virtual_clock

AFTER = 'approval = "balanced"\neditReview = "after"'
CHANGED = TEXT.replace("line 3\n", "THREE\n")


@pytest.fixture
async def desk(make: MakeDesk) -> Desk:
    return make(config=AFTER)


@pytest.fixture
async def other(desk: Desk) -> AsyncIterator[Desk]:
    other = desk.another()
    yield other
    await other.stop()


async def edited(desk: Desk) -> tuple[Path, dict[str, Any], str]:
    """A document with an applied, undecided hunk; that hunk; and the id of its session."""
    path = desk.editor.open("f.py", TEXT)
    session = await run(desk, "edit f.py")
    (hunk,) = (await desk.command("tark.hunk.list", {}))["hunks"]
    assert (hunk["state"], desk.editor.text(path)) == ("pending", CHANGED)
    return path, hunk, session


async def after_restart(desk: Desk, other: Desk, path: Path, session: str) -> None:
    """The session is deleted, and the other server comes next."""
    await desk.command("tark.session.delete", {"sessionId": session})
    path.write_text(desk.editor.text(path))
    await desk.stop()
    other.editor.open("f.py", path.read_text())


async def states(desk: Desk, **about: Any) -> list[str]:
    return [hunk["state"] for hunk in (await desk.command("tark.hunk.list", about))["hunks"]]


async def test_nothing_is_rejected_where_nothing_can_be_written_anew(desk: Desk, other: Desk) -> None:
    path, hunk, session = await edited(desk)
    process_is_gone(session)
    await run(other, "hello", session)
    with pytest.raises(RequestError, match="has this session open"):
        await desk.command("tark.hunk.regenerate", {"hunkId": hunk["hunkId"]})
    assert (await states(desk), desk.editor.text(path)) == (["pending"], CHANGED)


async def test_of_a_deleted_session_it_is_written_anew_in_a_new_one(desk: Desk) -> None:
    path, hunk, session = await edited(desk)
    await desk.command("tark.session.delete", {"sessionId": session})
    turn = (await desk.command("tark.hunk.regenerate", {"hunkId": hunk["hunkId"]}))["turnId"]
    end = await desk.end(turn)
    assert (end["stopReason"], desk.editor.text(path)) == ("end_turn", TEXT)
    assert end["sessionId"] != session
    assert await states(desk) == ["rejected"]


async def test_of_a_deleted_session_they_come_back_whole(desk: Desk, other: Desk) -> None:
    """They are listed, reported and decided by their turn."""
    path, hunk, session = await edited(desk)
    await after_restart(desk, other, path, session)
    turn = hunk["turnId"]
    assert await states(other, turnId=turn) == ["pending"]
    (told,) = other.updates(turn, "hunks")
    assert [item["hunkId"] for item in told["hunks"]] == [hunk["hunkId"]]
    assert (await other.command("tark.hunk.reject", {"turnId": turn}))["hunks"] == [hunk["hunkId"]]
    assert other.editor.text(path) == TEXT
    assert [update["hunks"][0]["state"] for update in other.updates(turn, "hunks")] == ["pending", "rejected"]


async def test_of_a_deleted_session_it_is_written_anew_after_a_restart(desk: Desk, other: Desk) -> None:
    path, hunk, session = await edited(desk)
    await after_restart(desk, other, path, session)
    await other.command("tark.hunk.list", {})
    turn = (await other.command("tark.hunk.regenerate", {"hunkId": hunk["hunkId"], "prompt": "hello"}))["turnId"]
    end = await other.end(turn)
    assert (end["stopReason"], other.editor.text(path)) == ("end_turn", TEXT)


async def test_a_turn_that_never_was_is_none(desk: Desk) -> None:
    with pytest.raises(RequestError, match="there is no turn"):
        await desk.command("tark.hunk.list", {"turnId": "turn-nobody"})
