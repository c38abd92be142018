"""The next server finds what was stored of sessions, in order and unchanged."""

import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tark_lsp.messages import Image, Message, Text, ToolResult, Usage
from tark_lsp.sessions.rows import SessionHeld, UsageRow
from tark_lsp.sessions.usage import add_usage
from tests.sessions.stores import HOME, Stores, answer, begun, call, calling, row, shown, text, told, turn, user

ODD = "lone \ud800 and \0 and \U0001f600"


def test_the_next_server_has_all_of_it(stores: Stores) -> None:
    store = stores.open()
    first = row("s1", "Title", [HOME, Path("/w/\udcff")])
    store.create_session(first, [user("before")])
    store.log.begin_turn(replace(turn("t1", "s1"), prompt=f"\n{ODD}"))
    numbers = [
        store.log.add_message("s1", "t1", message) for message in (user(ODD), calling("1"), told("1"), answer("done"))
    ]
    assert numbers == [2, 3, 4, 5]
    shown(store, "t1", {"kind": "start"}, text("do"), text("ne"), {"kind": "notice", "message": ODD})
    store.release_leases()

    other = stores.open()
    assert other.find_session("s1") == replace(first, updated=other.list_sessions()[0].updated, turns=1)
    assert [stored.message for stored in other.log.messages("s1")] == [
        user("before"), user(ODD), calling("1"), told("1"), answer("done"),
    ]  # fmt: skip
    assert [stored.turn_id for stored in other.log.messages("s1")] == ["", "t1", "t1", "t1", "t1"]
    assert other.log.updates("t1")[3] == (4, {"kind": "notice", "message": ODD})
    (kept,) = other.log.turns("s1")
    assert (kept, other.log.find_turn("t1"), other.log.unended_turns("s1")) == (kept, kept, [kept])
    assert kept.prompt == "\nlone ? and \0 and \U0001f600"
    assert kept.request == {"kind": "agent"}
    assert stores.said == []


def test_nothing_is_there(stores: Stores) -> None:
    store = stores.open()
    assert (store.find_session("s"), store.log.find_turn("t"), store.list_sessions(), store.log.turns("s")) == (
        None,
        None,
        [],
        [],
    )
    assert (store.log.messages("s"), store.log.updates("t"), store.log.history("s").messages) == ([], [], ())
    assert store.renew_leases() == []
    store.release_leases()


def test_nothing_is_made_before_it_is_used(stores: Stores) -> None:
    store = stores.open()
    store.release_leases()
    store.renew_leases()
    assert not stores.file.exists()
    store.create_session(row("s1"))
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in stores.folder.iterdir()}
    assert set(modes.values()) == {0o600}, modes


