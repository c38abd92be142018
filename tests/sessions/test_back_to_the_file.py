"""What was kept in memory while the file could not be used gets into it as soon as it can be, and nobody's is lost."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tark_lsp import database, sqlite_file
from tark_lsp.messages import Usage
from tark_lsp.sessions.hunks import HunkRows, KeptText
from tark_lsp.sessions.rows import SessionHeld, UsageRow
from tests.sessions.stores import Stores, answer, begun, call, calling, row, shown, text, told, user


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 0.02)
    monkeypatch.setattr(database, "SHARE_OF_TIME", 0)


@contextmanager
def locked(stores: Stores) -> Iterator[sqlite3.Connection]:
    """By somebody who writes for long."""
    other = sqlite3.connect(stores.file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield other
    finally:
        if other.in_transaction:
            other.execute("ROLLBACK")
        other.close()


def used(session_id: str, turn_id: str, when: float) -> UsageRow:
    return UsageRow(session_id, turn_id, "p/m", "turn", when, 2.0, "end_turn", Usage(10, cost_usd=0.5))


def test_a_turn_that_began_before_and_ended_in_memory(stores: Stores) -> None:
    store = stores.open()
    begun(store, "s1", "t1", user("a"), answer("b"))
    store.end_turn("t1", {})
    begun(store, "s1", "t2", user("c"), calling("1"))
    shown(store, "t2", {"kind": "start"})
    store.add_usage(used("s1", "t2", 1.0))
    with locked(stores):
        shown(store, "t2", call("call-1", "completed"), text("x"), begin=2)
        store.add_message("s1", "t2", told("1"))
        store.add_usage(used("s1", "t2", 2.0))
        assert store.beat() == [], "still locked"
        store.create(row("s3", "A new one"))
        store.release("s3")
        assert len(stores.said) == 1
    assert stores.open().session("s3") is None
    assert store.beat() == []
    assert "can be used again" in stores.said[1]
    other = stores.open()
    assert [each.message for each in other.messages("s1")] == [
        user("a"), answer("b"), user("c"), calling("1"), told("1"),
    ]  # fmt: skip
    assert [each.id for each in other.turns("s1")] == ["t1", "t2"]
    assert [seq for seq, _ in other.updates("t2")] == [1, 2, 3]
    found = other.session("s1")
    assert found is not None
    assert found.cost_usd == 1.0, "both requests, each once"
    assert other.session("s3") is not None
    assert other.take("s3") is None
    assert other.take("s1") is not None, "it is still that process's"
    store.end_turn("t2", {})
    assert other.updates("t2") == [(1, {"kind": "start"}), (2, call("call-1", "completed"))]


def test_at_the_end_of_the_process(stores: Stores) -> None:
    store = stores.open()
    begun(store, "s1", "t1", user("a"))
    with locked(stores):
        store.add_message("s1", "t1", answer("b"))
        store.end_turn("t1", {})
    store.release()
    store.close()
    other = stores.open()
    assert other.history("s1").messages == (user("a"), answer("b"))
    assert [each.ended is not None for each in other.turns("s1")] == [True]
    assert other.take("s1") is None


def test_what_cannot_be_stored_at_the_end_either_is_said(stores: Stores) -> None:
    store = stores.open()
    begun(store, "s1", "t1", user("a"))
    with locked(stores):
        store.add_message("s1", "t1", answer("b"))
        store.release()
        store.close()
    assert "is lost" in stores.said[-1]
    reader = stores.open()
    with locked(stores):
        reader.release()
        reader.close()
    assert len(stores.said) == 2, "nothing was lost there"


def test_sessions_of_others_stay_as_they_are(stores: Stores) -> None:
    """The other one writes while this one is in memory, and takes over a session of this one's."""
    store, other = stores.open(), stores.open()
    begun(store, "s1", "t1", user("a"))
    begun(store, "s4", "t4", user("mine"))
    begun(other, "s2", "t2", user("of the other"))
    with locked(stores):
        store.add_message("s1", "t1", answer("in memory"))
    begun(other, "s2", "t5", user("written meanwhile"))
    other.write(lambda connection: connection.execute("DELETE FROM leases WHERE session = 's1'"))
    assert other.take("s1") is None
    other.mend("s1")
    other.release("s1")
    assert store.beat() == ["s1"]
    with pytest.raises(SessionHeld):
        store.add_message("s1", "t1", answer("too late"))
    assert store.fork("s1", "s3", "A copy", None).title == "A copy"
    assert store.beat() == []
    assert [each.message for each in other.messages("s1")] == [user("a"), answer("[interrupted]")]
    assert [each.message for each in other.messages("s2")] == [user("of the other"), user("written meanwhile")]
    assert [each.message for each in other.messages("s3")] == [user("a"), answer("in memory")]
    assert [each.message for each in other.messages("s4")] == [user("mine")]


def test_what_was_deleted_is_gone(stores: Stores) -> None:
    store = stores.open()
    begun(store, "s1", "t1", user("secret"))
    with locked(stores):
        store.delete("s1")
    assert store.beat() == []
    assert stores.open().session("s1") is None
    assert stores.open().messages("s1") == []


def test_kept_hunks(stores: Stores) -> None:
    """The file may have numbers of its own meanwhile."""
    ours, others = (HunkRows(stores.open(), lambda: stores.folder / "mark") for _ in range(2))
    ours.keep(Path("/w/a"), [KeptText(Path("/w/a"), "1", "a", ())])
    with locked(stores):
        ours.keep(Path("/w/b"), [KeptText(Path("/w/b"), "2", "b", ())])
    others.keep(Path("/w/c"), [KeptText(Path("/w/c"), "3", "c", ())])
    ours._store.beat()
    rows = stores.open().read("SELECT path FROM kept_hunks")
    assert sorted(rows) == [(b"/w/a",), (b"/w/b",), (b"/w/c",)]


def test_not_where_the_file_may_have_more(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a file that could not be read some is missing in memory."""
    store = stores.open()
    begun(store, "s1", "t1", user("a"))
    monkeypatch.setattr("tark_lsp.sessions.carrying._copy", lambda *_: False)
    monkeypatch.setattr(sqlite_file, "MOST_COPIED_BYTES", 0)
    with locked(stores):
        store.add_message("s1", "t1", answer("b"))
    monkeypatch.undo()
    assert store.beat() == []
    assert "until the editor ends" in stores.said[0]
    assert [each.message for each in stores.open().messages("s1")] == [user("a")]


def test_it_is_not_tried_all_the_time(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "SHARE_OF_TIME", 1_000_000)
    store = stores.open()
    begun(store, "s1", "t1", user("a"))
    with locked(stores):
        store.add_message("s1", "t1", answer("b"))
        store.beat()
    store.beat()
    assert len(stores.said) == 1
    store.close()
    assert stores.open().history("s1").messages == (user("a"), answer("b"))
