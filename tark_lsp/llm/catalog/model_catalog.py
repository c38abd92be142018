"""All known facts about every provider's models, merged from all sources as they arrive. One for each `Models`."""

import re
from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase

from tark_lsp.llm.catalog.facts import FREE, NO_FACTS, ModelFacts, ModelInfo, merge_facts, table_facts
from tark_lsp.llm.catalog.prices import Prices, is_local
from tark_lsp.llm.provider import Provider


class ModelCatalog:
    """`vendors`: the base URLs of the shipped providers. Their prices also apply if the user set another URL, such as a
    company's gateway. A URL on this machine or its network does not get a vendor's prices.
    """

    def __init__(self, vendors: Mapping[str, str], prices: Prices) -> None:
        self._vendors = vendors
        self._prices = prices
        self._listings: dict[str, Sequence[ModelInfo]] = {}
        self._listed: dict[str, ModelFacts] = {}
        self._described: dict[str, ModelFacts] = {}

    def facts_for(self, provider: Provider, model: str) -> ModelFacts:
        ref = f"{provider.name}/{model}"
        return merge_facts(
            provider.models.get(model, NO_FACTS),
            self._described.get(ref, NO_FACTS),
            self._listed.get(ref, NO_FACTS),
            _local_facts(provider, model),
            self._prices.stored_facts(self._price_url(provider), model) or NO_FACTS,
            table_facts(ref),
        )

    def stored_listing(self, provider: Provider) -> Sequence[ModelInfo] | None:
        """None: not fetched yet."""
        return self._listings.get(provider.name)

    def add_listing(self, provider: Provider, models: Sequence[ModelInfo]) -> None:
        self._listings[provider.name] = models
        self._listed |= {model.id: model.facts for model in models}

    def is_described(self, ref: str) -> bool:
        return ref in self._described

    def add_description(self, ref: str, described: ModelFacts) -> None:
        self._described[ref] = described

    def needs_price_lookup(self, provider: Provider, model: str) -> bool:
        """Whether the price library can know more about the model."""
        known = self._prices.stored_facts(self._price_url(provider), model)
        return known is None and self.facts_for(provider, model).price is None

    async def look_up_prices(self, wanted: Collection[tuple[Provider, str]]) -> None:
        await self._prices.look_up_prices([(self._price_url(provider), model) for provider, model in wanted])

    def _price_url(self, provider: Provider) -> str:
        return provider.base_url if is_local(provider.base_url) else self._vendors.get(provider.name, provider.base_url)


def _local_facts(provider: Provider, model: str) -> ModelFacts:
    """Models on the user's own machine cost nothing. Ollama's "...-cloud" models run elsewhere."""
    free = provider.free and is_local(provider.base_url) and not model.endswith("cloud")
    return ModelFacts(price=FREE) if free else NO_FACTS


def sort_by_preference(provider: Provider, models: Sequence[ModelInfo]) -> list[ModelInfo]:
    """The models that match a pattern of `preferred`: the best pattern first, and within a pattern the newest first."""
    newest = sorted(models, key=lambda model: (model.created, _version(model.id)), reverse=True)
    matching = [
        model
        for pattern in provider.preferred
        for model in newest
        if fnmatchcase(model.id, f"{provider.name}/{pattern}")
    ]
    return list({model.id: model for model in matching}.values())


def _version(ref: str) -> tuple[int, int]:
    """For listings without dates: the first number in the name, and the number after it."""
    found = re.search(r"(\d{1,2})(?:[.-](\d{1,2}))?(?!\d)", ref.rpartition("/")[2])
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)
