"""What cannot be stored: turns go on all the same, that is said once, and nothing that was there is lost."""

import asyncio
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from tark_lsp import database
from tark_lsp.folders import sessions_path
from tark_lsp.messages import ApprovalLevel, Mode
from tark_lsp.server.sessions.retention import DAY_SECONDS, old, retire
from tark_lsp.sessions.rows import SessionRow
from tark_lsp.sessions.store import SessionStore
from tests.server.desk import Desk, MakeDesk
from tests.server.sessions.conftest import Another
from tests.server.sessions.probe import NOBODY, listed, opened, run, said, sql


def not_a_database(path: Path) -> None:
    path.write_bytes(b"no database at all, but long enough to be looked at\n" * 100)


def newer(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()


def a_folder(path: Path) -> None:
    path.mkdir()


FILES: dict[str, tuple[Any, str]] = {
    "damaged": (not_a_database, "put aside"),
    "newer": (newer, "newer tark-lsp"),
    "a folder": (a_folder, "memory"),
}


@pytest.mark.parametrize("name", FILES)
async def test_a_file_that_cannot_be_used(desk: Desk, name: str) -> None:
    spoil, said_of_it = FILES[name]
    spoil(sessions_path())
    before = None if sessions_path().is_dir() else sessions_path().read_bytes()
    session = await run(desk, "hello")
    await run(desk, "hello again", session)
    assert said(await opened(desk, session))[2:] == [("user", "hello again"), ("assistant", "Hello.")]
    assert [row["turns"] for row in await listed(desk)] == [2]
    (note,) = desk.connection.notes()
    assert said_of_it in note
    kept = [path for path in sessions_path().parent.iterdir() if path.is_file() and path.read_bytes() == before]
    assert kept or before is None, "what was there is there still"


async def test_without_a_state_folder(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file" / "state"))
    session = await run(desk, "hello")
    await run(desk, "hello", session)
    assert [row["turns"] for row in await listed(desk)] == [2]
    sessions, permissions = desk.connection.notes()  # trust decides whether the code is indexed
    assert "memory" in sessions
    assert "no workspace is trusted" in permissions
    fork = await desk.command("tark.session.fork", {"sessionId": session})
    await run(desk, "hello", fork["sessionId"])


async def test_each_turn_shows_that_it_is_kept_in_memory_until_that_is_over(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "RETRY_SECONDS", 0)

    async def notices(session_id: str | None = None) -> tuple[str, int]:
        about = {} if session_id is None else {"sessionId": session_id}
        started = await desk.command("tark.turn.start", {"prompt": "hello", **about})
        await desk.end(started["turnId"])
        shown = [update["message"] for update in desk.updates(started["turnId"], "notice")]
        return started["sessionId"], sum("memory only" in message for message in shown)

    a_folder(sessions_path())
    session, shown = await notices()
    assert (shown, await notices(session)) == (1, (session, 1))
    sessions_path().rmdir()
    await run(desk, "hello", session)
    assert await notices(session) == (session, 0)
    assert sql("SELECT count(*) FROM turns") == [(4,)]


async def test_a_defect_of_ours_breaks_no_turn_and_is_said_once(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    started = await desk.command("tark.turn.start", {"prompt": "wait"})
    record = desk.app.parts.records.find_turn(started["turnId"])
    for _ in range(2):
        record.updates.send("plan", entries=[object()])  # no JSON
    await desk.command("tark.turn.cancel", {"turnId": started["turnId"]})
    assert (await desk.end(started["turnId"]))["stopReason"] == "cancelled"
    (note,) = desk.connection.notes()
    assert "not all of this session is stored (TypeError" in note
    assert "not stored: something of session-" in caplog.text
    await run(desk, "hello", started["sessionId"])


# Old sessions


def row(age_days: float, number: int) -> SessionRow:
    when = time.time() - age_days * DAY_SECONDS
    return SessionRow(f"old-{number}", "old", when, when, (), None, Mode.BUILD, ApprovalLevel.CAREFUL, "auto")


@pytest.mark.parametrize(
    ("days", "ages", "left"),
    [
        (30, [0, 29, 31], {"old-0", "old-1"}),
        (30, [365, 366, 400], {"old-0", "old-1"}),  # nobody worked for a year, or the clock is wrong
        (30, [-4000, 0, 2, 33], {"old-0", "old-1", "old-2"}),
        (30, [0, 0.1, 3650, 3651], {"old-0", "old-1", "old-2", "old-3"}),  # begun twice since the clock jumped
        (30, [0, 1, 2, 3650], {"old-0", "old-1", "old-2"}),  # nobody worked for ten years, but for days since
        (30, [0, 0.1, 40, 41, 72], {"old-0", "old-1", "old-2", "old-3"}),  # back from a holiday
        (30, [], set()),
    ],
    ids=["by days", "all of them old", "from the future", "the clock jumped", "long ago", "a holiday", "none"],
)
def test_old_sessions_go(days: int, ages: list[float], left: set[str]) -> None:
    rows = [row(age, number) for number, age in enumerate(ages)]
    gone = {item.id for item in old(rows, days, time.time())}
    assert {item.id for item in rows} - gone == left


async def test_they_go_when_the_first_turn_is_stored(make: MakeDesk) -> None:
    desk = make(config="[sessions]\nretentionDays = 30")
    store = SessionStore(sessions_path, pytest.fail)
    for number, age in enumerate([1, 40, 40]):
        store.create_session(row(age, number))
    store.close()
    sql("UPDATE leases SET pid = ? WHERE session <> 'old-2'", NOBODY)
    assert len(await listed(desk, all=True)) == 3, "nothing is deleted by looking"
    session = await run(desk, "hello")
    # One is in use elsewhere, so it stays.
    assert {item["sessionId"] for item in await listed(desk, all=True)} == {session, "old-0", "old-2"}


@pytest.mark.parametrize("by", ["this server", "another one"])
async def test_one_that_is_used_meanwhile_stays(desk: Desk, by: str, another: Another) -> None:
    used, unused = await run(desk, "hello"), await run(desk, "hello again")
    await desk.stop()
    sql("UPDATE sessions SET updated = 0")
    retiring_one = another()
    await run(retiring_one, "new")
    await run(retiring_one, "new")
    sql("UPDATE sessions SET updated = updated - ? WHERE rowid = 3", DAY_SECONDS)
    sessions = retiring_one.app.parts.sessions
    retiring = asyncio.ensure_future(retire(sessions.store, 30, sessions.live))
    await asyncio.sleep(0)
    server = retiring_one if by == "this server" else another()
    server.app.parts.sessions.use(used)
    if by == "another one":  # which is done with it by then
        await run(server, "hello", used)
        await server.stop()
    await retiring
    left = {row["sessionId"] for row in await listed(retiring_one)}
    assert used in left
    assert unused not in left
