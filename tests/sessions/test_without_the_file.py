"""Sessions go on when their file does not: what is at hand is there, a running turn is stored on, people are told."""

import os
from collections.abc import Callable

import pytest

from tark_lsp.agent import history
from tark_lsp.messages import Usage
from tark_lsp.sessions.rows import UsageRow
from tark_lsp.sessions.store import SessionStore
from tests.sessions.stores import Stores, answer, begun, call, calling, row, shown, text, told, user


def full(_: Stores, store: SessionStore) -> None:
    """SQLite's own bound stands for the disk's: the error is the same."""
    ((pages,),) = store.read("PRAGMA page_count")
    store.read(f"PRAGMA max_page_count = {pages}")


def removed(stores: Stores, _: SessionStore) -> None:
    for path in stores.folder.iterdir():
        path.unlink()


def put_aside(stores: Stores, _: SessionStore) -> None:
    """By another process, which found it damaged."""
    for suffix in ("-shm", "-wal", ""):
        part = stores.folder / f"{stores.file.name}{suffix}"
        part.rename(f"{stores.file}.damaged-20260101-000000{suffix}")


@pytest.mark.parametrize(("fail", "words"), [(full, "memory only"), (removed, "a new file"), (put_aside, "a new file")])
def test_nothing_that_this_process_stored_is_lost(
    stores: Stores, fail: Callable[[Stores, SessionStore], None], words: str
) -> None:
    store = stores.open()
    store.create(row("s1", "Title"))
    begun(store, "s1", "t1", user("a"), calling("1"))
    shown(store, "t1", {"kind": "start"}, call("call-1", "in_progress"))
    store.add_usage(UsageRow("s1", "t1", "p/m", "turn", 1.0, 2.0, "end_turn", Usage(10, cost_usd=0.5)))
    fail(stores, store)
    store.add_message("s1", "t1", told("1"))
    shown(store, "t1", text("x" * 20_000), text("y"), begin=3)
    store.add_message("s1", "t1", answer("b"))
    store.end_turn("t1", {"stopReason": "end_turn"})
    begun(store, "s1", "t2", user("c"))
    (said,) = stores.said
    assert words in said
    assert "could not be read" not in said
    assert store.history("s1").messages == (user("a"), calling("1"), told("1"), answer("b"), user("c"))
    assert [each.number for each in store.messages("s1")] == [1, 2, 3, 4, 5]
    assert [each.id for each in store.turns("s1")] == ["t1", "t2"]
    found = store.session("s1")
    assert found is not None
    assert (found.title, found.turns, found.cost_usd) == ("Title", 2, 0.5)
    assert store.updates("t1") == [(1, {"kind": "start"}), (2, call("call-1", "in_progress"))]
    assert (store.beat(), store.take("s1")) == ([], None)
    store.release()


def test_damaged_so_that_nothing_can_be_read(stores: Stores) -> None:
    """The turn goes on, and what comes is stored."""
    store = stores.open()
    store.create(row("s1", "Title"), [user("before")])
    store.change("s1", title="Changed")
    begun(store, "s1", "t1", user("a"))
    store.close()
    with stores.file.open("r+b") as stream:
        size = stream.seek(0, os.SEEK_END) - stream.seek(4096)
        stream.write(b"\xff" * size)
    shown(store, "t1", text("a"))
    store.add_message("s1", "t1", answer("b"))
    (said,) = stores.said
    assert "put aside as" in said
    assert "could not be read" in said
    other = stores.open()
    found = other.session("s1")
    assert found is not None
    assert found.title == "Changed"
    assert other.history("s1").messages == (answer("b"),)
    history.check(other.history("s1").messages)
    assert [each.id for each in other.unended("s1")] == ["t1"]
    holder = other.take("s1")
    assert holder is not None
    assert holder.pid == os.getpid()


def test_old_sessions_can_be_gone_on_with_where_nothing_can_be_written(stores: Stores) -> None:
    store = stores.open()
    begun(store, "s1", "t1", user("a"))
    store.release()
    store.close()
    other = stores.open()
    full(stores, other)
    begun(other, "s2", "t2", user("x" * 100_000))
    assert {each.id for each in other.sessions()} == {"s1", "s2"}
    assert other.take("s1") is None
    other.mend("s1")
    assert other.history("s1").messages == (user("a"), answer("[interrupted]"))
    assert len(stores.said) == 1


def test_a_newer_file_is_left_alone(stores: Stores) -> None:
    import sqlite3

    with sqlite3.connect(stores.file) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = stores.file.read_bytes()
    store = stores.open()
    begun(store, "s1", "t1", user("a"))
    assert [each.id for each in store.sessions()] == ["s1"]
    (said,) = stores.said
    assert "newer tark-lsp" in said
    assert "memory only" in said
    assert stores.file.read_bytes() == before
