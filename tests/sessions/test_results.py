"""The whole of a capped result can be read on, in its session only, and there is never too much of it."""

import pytest

from tark_lsp.sessions import results
from tark_lsp.sessions.results import SessionResults
from tests.sessions.stores import Stores, row


def test_a_kept_text_is_found_again(stores: Stores) -> None:
    store = stores.open()
    store.create(row("s1"))
    ours = SessionResults(store, "s1")
    text = "lines \ud800 \0\n" * 1_000
    id_ = ours.keep(text)
    assert ours.keep(text) == id_
    assert SessionResults(stores.open(), "s1").find(id_) == text
    assert SessionResults(store, "s2").find(id_) is None
    assert ours.find("nonesuch") is None
    assert store.read("SELECT count(*) FROM results") == [(1,)]
    store.delete("s1")
    assert ours.find(id_) is None


def test_the_oldest_go(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "KEPT_BYTES", 1_000)
    store = stores.open()
    ours, other = SessionResults(store, "s1"), SessionResults(store, "s2")
    elsewhere = other.keep("y" * 900)
    ids = [ours.keep(f"{number}" * 300) for number in range(5)]
    assert [ours.find(id_) is not None for id_ in ids] == [False, False, True, True, True]
    assert other.find(elsewhere) is not None
