"""Facts about models: context window, price, tools, thinking."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    input: float
    output: float
    cached: float | None = None


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """`id` is `<provider>/<model>`; None is what neither the provider nor the shipped table says."""

    id: str
    name: str
    context_window: int | None = None
    price: Price | None = None
    tools: bool | None = None
    thinking: bool | None = None
