"""Merges several rankings of chunks into one, and removes repetitive items from a ranking. Pure.

`fuse_rankings` is reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009), which needs no comparable scores.
`diversify` is maximal marginal relevance (Carbonell and Goldstein, 1998).
Both are deterministic and stable: equally good items keep their order.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

RANK_OFFSET = 60
"""The paper's constant: the larger it is, the smaller the advantage of the first ranks."""

K = TypeVar("K", bound=Hashable)


def fuse_rankings(
    rankings: Iterable[Sequence[K]], weights: Sequence[float] = (), offset: int = RANK_OFFSET
) -> list[tuple[K, float]]:
    """All items of the rankings, each once, with the sum of `weight / (offset + rank)`; the best first.

    Ranks count from 1. If a ranking repeats an item, its first rank counts. Missing `weights` are 1.
    """
    scores: dict[K, float] = {}
    for number, ranking in enumerate(rankings):
        weight = weights[number] if number < len(weights) else 1.0
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            scores[item] = scores.get(item, 0.0) + weight / (offset + rank)
    return sorted(scores.items(), key=lambda scored: -scored[1])


def diversify(
    items: Sequence[K],
    relevance: Sequence[float],
    similarity: Callable[[K, K], float],
    limit: int,
    balance: float = 0.8,
) -> list[K]:
    """Choose up to `limit` items, each time that with the highest `balance * relevance - (1 - balance) * similarity`.

    `relevance` is scaled so that the highest is 1. `similarity`, from 0 to 1, is that to the most similar item that was
    already chosen. `balance` 1 keeps the order of relevance. Calls `similarity` `limit * len(items)` times.
    """
    highest = max(relevance, default=0.0) or 1.0
    left = {number: relevance[number] / highest for number in range(len(items))}
    nearest = dict.fromkeys(left, 0.0)
    chosen: list[K] = []
    while left and len(chosen) < limit:
        best = max(left, key=lambda number: (balance * left[number] - (1 - balance) * nearest[number], -number))
        del left[best]
        chosen.append(items[best])
        for number in left:
            nearest[number] = max(nearest[number], similarity(items[best], items[number]))
    return chosen
