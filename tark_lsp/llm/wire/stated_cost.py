"""The cost of an answer as the provider states it, in dollars. It overrides the cost that is computed from a price."""

from typing import Any


def stated_cost(cost: Any, is_byok: Any = None, details: Any = None) -> float | None:
    """None if the provider states no cost, or in an unknown form.

    OpenRouter, Vercel: a number. If the user's own key at the vendor is used, it is only the router's fee, and the
    vendor's cost is a separate field (openrouter.ai/docs/use-cases/usage-accounting). Perplexity: an object with the
    total, which includes a price for the request itself.
    """
    match cost:
        case {"total_cost": total}:
            return _dollars(total)
        case _ if is_byok is True and isinstance(details, dict):
            fee, vendor = _dollars(cost), _dollars(details.get("upstream_inference_cost"))
            return None if fee is None or vendor is None else fee + vendor
        case _:
            return None if is_byok is True else _dollars(cost)


def _dollars(value: Any) -> float | None:
    sound = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    return float(value) if sound else None
