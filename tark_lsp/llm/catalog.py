"""Facts about models: a small table shipped with us, and what a provider's own listing says, which goes before it.

Figures of the table: the vendors' model pages, November 2026.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tark_lsp.llm.wire.wire import ThinkingStyle
from tark_lsp.messages import Usage


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens; `cached` for those read from a cache, `cache_write` for those put there."""

    input: float
    output: float
    cached: float | None = None
    cache_write: float | None = None

    def of(self, usage: Usage) -> float:
        read, written = usage.cached_tokens, usage.cache_write_tokens
        fresh = max(0, usage.input_tokens - read - written)
        dollars = fresh * self.input + usage.output_tokens * self.output
        dollars += read * (self.input if self.cached is None else self.cached)
        dollars += written * (self.input if self.cache_write is None else self.cache_write)
        return dollars / 1e6


@dataclass(frozen=True, slots=True)
class Facts:
    """None: unknown. `max_output` is in tokens, too."""

    context_window: int | None = None
    max_output: int | None = None
    thinking: ThinkingStyle = "unknown"
    price: Price | None = None


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """`id` is `<provider>/<model>`; None is what neither the provider nor the shipped table says."""

    id: str
    name: str
    context_window: int | None = None
    price: Price | None = None
    tools: bool | None = None
    thinking: bool | None = None


def _claude(input_price: float) -> Price:
    """Anthropic's prices stand in one proportion to each other."""
    return Price(input_price, input_price * 5, input_price / 10, input_price * 1.25)


TABLE: tuple[tuple[str, Facts], ...] = (
    (r"claude-fable-5.*", Facts(1_000_000, 128_000, "adaptive", _claude(10))),
    (r"claude-opus-5[.-]5.*", Facts(1_000_000, 128_000, "adaptive", _claude(4))),
    (r"claude-(opus-5|opus-4[.-][678]).*", Facts(1_000_000, 128_000, "adaptive", _claude(5))),
    (r"claude-sonnet-5.*", Facts(1_000_000, 128_000, "adaptive", _claude(2))),
    (r"claude-sonnet-4[.-]6.*", Facts(1_000_000, 128_000, "adaptive", _claude(3))),
    (r"claude-haiku-5.*", Facts(1_000_000, 128_000, "adaptive")),  # priced by the prompt's length
    (r"claude-mythos.*", Facts(1_000_000, 128_000, "adaptive")),
    (r"claude-haiku-4[.-]5.*", Facts(200_000, 64_000, "budget", _claude(1))),
    (r"claude-opus-4[.-]5.*", Facts(200_000, 64_000, "budget", _claude(5))),
    (r"claude-opus-4.*", Facts(200_000, 32_000, "budget", _claude(15))),
    (r"claude-(sonnet-4|3[.-]7-sonnet).*", Facts(200_000, 64_000, "budget", _claude(3))),
    (r"claude-3.*", Facts(200_000, 4_096, "none")),
    (r"gpt-5\.[56].*", Facts(1_000_000, 128_000, "effort")),
    (r"gpt-5\.4(-\d{4}.*)?", Facts(1_050_000, 128_000, "effort", Price(2.5, 15))),
    (r"gpt-5.*chat.*", Facts(128_000, 16_384, "none")),
    (r"gpt-5\.2(-\d{4}.*)?", Facts(400_000, 128_000, "effort", Price(1.75, 14))),
    (r"gpt-5(\.1)?(-\d{4}.*)?", Facts(400_000, 128_000, "effort", Price(1.25, 10, 0.125))),
    (r"gpt-5.*", Facts(400_000, 128_000, "effort")),
    (r"gpt-4\.1.*", Facts(1_047_576, 32_768, "none")),
    (r"gpt-4o.*", Facts(128_000, 16_384, "none")),
    (r"o[134](-.*)?", Facts(200_000, 100_000, "effort")),
)
"""The first row whose pattern is the whole of the model's name, without a vendor before it ("anthropic/...")."""


def facts(model: str) -> Facts:
    name = model.rpartition("/")[2].lower()
    return next((row for pattern, row in TABLE if re.fullmatch(pattern, name)), Facts())


WINDOW_FIELDS = ("context_length", "max_input_tokens", "context_window", "max_context_length", "max_model_len")
"""What providers call the context window in their listings."""


def read_listing(provider: str, body: object) -> list[ModelInfo]:
    """`body` is `{"data": [{"id": ...}, ...]}`, with every provider. Newest first; strange entries are left out."""
    data = body.get("data") if isinstance(body, dict) else body
    entries = [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []
    entries.sort(key=lambda entry: entry["created"] if isinstance(entry.get("created"), int) else 0, reverse=True)
    return [_info(provider, entry) for entry in entries if isinstance(entry.get("id"), str)]


def _info(provider: str, entry: Mapping[str, Any]) -> ModelInfo:
    model: str = entry["id"]
    known = facts(model)
    window = next((entry[field] for field in WINDOW_FIELDS if isinstance(entry.get(field), int)), known.context_window)
    parameters = entry.get("supported_parameters")  # OpenRouter
    supports = set(parameters) if isinstance(parameters, list) else None
    thinking = None if known.thinking == "unknown" else known.thinking != "none"
    return ModelInfo(
        id=f"{provider}/{model}",
        name=str(entry.get("display_name") or entry.get("name") or model),
        context_window=window,
        price=_price(entry.get("pricing")) or known.price,
        tools=None if supports is None else "tools" in supports,
        thinking=thinking if supports is None else "reasoning" in supports,
    )


def _price(pricing: object) -> Price | None:
    """OpenRouter: dollars for one token, as text."""
    if not isinstance(pricing, dict):
        return None
    try:
        cached = pricing.get("input_cache_read")
        return Price(
            float(pricing["prompt"]) * 1e6,
            float(pricing["completion"]) * 1e6,
            None if cached is None else float(cached) * 1e6,
        )
    except (KeyError, TypeError, ValueError):
        return None