def test_nothing_heavy_is_imported_before_it_is_used() -> None:
    code = (
        "import sys, tark_lsp.sessions.store, tark_lsp.sessions.results; of = 'tark_lsp.sessions.';"
        " print({'sqlite3', of + 'export', of + 'forking', of + 'mending', of + 'message_json'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "set()\n"


def test_the_list_is_the_newest_first(stores: Stores) -> None:
    store = stores.open()
    here, there = Path("/w/here"), Path("/w/here/below")
    for at, folders in enumerate([[here], [there], [there, here], []]):
        store.create_session(row(f"s{at}", folders=folders, updated=1_000.0 + at))
    assert [session.id for session in store.list_sessions()] == ["s3", "s2", "s1", "s0"]
    begun(store, "s0", "t1")
    assert [session.id for session in store.list_sessions()] == ["s0", "s3", "s2", "s1"]


def test_a_session_is_changed(stores: Stores) -> None:
    store = stores.open()
    store.create_session(row("s1"))
    store.change_session(
        "s1", title=f"new {ODD}", model=None, mode="ask", approval="manual", thinking="high", folders=[]
    )
    changed = store.find_session("s1")
    assert changed is not None
    assert (changed.title, changed.model, changed.mode) == ("new lone ? and \0 and \U0001f600", None, "ask")
    assert (changed.approval, changed.thinking, changed.folders) == ("manual", "high", ())


def test_an_ended_turn_keeps_how_everything_stood(stores: Stores) -> None:
    store = stores.open()
    begun(store, "s1", "t1", user("a"))
    shown(
        store, "t1",
        {"kind": "start"}, {"kind": "thinking", "delta": "hm"}, text("I "), call("c1", "pending", name="read_file"),
        {"kind": "plan", "entries": [1]}, call("c2", "pending"), call("c1", "completed", title="read a"),
        {"kind": "usage", "inputTokens": 1}, {"kind": "plan", "entries": [2]}, {"kind": "notice", "message": "one"},
        {"kind": "notice", "message": "two"}, {"kind": "usage", "inputTokens": 2}, {"kind": "end"},
    )  # fmt: skip
    store.log.end_turn("t1", {"stopReason": "end_turn"})
    store.log.add_update("t1", 14, {"kind": "notice", "message": "late"})
    assert store.log.updates("t1") == [
        (1, {"kind": "start"}),
        (4, call("c1", "completed", name="read_file", title="read a")),
        (5, {"kind": "plan", "entries": [2]}),
        (6, call("c2", "pending")),
        (8, {"kind": "usage", "inputTokens": 2}),
        (10, {"kind": "notice", "message": "one"}),
        (11, {"kind": "notice", "message": "two"}),
        (13, {"kind": "end"}),
        (14, {"kind": "notice", "message": "late"}),
    ]
    ended = store.log.find_turn("t1")
    assert ended is not None
    assert ended.ended is not None
    assert ended.end == {"stopReason": "end_turn"}
    assert store.log.unended_turns("s1") == []


def test_messages_know_what_was_shown_before(stores: Stores) -> None:
    store = stores.open()
    begun(store, "s1", "t1", user("a"))
    shown(store, "t1", text("b"), text("c"))
    store.log.add_message("s1", "t1", answer("bc"))
    assert [stored.seq for stored in store.log.messages("s1")] == [0, 2]


def test_a_summary_stands_for_what_was_before(stores: Stores) -> None:
    store = stores.open()
    long = Message("tool", (ToolResult("1", "a line\n" * 2_000),))
    begun(store, "s1", "t1", user("1"), calling("1"), long, answer("4"), calling("1"), long, user("7"))
    assert (len(store.log.history("s1").messages), store.log.history("s1").shortened) == (7, 0)
    store.log.mark_shortened("s1", 3)
    history = store.log.history("s1")
    assert history.shortened == 4
    assert [_length(message) < 2_000 for message in history.messages if message.role == "tool"] == [True, False]
    summary = Message("user", (Text("what was"), Text(" said"), Image("image/png", "AAAA")))
    store.log.mark_compacted("s1", summary, 3)
    history = store.log.history("s1")
    assert history.messages == (summary, calling("1"), long, user("7"))
    assert history.shortened == 0
    store.log.mark_shortened("s1", 1)
    assert store.log.history("s1").shortened == 3
    assert [stored.message for stored in store.log.messages("s1")][2] == long, "the log itself is whole"
    store.log.mark_shortened("s1", 3)
    assert store.log.history("s1").shortened == 3, "never less than before"


def _length(message: Message) -> int:
    return max(len(getattr(part, "content", "")) for part in message.parts)


def test_a_deleted_session_leaves_its_usage_and_no_text(stores: Stores) -> None:
    store = stores.open()
    secret = "what nobody is to read"
    begun(store, "s1", "t1", user(secret))
    begun(store, "s2", "t2", user("other"))
    shown(store, "t1", text(secret))
    used = UsageRow("s1", "t1", "p/m", "turn", 1.0, 2.0, "end_turn", Usage(10, 1, 2, 3, 4, 0.5), "/w")
    add_usage(store.file, used)
    row = store.find_session("s1")
    assert row is not None
    assert row.cost_usd == 0.5
    store.delete_session("s1")
    assert (store.find_session("s1"), store.log.messages("s1"), store.log.turns("s1"), store.log.updates("t1")) == (
        None,
        [],
        [],
        [],
    )
    assert store.file.read("SELECT input_tokens, cost_usd FROM usage") == [(10, 0.5)]
    assert len(store.log.messages("s2")) == 1
    with pytest.raises(SessionHeld):
        store.log.add_message("s1", "t1", user("late"))
    with pytest.raises(SessionHeld):
        store.log.add_update("t1", 2, text("late"))
    store.close()
    assert secret.encode() not in b"".join(path.read_bytes() for path in stores.folder.iterdir())


def test_the_file_gets_shorter_with_what_is_deleted(stores: Stores) -> None:
    store = stores.open()
    for number in range(3):
        begun(store, f"s{number}", f"t{number}", *[user("x" * 100_000)] * 10)
    store.close()
    before = stores.file.stat().st_size
    for number in range(2):
        store.acquire_lease(f"s{number}")
        store.delete_session(f"s{number}")
    store.close()
    assert stores.file.stat().st_size < before / 2
    assert len(store.log.messages("s2")) == 10


def test_what_is_wrong_with_a_call_is_not_the_files_fault(stores: Stores) -> None:
    import sqlite3

    store = stores.open()
    begun(store, "s1", "t1", user("a"))
    shown(store, "t1", text("a"))
    with pytest.raises(sqlite3.IntegrityError):
        shown(store, "t1", text("again"))
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        store.file.read("SELECT 1 FROM nonesuch")
    with pytest.raises(KeyError):
        store.fork_session("nonesuch", "s2", "", None)
    assert stores.said == []
    assert store.log.updates("t1") == [(1, text("a"))]


def test_a_clock_that_went_back_does_not_reorder(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    store = stores.open()
    begun(store, "s1", "t1", user("a"))
    before = store.find_session("s1")
    monkeypatch.setattr("time.time", lambda: 1_000.0)
    begun(store, "s1", "t2", user("b"))
    after = store.find_session("s1")
    assert before is not None
    assert after is not None
    assert after.updated == before.updated
    assert [stored.number for stored in store.log.messages("s1")] == [1, 2]
    assert [turn.id for turn in store.log.turns("s1")] == ["t1", "t2"]


def test_words_are_not_read_to_be_dropped(stores: Stores) -> None:
    """A turn can have tens of thousands of updates, and its end must not take long."""
    store = stores.open()
    begun(store, "s1", "t1")
    shown(store, "t1", text("a"), {"kind": "thinking", "delta": "b"}, call("call-1", "completed"))
    spoil = "UPDATE updates SET said = 'no JSON' WHERE kind IN ('text', 'thinking')"
    assert store.file.write(lambda connection: connection.execute(spoil).rowcount) == 2
    store.log.end_turn("t1", {})
    assert store.log.updates("t1") == [(3, call("call-1", "completed"))]
