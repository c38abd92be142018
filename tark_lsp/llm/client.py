"""The entry point to the models: `Models.open_model("provider/model")` returns a `Model`, which streams requests."""

import asyncio
import logging
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from tark_lsp.errors import MissingKey, ModelError, SettingsError, TarkError
from tark_lsp.http import HttpTransport, Transport
from tark_lsp.llm.catalog.facts import NO_FACTS, Listing, ModelFacts, ModelInfo
from tark_lsp.llm.catalog.listing import DESCRIBE_PATHS, fetch_description, fetch_listing
from tark_lsp.llm.catalog.model_catalog import ModelCatalog, sort_by_preference
from tark_lsp.llm.catalog.prices import Prices
from tark_lsp.llm.embeddings import EndpointEmbedder, open_embedder
from tark_lsp.llm.exchange import Timeouts
from tark_lsp.llm.keys.credentials import StoredKeys
from tark_lsp.llm.model import Model, WireModel
from tark_lsp.llm.provider import Provider, ProviderOverride
from tark_lsp.llm.provider_connections import ProviderConnections
from tark_lsp.llm.retry import CircuitBreaker, RetryPolicy
from tark_lsp.llm.wire.wire import TargetModel, Wire, load_wire

__all__ = ["Model", "ModelInfo", "Models", "ProviderOverride"]

DEFAULT_ORDER = ("anthropic", "openai", "gemini", "openrouter", "ollama")
MAX_OPENED = 256
"""Models that are kept open. Whoever asks through the gateway can name any."""
DESCRIBE_SECONDS = 2.0
"""A turn waits for this, so it is short. What is not known by then stays unknown."""

MAX_DESCRIBED = 8
"""How many models of a local server are asked about, newest first, to find one that can call tools."""

FACTS = {
    "thinking": "thinking",
    "off": "off",
    "max_output_tokens": "max_output",
    "efforts": "efforts",
    "context_window": "context_window",
    "sampling": "sampling",
    "tool_search": "tool_search",
}
"""The fields of a `TargetModel` that are facts, and their names there."""

log = logging.getLogger(__name__)


