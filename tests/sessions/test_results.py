"""A shortened result can be read to its end, only in its session, and the stored size is limited."""

import pytest

from tark_lsp.sessions import results
from tark_lsp.sessions.results import SessionResults
from tests.sessions.stores import Stores, row


def test_a_kept_text_is_found_again(stores: Stores) -> None:
    store = stores.open()
    store.create_session(row("s1"))
    ours = SessionResults(store, "s1")
    text = "lines \ud800 \0\n" * 1_000
    id_ = ours.keep_result(text)
    assert ours.keep_result(text) == id_
    assert SessionResults(stores.open(), "s1").find_result(id_) == text
    assert SessionResults(store, "s2").find_result(id_) is None
    assert ours.find_result("nonesuch") is None
    assert store.file.read("SELECT count(*) FROM results") == [(1,)]
    store.delete_session("s1")
    assert ours.find_result(id_) is None


def test_the_oldest_go(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "KEPT_BYTES", 1_000)
    store = stores.open()
    ours, other = SessionResults(store, "s1"), SessionResults(store, "s2")
    elsewhere = other.keep_result("y" * 900)
    ids = [ours.keep_result(f"{number}" * 300) for number in range(5)]
    assert [ours.find_result(id_) is not None for id_ in ids] == [False, False, True, True, True]
    assert other.find_result(elsewhere) is not None
