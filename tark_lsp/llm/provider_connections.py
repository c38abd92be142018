"""The providers of one `Models`: how each is configured, where its requests go, and with which key."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tark_lsp.errors import ModelError
from tark_lsp.http import HttpRequest, Transport
from tark_lsp.llm.catalog.listing import AskProvider
from tark_lsp.llm.exchange import Timeouts, fetch_body
from tark_lsp.llm.hints import add_hint
from tark_lsp.llm.keys.access import Access, AccessSource, KeyAccess
from tark_lsp.llm.keys.copilot_token import CopilotAccess
from tark_lsp.llm.keys.credentials import StoredKeys
from tark_lsp.llm.model import request_headers
from tark_lsp.llm.provider import Provider, ProviderOverride, Script, configure_provider, load_providers
from tark_lsp.llm.wire.json_values import decode_untyped_json, json_or_text
from tark_lsp.llm.wire.provider_errors import provider_error
from tark_lsp.llm.wire.wire import Wire

LISTING_BYTES = 16 * 1024 * 1024
LISTING_TIMES = Timeouts(headers=10.0, idle=10.0)


class ProviderConnections:
    """`overrides` are the user's settings by provider. `keys` are the stored keys; the environment's come first."""

    def __init__(
        self,
        overrides: Mapping[str, ProviderOverride],
        environ: Mapping[str, str],
        scenario: Path | None,
        keys: StoredKeys | None,
        network: Transport,
    ) -> None:
        self._overrides = overrides
        self._environ = environ
        self._scenario = scenario
        self._keys = keys
        self._network = network
        self._shipped = load_providers()
        self._scripts: dict[str, Script] = {}
        self._access_sources: dict[str, AccessSource] = {}

    def provider_names(self) -> Iterator[str]:
        """The shipped providers, then those that only the settings define."""
        yield from dict.fromkeys([*self._shipped, *self._overrides])

    def shipped_urls(self) -> dict[str, str]:
        return {name: provider.base_url for name, provider in self._shipped.items() if provider.base_url}

    def find_provider(self, name: str) -> Provider:
        """Raises SettingsError."""
        return configure_provider(name, self._shipped, self._overrides.get(name, ProviderOverride()))

    def is_shipped(self, name: str) -> bool:
        return name in self._shipped

    def is_unused(self, name: str) -> bool:
        """Whether this is a local server that the user has not configured: it may not be running at all."""
        return name not in self._overrides and not self._shipped[name].key_needed

    def transport_for(self, provider: Provider, wire: str) -> tuple[Transport, str]:
        """The transport, and the name of the wire to use on it."""
        if provider.script is None:
            return self._network, wire
        script = self._scripts.get(provider.name)
        if script is None:
            script = self._scripts[provider.name] = provider.script(self._scenario)
        return script, script.wire

    def access_for(self, provider: Provider) -> AccessSource:
        source = self._access_sources.get(provider.name)
        if source is None:
            source = self._access_sources[provider.name] = self._new_access(provider)
        return source

    def _new_access(self, provider: Provider) -> AccessSource:
        if provider.login is not None:
            return CopilotAccess(provider, provider.login, self._environ, self._keys, self._network)
        return KeyAccess(provider, self._environ, None if provider.script else self._keys)

    def asker_for(self, provider: Provider, wire: Wire, *, with_key: bool = True) -> AskProvider:
        """A function for small requests to the provider, such as its list of models."""

        async def ask(path: str, body: bytes | None) -> Any:
            access = await self.access_for(provider).get_access() if with_key else Access(provider.base_url, None)
            url = access.base_url + path
            headers = request_headers(provider, wire, access.key, url)
            if body is not None:
                headers["content-type"] = "application/json"
            request = HttpRequest("GET" if body is None else "POST", url, headers, body or b"")
            try:
                status, answer = await fetch_body(self._network, request, LISTING_TIMES, LISTING_BYTES)
                if status != 200:
                    raise provider_error(json_or_text(answer), status)
                return decode_untyped_json(answer)
            except ModelError as error:
                add_hint(error, provider, access.key, 1)
                raise

        return ask

    async def aclose(self) -> None:
        await self._network.aclose()