class Models:
    """All models the user can use. There is one per server, used from one event loop."""

    def __init__(
        self,
        providers: Mapping[str, ProviderOverride] = MappingProxyType({}),
        environ: Mapping[str, str] = os.environ,
        scenario: Path | None = None,
        *,
        policy: RetryPolicy | None = None,
        times: Timeouts | None = None,
        keys: StoredKeys | None = None,
        network: Transport | None = None,
        prices: Prices | None = None,
    ) -> None:
        """`keys` are the stored keys; the environment's come first. `network` replaces HTTP in tests."""
        self._connections = ProviderConnections(providers, environ, scenario, keys, network or HttpTransport())
        self._policy = policy or RetryPolicy()
        self._times = times or Timeouts()
        self._catalog = ModelCatalog(self._connections.shipped_urls(), prices or Prices())
        self._opened: dict[str, WireModel] = {}
        self._price_lookups: set[asyncio.Task[None]] = set()

    async def open_model(self, ref: str) -> Model:
        """`ref` is `<provider>/<model>`. Raises SettingsError, and MissingKey with what to do."""
        opened = self._opened.get(ref)
        if opened is None:
            opened = self._opened[ref] = await self._open(ref)
            if len(self._opened) > MAX_OPENED:
                del self._opened[next(iter(self._opened))]
        if self._catalog.needs_price_lookup(opened.provider, opened.target.model):
            opened.price_lookup = asyncio.create_task(self._look_up_prices([(opened.provider, opened.target.model)]))
            self._price_lookups.add(opened.price_lookup)
            opened.price_lookup.add_done_callback(self._price_lookups.discard)
        return opened

    def open_embedder(self, ref: str) -> EndpointEmbedder:
        """`ref` is `<provider>/<model>`. Raises SettingsError."""
        return open_embedder(self._connections, ref, self._policy)

    def check_name(self, ref: str) -> None:
        """Raises SettingsError if it is not `<provider>/<model>`, or if the provider is unknown. Asks nobody."""
        self._connections.find_provider(_split_ref(ref)[0])

    def takes_any_name(self, provider: str) -> bool:
        """Is it a script, which answers to any name of a model? Raises SettingsError for an unknown provider."""
        return self._connections.find_provider(provider).script is not None

    async def find_default_model(self) -> str | None:
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

    async def find_best_model(self, provider: str) -> str | None:
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

    async def aclose(self) -> None:
        """Closes the connections."""
        for task in self._price_lookups:
            task.cancel()
        await asyncio.gather(*self._price_lookups, return_exceptions=True)
        await self._connections.aclose()

    async def _open(self, ref: str) -> WireModel:
        name, model = _split_ref(ref)
        provider = self._connections.find_provider(name)
        access = self._connections.access_for(provider)
        await access.get_access()
        wire = load_wire(provider.find_route(model).wire)
        await self._list_first(provider)
        await self._describe(provider, wire, model)
        facts = self._catalog.facts_for(provider, model)
        route = provider.find_route(model, facts.wire)
        transport, wire_name = self._connections.transport_for(provider, route.wire)
        return WireModel(
            provider=provider,
            target=_with_facts(TargetModel(ref, model, route.quirks), facts),
            wire=load_wire(wire_name),
            transport=transport,
            access=access,
            facts=facts,
            breaker=CircuitBreaker(),
            policy=self._policy,
            times=self._times,
        )

    async def _list_first(self, provider: Provider) -> None:
        if not provider.lists_first or self._catalog.stored_listing(provider) is not None:
            return
        try:
            async with asyncio.timeout(DESCRIBE_SECONDS):
                await self._list(provider)
        except (ModelError, TimeoutError) as error:
            log.debug("the models of %s are not known: %s", provider.name, error)

    async def _describe(self, provider: Provider, wire: Wire, model: str) -> None:
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

    async def _best(self, provider: Provider, models: Sequence[ModelInfo]) -> ModelInfo | None:
        """The first model with native tool calls, else the first."""
        for model in models[:MAX_DESCRIBED]:
            name = model.id.removeprefix(f"{provider.name}/")
            await self._describe(provider, load_wire(provider.find_route(name).wire), name)
            if self._catalog.facts_for(provider, name).tools is not False:
                return model
        return models[0] if models else None

    async def _look_up_prices(self, wanted: Collection[tuple[Provider, str]]) -> None:
        await self._catalog.look_up_prices(wanted)
        for provider, model in wanted:
            self._update_opened(provider, model)

    def _update_opened(self, provider: Provider, model: str) -> None:
        """Gives an open model the facts that are known by now."""
        opened = self._opened.get(f"{provider.name}/{model}")
        if opened is not None:
            facts = self._catalog.facts_for(provider, model)
            opened.target = _with_facts(opened.target, facts, opened.facts)
            opened.facts = facts

    async def _with_facts(self, models: Sequence[ModelInfo]) -> tuple[ModelInfo, ...]:
        """The models with all that is known about each, prices included."""
        refs = [model.id.partition("/") for model in models]
        named = [(self._connections.find_provider(name), model) for name, _, model in refs]
        await self._look_up_prices([pair for pair in named if self._catalog.needs_price_lookup(*pair)])
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
            self._update_opened(provider, model.id.removeprefix(f"{provider.name}/"))
        return models


def _split_ref(ref: str) -> tuple[str, str]:
    """The names of the provider and of its model. Raises SettingsError."""
    name, slash, model = ref.partition("/")
    if not (name and slash and model):
        raise SettingsError(f"{ref!r} is not a model name", hint='write it as "provider/model"')
    return name, model


def _with_facts(target: TargetModel, facts: ModelFacts, before: ModelFacts = NO_FACTS) -> TargetModel:
    """Only what is new since `before` is changed: the rest may have been changed since then, after a refusal."""
    values = {
        field: getattr(facts, fact) for field, fact in FACTS.items() if getattr(facts, fact) != getattr(before, fact)
    }
    quirks = target.quirks
    if facts.images is False and before.images is not False:
        quirks = replace(quirks, images=False)
    return replace(target, **values, quirks=quirks, text_calls=target.text_calls or facts.tools is False)
