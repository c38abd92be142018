"""A fork has the messages up to one, complete calls and its own turns, and does not change the session."""

import pytest

from tark_lsp.agent import history
from tark_lsp.sessions.results import SessionResults
from tark_lsp.sessions.store import SessionStore
from tests.sessions.stores import Stores, answer, begun, call, calling, shown, text, told, user


@pytest.fixture
def store(stores: Stores) -> SessionStore:
    """Session s1: 1 user, 2 calls, 3 results, 4 answer · 5 user, 6 calls of a running turn."""
    store = stores.open()
    begun(store, "s1", "t1", user("a"))
    shown(store, "t1", {"kind": "start"}, call("call-1", "completed"))
    for message in (calling("1"), told("1"), answer("b")):
        store.log.add_message("s1", "t1", message, {"1": "call-1"} if message.tool_calls else {})
    shown(store, "t1", {"kind": "end", "sessionId": "s1", "turnId": "t1"}, begin=3)
    store.log.end_turn("t1", {"sessionId": "s1", "turnId": "t1", "stopReason": "end_turn"})
    begun(store, "s1", "t2", user("c"))
    shown(store, "t2", text("now"), call("call-2", "in_progress"))
    store.log.add_message("s1", "t2", calling("2"), {"2": "call-2"})
    return store


@pytest.mark.parametrize(
    ("number", "kept"),
    [(None, 5), (6, 5), (99, 5), (5, 5), (4, 4), (3, 3), (2, 3), (1, 1), (0, 0), (-1, 0)],
)
def test_no_call_is_cut_from_its_result(store: SessionStore, number: int | None, kept: int) -> None:
    before = store.log.messages("s1"), store.log.turns("s1"), store.log.updates("t1"), store.log.updates("t2")
    row = store.fork_session("s1", "s2", "Forked", number)
    assert (row.id, row.title, row.parent, row.model) == ("s2", "Forked", "s1", "p/m")
    messages = store.log.messages("s2")
    assert [stored.message for stored in messages] == [stored.message for stored in before[0][:kept]]
    assert [stored.call_ids for stored in messages] == [stored.call_ids for stored in before[0][:kept]]
    history.check_history(store.log.history("s2").messages)
    assert (store.log.messages("s1"), store.log.turns("s1"), store.log.updates("t1"), store.log.updates("t2")) == before
    assert store.log.add_message("s2", "", user("it is ours")) == kept + 1


def test_its_turns_are_its_own(store: SessionStore) -> None:
    store.fork_session("s1", "s2", "", None)
    first, second = store.log.turns("s2")
    assert {first.id, second.id}.isdisjoint({"t1", "t2"})
    assert [stored.turn_id for stored in store.log.messages("s2")] == [first.id] * 4 + [second.id]
    assert first.end == {"sessionId": "s2", "turnId": first.id, "stopReason": "end_turn"}
    assert store.log.updates(first.id) == [
        (1, {"kind": "start"}),
        (2, call("call-1", "completed")),
        (3, {"kind": "end", **first.end}),
    ]
    assert second.end is not None
    assert second.end["stopReason"] == "cancelled", "only its beginning is there"
    assert store.log.unended_turns("s2") == []
    assert store.log.updates(second.id) == []


def test_a_turn_that_is_cut_keeps_what_was_shown_until_then(store: SessionStore) -> None:
    store.fork_session("s1", "s2", "", 1)
    (cut,) = store.log.turns("s2")
    assert cut.end is not None
    assert (cut.end["stopReason"], cut.end["turnId"]) == ("cancelled", cut.id)
    assert store.log.updates(cut.id) == []


def test_kept_results_can_be_read_on(store: SessionStore) -> None:
    result = SessionResults(store, "s1").keep_result("a long text")
    store.fork_session("s1", "s2", "", None)
    store.delete_session("s1")
    assert SessionResults(store, "s2").find_result(result) == "a long text"


@pytest.mark.parametrize(("number", "summary"), [(None, True), (4, True), (3, True), (2, True), (1, False)])
def test_a_summary_goes_along_where_it_stands_for_what_is_kept(
    store: SessionStore, number: int | None, summary: bool
) -> None:
    store.log.mark_compacted("s1", user("what was said"), 3)
    store.fork_session("s1", "s2", "", number)
    messages = store.log.history("s2").messages
    assert (messages[0] == user("what was said")) is summary
    assert len(messages) == {None: 3, 4: 2, 3: 1, 2: 1, 1: 1}[number]
