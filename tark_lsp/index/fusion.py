"""How several rankings of chunks become one, and how a ranking loses its repetitions. Pure.

`fuse_rankings` is reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009): it needs no scores that can be compared.
`diversify` is maximal marginal relevance (Carbonell and Goldstein, 1998).
Both are deterministic: what is equally good stays in the order in which it came.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

RANK_OFFSET = 60
"""The constant of the paper: the larger it is, the less the first ranks count more than the following ones."""

K = TypeVar("K", bound=Hashable)


def fuse_rankings(
    rankings: Iterable[Sequence[K]], weights: Sequence[float] = (), offset: int = RANK_OFFSET
) -> list[tuple[K, float]]:
    """All items of the rankings, each once, with the sum of `weight / (offset + rank)`; the best first.

    Ranks count from 1. A repeated item of one ranking counts at its first rank. Without `weights`, all are 1.
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
    """At most `limit` items: each time the one with the highest `balance * relevance - (1 - balance) * similarity`.

    `relevance` is scaled so that the highest is 1. `similarity`, from 0 to 1, is that to the most similar item chosen
    before. `balance` 1 keeps the order of relevance. Takes `limit * len(items)` calls of `similarity`.
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
