"""Reciprocal rank fusion and maximal marginal relevance: order, no loss, the same result every time."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.index.fusion import diversify, fuse_rankings

RANKINGS = st.lists(st.lists(st.integers(0, 30), unique=True, max_size=20), max_size=4)


def test_what_both_rank_high_comes_first() -> None:
    fused = fuse_rankings([["a", "b", "c"], ["b", "d", "a"]])
    assert [item for item, _ in fused] == ["b", "a", "d", "c"]
    assert fused[0][1] == pytest.approx(1 / 62 + 1 / 61)


def test_weights_count() -> None:
    assert fuse_rankings([["a"], ["b"]], weights=(1, 2))[0][0] == "b"
    assert fuse_rankings([["a"], ["b"]], weights=(2, 1))[0][0] == "a"


@given(RANKINGS)
def test_nothing_is_lost_or_repeated(rankings: list[list[int]]) -> None:
    fused = fuse_rankings(rankings)
    assert sorted(item for item, _ in fused) == sorted({item for ranking in rankings for item in ranking})
    scores = [score for _, score in fused]
    assert scores == sorted(scores, reverse=True)
    assert fused == fuse_rankings(rankings)


@given(st.lists(st.integers(), unique=True, max_size=30))
def test_one_ranking_keeps_its_order(ranking: list[int]) -> None:
    assert [item for item, _ in fuse_rankings([ranking])] == ranking
    assert [item for item, _ in fuse_rankings([ranking, ranking])] == ranking


@given(RANKINGS, st.data())
def test_a_better_rank_never_lowers_an_item(rankings: list[list[int]], data: st.DataObject) -> None:
    ranked = [ranking for ranking in rankings if len(ranking) > 1]
    if not ranked:
        return
    ranking = data.draw(st.sampled_from(ranked))
    item = data.draw(st.sampled_from(ranking[1:]))
    before = [one for one, _ in fuse_rankings(rankings)].index(item)
    at = next(number for number, one in enumerate(rankings) if one is ranking)
    raised = [*rankings[:at], [item, *(one for one in ranking if one != item)], *rankings[at + 1 :]]
    assert [one for one, _ in fuse_rankings(raised)].index(item) <= before


def test_the_order_of_rankings_does_not_matter_but_for_ties() -> None:
    rankings = (["a", "b", "c"], ["b", "c"], ["c", "a", "b"])
    results = {tuple(sorted(fuse_rankings(order))) for order in permutations(rankings)}
    assert len({tuple(item for item, _ in result) for result in results}) == 1


def same_letter(one: str, other: str) -> float:
    return float(one[0] == other[0])


def test_repetitions_move_down() -> None:
    items, relevance = ["a1", "a2", "b1"], [1.0, 0.95, 0.9]
    assert diversify(items, relevance, same_letter, 3) == ["a1", "b1", "a2"]
    assert diversify(items, relevance, same_letter, 3, balance=1.0) == items
    assert diversify(items, relevance, same_letter, 2) == ["a1", "b1"]


@given(st.lists(st.floats(0, 100), max_size=20), st.integers(0, 25), st.floats(0, 1))
def test_the_best_is_first_and_nothing_is_repeated(relevance: list[float], limit: int, balance: float) -> None:
    relevance.sort(reverse=True)
    items = [f"{'ab'[number % 2]}{number}" for number in range(len(relevance))]
    chosen = diversify(items, relevance, same_letter, limit, balance)
    assert len(chosen) == len(set(chosen)) == min(limit, len(items))
    assert set(chosen) <= set(items)
    assert chosen[:1] == items[:1] or limit == 0 or balance < 1e-9 or relevance[0] == 0
    assert chosen == diversify(items, relevance, same_letter, limit, balance)


@given(st.lists(st.floats(0, 100), max_size=20))
def test_without_similarity_the_order_stays(relevance: list[float]) -> None:
    relevance.sort(reverse=True)
    assert diversify(range(len(relevance)), relevance, lambda *_: 0.0, 50) == list(range(len(relevance)))
