"""A fork has what was said up to a message, whole calls, its own turns, and leaves the session as it is."""

import pytest

from tark_lsp.agent import history
from tark_lsp.sessions.results import SessionResults
from tark_lsp.sessions.store import SessionStore
from tests.sessions.stores import Stores, answer, begun, call, calling, shown, text, told, user


@pytest.fixture
def store(stores: Stores) -> SessionStore:
    """Session s1: 1 user, 2 calls, 3 results, 4 answer · 5 user, 6 calls: of a turn that runs."""
    store = stores.open()
    begun(store, "s1", "t1", user("a"))
    shown(store, "t1", {"kind": "start"}, call("call-1", "completed"))
    for message in (calling("1"), told("1"), answer("b")):
        store.add_message("s1", "t1", message, {"1": "call-1"} if message.tool_calls else {})
    shown(store, "t1", {"kind": "end", "sessionId": "s1", "turnId": "t1"}, begin=3)
    store.end_turn("t1", {"sessionId": "s1", "turnId": "t1", "stopReason": "end_turn"})
    begun(store, "s1", "t2", user("c"))
    shown(store, "t2", text("now"), call("call-2", "in_progress"))
    store.add_message("s1", "t2", calling("2"), {"2": "call-2"})
    return store


@pytest.mark.parametrize(
    ("number", "kept"),
    [(None, 5), (6, 5), (99, 5), (5, 5), (4, 4), (3, 3), (2, 3), (1, 1), (0, 0), (-1, 0)],
)
def test_no_call_is_cut_from_its_result(store: SessionStore, number: int | None, kept: int) -> None:
    before = store.messages("s1"), store.turns("s1"), store.updates("t1"), store.updates("t2")
    row = store.fork("s1", "s2", "Forked", number)
    assert (row.id, row.title, row.parent, row.model) == ("s2", "Forked", "s1", "p/m")
    messages = store.messages("s2")
    assert [each.message for each in messages] == [each.message for each in before[0][:kept]]
    assert [each.call_ids for each in messages] == [each.call_ids for each in before[0][:kept]]
    history.check(store.history("s2").messages)
    assert (store.messages("s1"), store.turns("s1"), store.updates("t1"), store.updates("t2")) == before
    assert store.add_message("s2", "", user("it is ours")) == kept + 1


def test_its_turns_are_its_own(store: SessionStore) -> None:
    store.fork("s1", "s2", "", None)
    first, second = store.turns("s2")
    assert {first.id, second.id}.isdisjoint({"t1", "t2"})
    assert [each.turn_id for each in store.messages("s2")] == [first.id] * 4 + [second.id]
    assert first.end == {"sessionId": "s2", "turnId": first.id, "stopReason": "end_turn"}
    assert store.updates(first.id) == [
        (1, {"kind": "start"}),
        (2, call("call-1", "completed")),
        (3, {"kind": "end", **first.end}),
    ]
    assert second.end is not None
    assert second.end["stopReason"] == "cancelled", "only its beginning is there"
    assert store.unended("s2") == []
    assert store.updates(second.id) == []


def test_a_turn_that_is_cut_keeps_what_was_shown_until_then(store: SessionStore) -> None:
    store.fork("s1", "s2", "", 1)
    (cut,) = store.turns("s2")
    assert cut.end is not None
    assert (cut.end["stopReason"], cut.end["turnId"]) == ("cancelled", cut.id)
    assert store.updates(cut.id) == []


def test_kept_results_can_be_read_on(store: SessionStore) -> None:
    result = SessionResults(store, "s1").keep("a long text")
    store.fork("s1", "s2", "", None)
    store.delete("s1")
    assert SessionResults(store, "s2").find(result) == "a long text"


@pytest.mark.parametrize(("number", "summary"), [(None, True), (4, True), (3, True), (2, True), (1, False)])
def test_a_summary_goes_along_where_it_stands_for_what_is_kept(
    store: SessionStore, number: int | None, summary: bool
) -> None:
    store.compacted("s1", user("what was said"), 3)
    store.fork("s1", "s2", "", number)
    messages = store.history("s2").messages
    assert (messages[0] == user("what was said")) is summary
    assert len(messages) == {None: 3, 4: 2, 3: 1, 2: 1, 1: 1}[number]
