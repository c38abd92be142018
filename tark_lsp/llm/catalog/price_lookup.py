"""A program that prints the prices of the models named on standard input, as JSON, from the library genai-prices.

It runs in its own process: in the server, the library would keep 14 MB and block the event loop for half a second
(108 MB and 1.6 s if it is not compiled yet). It never uses the network, only the prices that were installed with it.

Input: `[[base URL, model], ...]`. Output, for each: null, or `{"context_window": tokens or null, "price": null or
row}`. A row is `{input, output, cached, cache_write, above: [[tokens, row], ...]}` in dollars for a million tokens.
"""

import json
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from genai_prices import data_snapshot, types

FIELDS = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cached": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
}

NOT_BY_TOKENS_ALONE = ("requests_kcount", "output_reasoning_mtok", "output_citation_mtok")
"""If one of these is charged too, the price by tokens alone would be too low, so no price is given."""

VERSION = re.compile(r"([-@:.](\d{8}|\d{4}-\d{2}-\d{2}|\d{3,4}|latest|exp|preview(-\d{2}-\d{2,4})?|v\d+(:\d+)?))*")
"""What can follow a model's name without making it another model."""


def look_up_price(base_url: str, model: str) -> dict[str, Any] | None:
    """None if the library does not know this provider, or not exactly this model of it."""
    try:
        _, found = data_snapshot.get_snapshot().find_provider_model(model, None, None, base_url)
    except LookupError:
        return None
    if not is_same_model(found, model.lower()):
        return None
    return {"context_window": found.context_window, "price": price_row(found.get_prices(datetime.now(tz=UTC)))}


def is_same_model(found: types.ModelInfo, model: str) -> bool:
    """The library often matches only the start of a name: `claude-opus-4-1-turbo` would get another model's price."""
    if _matches_pattern(found.match, model):
        return True
    for name in (found.id, *_texts(found.match)):
        before, known, after = model.partition(name.lower().rstrip("-@:."))
        if known and (not before or before.endswith("/")) and VERSION.fullmatch(after):
            return True
    return False


def price_row(prices: types.ModelPrice) -> dict[str, Any] | None:
    """None if the library has no price, or one that is not by tokens alone."""
    charged = {name: getattr(prices, field) for name, field in FIELDS.items()}
    if charged["input"] is None or charged["output"] is None:
        return None
    if any(getattr(prices, field) is not None for field in NOT_BY_TOKENS_ALONE):
        return None
    starts = {tier.start for price in charged.values() if isinstance(price, types.TieredPrices) for tier in price.tiers}
    base = {name: _above(price, 0) for name, price in charged.items()}
    return base | {"above": [[start, _row_above(charged, start)] for start in sorted(starts)]}


def _row_above(charged: dict[str, Any], start: int) -> dict[str, Any]:
    return {name: _above(price, start + 1) for name, price in charged.items()} | {"above": []}


def _above(price: Decimal | types.TieredPrices | None, tokens: int) -> float | None:
    if not isinstance(price, types.TieredPrices):
        return None if price is None else float(price)
    return float(next((tier.price for tier in reversed(price.tiers) if tokens > tier.start), price.base))


def _matches_pattern(match: object, model: str) -> bool:
    """Whether a regular expression alone matches. Beside another condition it may only exclude names."""
    if isinstance(match, types.ClauseOr):
        return any(_matches_pattern(clause, model) for clause in match.or_)
    return isinstance(match, types.ClauseRegex) and match.is_match(model)


def _texts(match: object) -> Iterator[str]:
    match match:
        case types.ClauseOr(or_=clauses) | types.ClauseAnd(and_=clauses):
            for clause in clauses:
                yield from _texts(clause)
        case (
            types.ClauseEquals(equals=text)
            | types.ClauseStartsWith(starts_with=text)
            | types.ClauseEndsWith(ends_with=text)
            | types.ClauseContains(contains=text)
        ):
            yield text


def main() -> None:
    json.dump([look_up_price(base_url, model) for base_url, model in json.load(sys.stdin)], sys.stdout)


if __name__ == "__main__":
    main()
