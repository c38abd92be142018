"""What a provider itself says that an answer cost, in dollars; it goes before what we reckon from a price."""

from typing import Any


def stated_cost(cost: Any, is_byok: Any = None, details: Any = None) -> float | None:
    """None where it says nothing that we know.

    OpenRouter, Vercel: a number; of a request made with the person's own key at the vendor that is the router's fee
    alone, and what the vendor takes stands beside it (openrouter.ai/docs/use-cases/usage-accounting). Perplexity: an
    object with the total, which holds a price for the request itself, too.
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
