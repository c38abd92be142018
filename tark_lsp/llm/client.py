"""The entry point to the models: `Models.open_model("provider/model")` returns a `Model`, which streams requests."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from tark_lsp.errors import SettingsError
from tark_lsp.http import HttpTransport, Transport
from tark_lsp.llm.catalog.facts import NO_FACTS, Listing, ModelFacts, ModelInfo
from tark_lsp.llm.catalog.model_catalog import ModelCatalog
from tark_lsp.llm.catalog.prices import Prices
from tark_lsp.llm.embeddings import EndpointEmbedder, open_embedder
from tark_lsp.llm.exchange import Timeouts
from tark_lsp.llm.keys.credentials import StoredKeys
from tark_lsp.llm.known_models import KnownModels
from tark_lsp.llm.model import Model, WireModel
from tark_lsp.llm.provider import Provider, ProviderOverride
from tark_lsp.llm.provider_connections import ProviderConnections
from tark_lsp.llm.retry import CircuitBreaker, RetryPolicy
from tark_lsp.llm.wire.wire import TargetModel, load_wire

__all__ = ["Model", "ModelInfo", "Models", "ProviderOverride"]

MAX_OPENED = 256
"""Models that are kept open. A client of the gateway can request any number of models."""
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
        self._known = KnownModels(self._connections, self._catalog, self._update_opened)
        self._opened: dict[str, WireModel] = {}
        self._price_lookups: set[asyncio.Task[None]] = set()

    async def open_model(self, ref: str) -> Model:
        """`ref` is `<provider>/<model>`. Raises SettingsError, and MissingKey with what to do."""
        opened = self._opened.get(ref)
        if opened is None:
            opened = self._opened[ref] = await self._open(ref)
            if len(self._opened) > MAX_OPENED:
                del self._opened[next(iter(self._opened))]
        named = (opened.provider, opened.target.model)
        if self._catalog.needs_price_lookup(*named):
            opened.price_lookup = asyncio.create_task(self._known.look_up_prices([named]))
            self._price_lookups.add(opened.price_lookup)
            opened.price_lookup.add_done_callback(self._price_lookups.discard)
        return opened

    def open_embedder(self, ref: str) -> EndpointEmbedder:
        """`ref` is `<provider>/<model>`. Raises SettingsError."""
        return open_embedder(self._connections, ref, self._policy)

    def check_name(self, ref: str) -> None:
        """Raises SettingsError if it is not `<provider>/<model>`, or if the provider is unknown. Sends no request."""
        self._connections.find_provider(_split_ref(ref)[0])

    def takes_any_name(self, provider: str) -> bool:
        """Whether the provider is a script, which accepts any model name. Raises SettingsError if it is unknown."""
        return self._connections.find_provider(provider).script is not None

    async def find_default_model(self) -> str | None:
        """The best model of the first of anthropic, openai, gemini and openrouter that has a key, else of an Ollama
        that answers; None if there is none. Raises ModelError if a provider with a key does not answer.
        """
        return await self._known.find_default()

    async def find_best_model(self, provider: str) -> str | None:
        """The best model of one provider, None if it lists none. Raises like `list_models`."""
        return await self._known.find_best(provider)

    async def list_models(self, provider: str | None = None, *, refresh: bool = False) -> Listing:
        """The models of one provider, or of all that have a key.

        Listings are kept until `refresh`. Raises SettingsError, MissingKey and ModelError for a named provider; with
        no name, a provider that does not answer becomes a problem in the listing.
        """
        return await self._known.list_models(provider, refresh=refresh)

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
        await self._known.list_first(provider)
        await self._known.describe(provider, wire, model)
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

    def _update_opened(self, provider: Provider, model: str) -> None:
        """Updates an open model with the facts that are known now."""
        opened = self._opened.get(f"{provider.name}/{model}")
        if opened is not None:
            facts = self._catalog.facts_for(provider, model)
            opened.target = _with_facts(opened.target, facts, opened.facts)
            opened.facts = facts


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
