"""What was kept in memory is stored as soon as the file can be used again, and nothing of anybody is lost."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tark_lsp import database, sqlite_file
from tark_lsp.agent.call_figures import CallFigures
from tark_lsp.agent.events import CallStatus
from tark_lsp.messages import Usage
from tark_lsp.sessions.hunks import HunkRows, KeptText
from tark_lsp.sessions.rows import SessionHeld, UsageRow
from tark_lsp.sessions.tool_calls import add_tool_calls, tool_sums
from tark_lsp.sessions.usage import add_usage
from tests.sessions.stores import Stores, answer, begun, call, calling, row, shown, text, told, user


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 0.02)
    monkeypatch.setattr(database, "RETRY_SECONDS", 0)


@contextmanager
def locked(stores: Stores) -> Iterator[sqlite3.Connection]:
    """The file is locked, by somebody who writes for a long time."""
    other = sqlite3.connect(stores.file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield other
    finally:
        if other.in_transaction:
            other.execute("ROLLBACK")
        other.close()


def test_tool_calls_come_back_too(stores: Stores) -> None:
    store = stores.open()
    begun(store, "s1", "t1", user("a"))

    def add(tool: str, session: str = "s1") -> None:
        calls = [CallFigures(tool, CallStatus.COMPLETED, seconds=1.0)]
        store.file.write(lambda connection: add_tool_calls(connection, session, "t1", 1.0, calls))

    add("before")
    with locked(stores):
        add("within")
        add("of another", "deleted")
    assert store.renew_leases() == []
    add("after")
    tools = [one.tool for one in tool_sums(stores.open().file.read)]
    assert sorted(tools) == ["after", "before", "of another", "total", "within"]


def used(session_id: str, turn_id: str, when: float) -> UsageRow:
    return UsageRow(session_id, turn_id, "p/m", "turn", when, 2.0, "end_turn", Usage(10, cost_usd=0.5))


def test_a_turn_that_began_before_and_ended_in_memory(stores: Stores) -> None:
    store = stores.open()
    begun(store, "s1", "t1", user("a"), answer("b"))
    store.log.end_turn("t1", {})
    begun(store, "s1", "t2", user("c"), calling("1"))
    shown(store, "t2", {"kind": "start"})
    add_usage(store.file, used("s1", "t2", 1.0))
    with locked(stores):
        shown(store, "t2", call("call-1", "completed"), text("x"), begin=2)
        store.log.add_message("s1", "t2", told("1"))
        add_usage(store.file, used("s1", "t2", 2.0))
        assert store.renew_leases() == [], "still locked"
        store.create_session(row("s3", "A new one"))
        store.release_leases("s3")
        assert len(stores.said) == 1
    assert stores.open().find_session("s3") is None
    assert store.renew_leases() == []
    assert "can be used again" in stores.said[1]
    other = stores.open()
    assert [stored.message for stored in other.log.messages("s1")] == [
        user("a"), answer("b"), user("c"), calling("1"), told("1"),
    ]  # fmt: skip
    assert [turn.id for turn in other.log.turns("s1")] == ["t1", "t2"]
    assert [seq for seq, _ in other.log.updates("t2")] == [1, 2, 3]
    found = other.find_session("s1")
    assert found is not None
    assert found.cost_usd == 1.0, "both requests, each once"
    assert other.find_session("s3") is not None
    assert other.acquire_lease("s3") is None
    assert other.acquire_lease("s1") is not None, "it is still that process's"
    store.log.end_turn("t2", {})
    assert other.log.updates("t2") == [(1, {"kind": "start"}), (2, call("call-1", "completed"))]


def test_at_the_end_of_the_process(stores: Stores) -> None:
    store = stores.open()
    begun(store, "s1", "t1", user("a"))
    with locked(stores):
        store.log.add_message("s1", "t1", answer("b"))
        store.log.end_turn("t1", {})
    store.release_leases()
    store.close()
    other = stores.open()
    assert other.log.history("s1").messages == (user("a"), answer("b"))
    assert [turn.ended is not None for turn in other.log.turns("s1")] == [True]
    assert other.acquire_lease("s1") is None


def test_what_cannot_be_stored_at_the_end_either_is_said(stores: Stores) -> None:
    store = stores.open()
    begun(store, "s1", "t1", user("a"))
    with locked(stores):
        store.log.add_message("s1", "t1", answer("b"))
        store.release_leases()
        store.close()
    assert "are lost" in stores.said[-1]
    reader = stores.open()
    with locked(stores):
        reader.release_leases()
        reader.close()
    assert len(stores.said) == 2, "nothing was lost there"


def test_sessions_of_others_stay_as_they_are(stores: Stores) -> None:
    """The other store writes while this one is in memory, and takes over one of its sessions."""
    store, other = stores.open(), stores.open()
    begun(store, "s1", "t1", user("a"))
    begun(store, "s4", "t4", user("mine"))
    begun(other, "s2", "t2", user("of the other"))
    with locked(stores):
        store.log.add_message("s1", "t1", answer("in memory"))
    begun(other, "s2", "t5", user("written meanwhile"))
    other.file.write(lambda connection: connection.execute("DELETE FROM leases WHERE session = 's1'"))
    assert other.acquire_lease("s1") is None
    other.log.repair_turns("s1")
    other.release_leases("s1")
    assert store.renew_leases() == ["s1"]
    with pytest.raises(SessionHeld):
        store.log.add_message("s1", "t1", answer("too late"))
    assert store.fork_session("s1", "s3", "A copy", None).title == "A copy"
    assert store.renew_leases() == []
    assert [stored.message for stored in other.log.messages("s1")] == [user("a"), answer("[interrupted]")]
    assert [stored.message for stored in other.log.messages("s2")] == [user("of the other"), user("written meanwhile")]
    assert [stored.message for stored in other.log.messages("s3")] == [user("a"), answer("in memory")]
    assert [stored.message for stored in other.log.messages("s4")] == [user("mine")]


def test_what_was_deleted_is_gone(stores: Stores) -> None:
    store = stores.open()
    begun(store, "s1", "t1", user("secret"))
    with locked(stores):
        store.delete_session("s1")
    assert store.renew_leases() == []
    assert stores.open().find_session("s1") is None
    assert stores.open().log.messages("s1") == []


def test_kept_hunks(stores: Stores) -> None:
    """The file can have rows with the same numbers meanwhile."""
    ours, others = (HunkRows(stores.open(), lambda: stores.folder / "mark") for _ in range(2))
    ours.replace_rows(Path("/w/a"), [KeptText(Path("/w/a"), "1", "a", ())])
    with locked(stores):
        ours.replace_rows(Path("/w/b"), [KeptText(Path("/w/b"), "2", "b", ())])
    others.replace_rows(Path("/w/c"), [KeptText(Path("/w/c"), "3", "c", ())])
    ours._store.renew_leases()
    rows = stores.open().file.read("SELECT path FROM kept_hunks")
    assert sorted(rows) == [(b"/w/a",), (b"/w/b",), (b"/w/c",)]


def test_not_where_the_file_may_have_more(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the file could not be read, memory does not have everything."""
    store = stores.open()
    begun(store, "s1", "t1", user("a"))
    monkeypatch.setattr("tark_lsp.sessions.held_sessions.HeldSessions._copy_rows", lambda *_, **__: False)
    monkeypatch.setattr(sqlite_file, "MOST_COPIED_BYTES", 0)
    with locked(stores):
        store.log.add_message("s1", "t1", answer("b"))
    monkeypatch.undo()
    assert store.renew_leases() == []
    assert "until the editor ends" in stores.said[0]
    assert [stored.message for stored in stores.open().log.messages("s1")] == [user("a")]


def test_it_is_not_tried_all_the_time(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "RETRY_SECONDS", 1_000_000)
    store = stores.open()
    begun(store, "s1", "t1", user("a"))
    with locked(stores):
        store.log.add_message("s1", "t1", answer("b"))
        store.renew_leases()
    store.renew_leases()
    assert len(stores.said) == 1
    store.close()
    assert stores.open().log.history("s1").messages == (user("a"), answer("b"))


def test_the_next_write_to_a_session_stores_it(stores: Stores) -> None:
    store = stores.open()
    begun(store, "s1", "t1", user("a"))
    with locked(stores):
        store.log.add_message("s1", "t1", answer("in memory"))
    assert "locked" in store.file.problem
    assert stores.open().log.history("s1").messages == (user("a"),)
    store.log.add_update("t1", 1, text("shown"))
    assert store.file.problem == ""
    other = stores.open()
    assert other.log.history("s1").messages == (user("a"), answer("in memory"))
    assert other.log.updates("t1") == [(1, text("shown"))]
