"""`KnownModels`: the models that providers list, and what is known about each."""

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from tark_lsp.errors import MissingKey, ModelError, TarkError
from tark_lsp.llm.catalog.facts import Listing, ModelInfo
from tark_lsp.llm.catalog.listing import DESCRIBE_PATHS, fetch_description, fetch_listing
from tark_lsp.llm.catalog.model_catalog import ModelCatalog, sort_by_preference
from tark_lsp.llm.provider import Provider
from tark_lsp.llm.provider_connections import ProviderConnections
from tark_lsp.llm.wire.wire import Wire, load_wire

DEFAULT_ORDER = ("anthropic", "openai", "gemini", "openrouter", "ollama")
DESCRIBE_SECONDS = 2.0
"""A turn waits for this, so it is short. Facts that arrive later stay unknown."""

MAX_DESCRIBED = 8
"""How many models of a local server are checked, newest first, to find one that can call tools."""

log = logging.getLogger(__name__)


class KnownModels:
    """Fills the catalog by asking providers and servers."""

    def __init__(
        self, connections: ProviderConnections, catalog: ModelCatalog, changed: Callable[[Provider, str], None]
    ) -> None:
        """`changed` is called with each model about which more can be known than before."""
        self._connections = connections
        self._catalog = catalog
        self._changed = changed

    async def find_default(self) -> str | None:
        """The best model of the first of anthropic, openai, gemini and openrouter that has a key, else of an Ollama
        that answers; None if there is none. Raises ModelError if a provider with a key does not answer.
        """
        for name in DEFAULT_ORDER:
            if not self._connections.is_shipped(name):
                continue
            provider = self._connections.find_provider(name)
            try:
                models = await self._list(provider)
            except MissingKey:
                continue
            except ModelError:
                if provider.key_needed:
                    raise
                continue
            if found := await self._best(provider, sort_by_preference(provider, models)):
                return found.id
        return None

    async def find_best(self, provider: str) -> str | None:
        """The best model of one provider, None if it lists none. Raises like `list_models`."""
        known = self._connections.find_provider(provider)
        models = await self._list(known)
        found = await self._best(known, sort_by_preference(known, models) or models)
        return found.id if found else None

    async def list_models(self, provider: str | None = None, *, refresh: bool = False) -> Listing:
        """The models of one provider, or of all that have a key.

        Listings are kept until `refresh`. Raises SettingsError, MissingKey and ModelError for a named provider; with
        no name, a provider that does not answer becomes a problem in the listing.
        """
        if provider is not None:
            models = await self._list(self._connections.find_provider(provider), refresh)
            return Listing(await self._with_facts(models))
        names = self._connections.provider_names()
        listings = await asyncio.gather(*(self._list_if_available(name, refresh) for name in names))
        listed = [model for listing in listings for model in listing.models]
        problems = tuple(problem for listing in listings for problem in listing.problems)
        return Listing(await self._with_facts(listed), problems)

    async def list_first(self, provider: Provider) -> None:
        if not provider.lists_first or self._catalog.stored_listing(provider) is not None:
            return
        try:
            async with asyncio.timeout(DESCRIBE_SECONDS):
                await self._list(provider)
        except (ModelError, TimeoutError) as error:
            log.debug("the models of %s are not known: %s", provider.name, error)

    async def describe(self, provider: Provider, wire: Wire, model: str) -> None:
        """Asks the server about the model, once, if its wire has a request for that."""
        ref = f"{provider.name}/{model}"
        if wire.name not in DESCRIBE_PATHS or provider.script is not None or self._catalog.is_described(ref):
            return
        ask = self._connections.asker_for(provider, wire)
        try:
            async with asyncio.timeout(DESCRIBE_SECONDS):
                self._catalog.add_description(ref, await fetch_description(wire.name, model, ask))
        except (ModelError, TimeoutError) as error:
            log.debug("the server does not describe %s: %s", ref, error)

    async def look_up_prices(self, wanted: Collection[tuple[Provider, str]]) -> None:
        await self._catalog.look_up_prices(wanted)
        for provider, model in wanted:
            self._changed(provider, model)

    async def _best(self, provider: Provider, models: Sequence[ModelInfo]) -> ModelInfo | None:
        """The first model with native tool calls, else the first."""
        for model in models[:MAX_DESCRIBED]:
            name = model.id.removeprefix(f"{provider.name}/")
            await self.describe(provider, load_wire(provider.find_route(name).wire), name)
            if self._catalog.facts_for(provider, name).tools is not False:
                return model
        return models[0] if models else None

    async def _with_facts(self, models: Sequence[ModelInfo]) -> tuple[ModelInfo, ...]:
        """The models with all that is known about each, prices included."""
        refs = [model.id.partition("/") for model in models]
        named = [(self._connections.find_provider(name), model) for name, _, model in refs]
        await self.look_up_prices([pair for pair in named if self._catalog.needs_price_lookup(*pair)])
        facts = [self._catalog.facts_for(provider, model) for provider, model in named]
        return tuple(replace(model, facts=known) for model, known in zip(models, facts, strict=True))

    async def _list_if_available(self, name: str, refresh: bool) -> Listing:
        """Empty for a provider without a key, and for a local server that is neither configured nor running."""
        try:
            return Listing(tuple(await self._list(self._connections.find_provider(name), refresh)))
        except MissingKey:
            return Listing()
        except TarkError as error:
            if self._connections.is_unused(name):
                log.debug("no models of %s: %s", name, error)  # another program may use its port
                return Listing()
            return Listing(problems=(f"{name}: {error.message}" + (f"; {error.hint}" if error.hint else ""),))

    async def _list(self, provider: Provider, refresh: bool = False) -> Sequence[ModelInfo]:
        """Raises MissingKey, SettingsError, ModelError."""
        if provider.script is not None:
            return ()  # a script answers to any model name
        stored = None if refresh else self._catalog.stored_listing(provider)
        if stored is not None:
            return stored
        wire = load_wire(provider.routes[-1].wire)
        ask = self._connections.asker_for(provider, wire)
        models = await fetch_listing(provider.name, wire.models_path, ask)
        self._catalog.add_listing(provider, models)
        for model in models:
            self._changed(provider, model.id.removeprefix(f"{provider.name}/"))
        return models
