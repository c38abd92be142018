"""Prices of a small shop, in cents."""


def total(prices: list[int]) -> int:
    """What the basket costs."""
    return sum(prices)


def average(prices: list[int]) -> float:
    """What one thing in the basket costs on average."""
    return total(prices) / len(prices)
