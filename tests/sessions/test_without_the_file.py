"""Sessions continue when their file fails: open sessions stay, a running turn is stored, the user is told."""

import os
from collections.abc import Callable

import pytest

from tark_lsp.agent import history
from tark_lsp.messages import Usage
from tark_lsp.sessions.rows import SessionHeld, UsageRow
from tark_lsp.sessions.store import SessionStore
from tark_lsp.sessions.usage import add_usage
from tests.sessions.stores import Stores, answer, begun, call, calling, row, shown, text, told, user


def full(_: Stores, store: SessionStore) -> None:
    """A limit of SQLite stands for the full disk: the error is the same."""
    ((pages,),) = store.file.read("PRAGMA page_count")
    store.file.read(f"PRAGMA max_page_count = {pages}")


def removed(stores: Stores, _: SessionStore) -> None:
    for path in stores.folder.iterdir():
        path.unlink()


def put_aside(stores: Stores, _: SessionStore) -> None:
    """Another process found it damaged."""
    for suffix in ("-shm", "-wal", ""):
        part = stores.folder / f"{stores.file.name}{suffix}"
        part.rename(f"{stores.file}.damaged-20260101-000000{suffix}")


@pytest.mark.parametrize(("fail", "words"), [(full, "memory only"), (removed, "a new file"), (put_aside, "a new file")])
def test_nothing_that_this_process_stored_is_lost(
    stores: Stores, fail: Callable[[Stores, SessionStore], None], words: str
) -> None:
    store = stores.open()
    store.create_session(row("s1", "Title"))
    begun(store, "s1", "t1", user("a"), calling("1"))
    shown(store, "t1", {"kind": "start"}, call("call-1", "in_progress"))
    add_usage(store.file, UsageRow("s1", "t1", "p/m", "turn", 1.0, 2.0, "end_turn", Usage(10, cost_usd=0.5)))
    fail(stores, store)
    store.log.add_message("s1", "t1", told("1"))
    shown(store, "t1", text("x" * 20_000), text("y"), begin=3)
    store.log.add_message("s1", "t1", answer("b"))
    store.log.end_turn("t1", {"stopReason": "end_turn"})
    begun(store, "s1", "t2", user("c"))
    (said,) = stores.said
    assert words in said
    assert "could not be read" not in said
    assert store.log.history("s1").messages == (user("a"), calling("1"), told("1"), answer("b"), user("c"))
    assert [stored.number for stored in store.log.messages("s1")] == [1, 2, 3, 4, 5]
    assert [turn.id for turn in store.log.turns("s1")] == ["t1", "t2"]
    found = store.find_session("s1")
    assert found is not None
    assert (found.title, found.turns, found.cost_usd) == ("Title", 2, 0.5)
    assert store.log.updates("t1") == [(1, {"kind": "start"}), (2, call("call-1", "in_progress"))]
    assert (store.renew_leases(), store.acquire_lease("s1")) == ([], None)
    store.release_leases()


def test_damaged_so_that_nothing_can_be_read(stores: Stores) -> None:
    """The turn continues, and what follows is stored."""
    store = stores.open()
    store.create_session(row("s1", "Title"), [user("before")])
    store.change_session("s1", title="Changed")
    begun(store, "s1", "t1", user("a"))
    store.close()
    with stores.file.open("r+b") as stream:
        size = stream.seek(0, os.SEEK_END) - stream.seek(4096)
        stream.write(b"\xff" * size)
    shown(store, "t1", text("a"))
    store.log.add_message("s1", "t1", answer("b"))
    (said,) = stores.said
    assert "put aside as" in said
    assert "could not be read" in said
    other = stores.open()
    found = other.find_session("s1")
    assert found is not None
    assert found.title == "Changed"
    assert other.log.history("s1").messages == (answer("b"),)
    history.check_history(other.log.history("s1").messages)
    assert [turn.id for turn in other.log.unended_turns("s1")] == ["t1"]
    holder = other.acquire_lease("s1")
    assert holder is not None
    assert holder.pid == os.getpid()


def test_old_sessions_can_be_gone_on_with_where_nothing_can_be_written(stores: Stores) -> None:
    store = stores.open()
    begun(store, "s1", "t1", user("a"))
    store.release_leases()
    store.close()
    other = stores.open()
    full(stores, other)
    begun(other, "s2", "t2", user("x" * 100_000))
    assert {session.id for session in other.list_sessions()} == {"s1", "s2"}
    assert other.acquire_lease("s1") is None
    other.log.repair_turns("s1")
    assert other.log.history("s1").messages == (user("a"), answer("[interrupted]"))
    assert len(stores.said) == 1


def test_a_newer_file_is_left_alone(stores: Stores) -> None:
    import sqlite3

    with sqlite3.connect(stores.file) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = stores.file.read_bytes()
    store = stores.open()
    begun(store, "s1", "t1", user("a"))
    assert [session.id for session in store.list_sessions()] == ["s1"]
    (said,) = stores.said
    assert "newer tark-lsp" in said
    assert "memory only" in said
    assert stores.file.read_bytes() == before


def test_in_the_new_file_another_process_has_one_of_the_sessions(stores: Stores) -> None:
    store = stores.open()
    store.create_session(row("s1"))
    store.create_session(row("s2"))
    begun(store, "s1", "t1", user("a"))
    removed(stores, store)
    other = stores.open()
    other.create_session(row("s1"))
    begun(other, "s1", "t9", user("theirs"))
    with pytest.raises(SessionHeld):
        store.log.add_message("s1", "t1", answer("b"))
    begun(store, "s2", "t2", user("c"))
    assert store.log.history("s2").messages == (user("c"),)
    assert store.log.history("s1").messages == (user("theirs"),)
    assert store.renew_leases() == ["s1"], "it is reported once"
    assert store.renew_leases() == []


def test_a_new_file_has_the_usage_of_open_sessions_only(stores: Stores) -> None:
    store = stores.open()
    store.create_session(row("s1"))
    for session in ("s1", "of another process"):
        add_usage(store.file, UsageRow(session, "t", "p/m", "turn", 1.0, 2.0, "end_turn", Usage(10)))
    removed(stores, store)
    begun(store, "s1", "t1", user("a"))
    assert store.file.read("SELECT session FROM usage") == [("s1",)]
