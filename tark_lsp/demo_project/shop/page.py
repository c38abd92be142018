"""The shop's front page."""

from .prices import average, total


def summary(prices: list[int]) -> str:
    """One line about a basket, which may be empty."""
    return f"{len(prices)} things, {total(prices)} cents, {average(prices):.0f} on average"
