"""Keys and logins as a person deals with them: where each provider's key comes from, storing one, deleting it."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from tark_lsp.errors import SettingsError
from tark_lsp.llm.client import Models, ProviderOverride
from tark_lsp.llm.keys.credentials import find_key, find_stored, log_in, origin_of
from tark_lsp.llm.keys.store import KeyStore, Stored
from tark_lsp.llm.provider import Provider, configured, load_providers


@dataclass(frozen=True, slots=True)
class KeyStatus:
    """`source` says where the key comes from, "" for none; `hint` what to do where `state` is not `ready`.

    `unneeded`: a local server, which may do without; `unusable`: there is one, which cannot be sent.
    """

    provider: str
    state: Literal["ready", "missing", "unneeded", "unusable"]
    source: str = ""
    hint: str = ""


class Logins:
    """`providers` as the settings have them; `store` is asked in threads."""

    def __init__(self, providers: Mapping[str, ProviderOverride], environ: Mapping[str, str], store: KeyStore) -> None:
        self._overrides = providers
        self._environ = environ
        self._store = store
        self._shipped = load_providers()

    def names(self) -> list[str]:
        """The providers that a key can be for: shipped ones, and those of the settings."""
        own = [name for name in self._overrides if name not in self._shipped]
        shipped = [
            name
            for name, each in self._shipped.items()
            if each.script is None and (each.base_url or name in self._overrides)
        ]
        return sorted([*shipped, *own])

    def provider(self, name: str) -> Provider:
        """Raises SettingsError for one that is unknown, not set up, or a script."""
        provider = configured(name, self._shipped, self._overrides.get(name, ProviderOverride()))
        if provider.script is not None:
            raise SettingsError(f"{name} plays scenarios and needs no key")
        return provider

    def variables(self, name: str) -> tuple[str, ...]:
        """The environment variables that may give the key. Raises SettingsError."""
        return self.provider(name).key_env

    def variable(self, name: str) -> str:
        """That which gives the key now, "" for none: it counts before what is stored."""
        return next((each for each in self.variables(name) if self._environ.get(each, "").strip()), "")

    async def status(self, name: str) -> KeyStatus:
        """Raises SettingsError for an unknown provider. Nobody is asked whether the key is taken: see `check`."""
        provider = self.provider(name)
        try:
            key = find_key(provider.key_env, self._environ, provider.base_url)
            if key is not None:
                return KeyStatus(name, "ready", key.source)
            stored = await find_stored(name, self._store, _origin(provider))
        except SettingsError as error:
            return KeyStatus(name, "unusable", error.message, error.hint)
        if stored is None:
            ways = [log_in(name), *(f"set {variable}" for variable in provider.key_env)]
            return KeyStatus(name, "missing" if provider.key_needed else "unneeded", hint=", or ".join(ways))
        if stored.expires is not None and stored.expires <= time.time():
            return KeyStatus(name, "unusable", f"the login in {stored.place} has expired", log_in(name))
        return KeyStatus(name, "ready", stored.place)

    async def statuses(self) -> list[KeyStatus]:
        """Of all; a provider that is set up wrongly is unusable."""
        return await asyncio.gather(*(self._status_at_least(name) for name in self.names()))

    async def _status_at_least(self, name: str) -> KeyStatus:
        try:
            return await self.status(name)
        except SettingsError as error:
            return KeyStatus(name, "unusable", error.message, error.hint)

    async def check(self, name: str, secret: str | None = None) -> int:
        """How many models the provider lists for `secret`, or for the key it has now.

        Raises AuthenticationFailed where the key is refused, MissingKey, and another TarkError where nothing can be
        said of it.
        """
        provider = self.provider(name)
        typed = None if secret is None else _Typed(Stored(secret, _origin(provider), "what was typed"))
        models = Models(self._overrides, {} if typed else self._environ, keys=typed or self._store)
        try:
            return len((await models.list(name)).models)
        finally:
            await models.aclose()

    async def store(self, name: str, secret: str, lives: float | None = None) -> str:
        """Where it went. `lives`: seconds. Raises SettingsError."""
        origin = _origin(self.provider(name))
        expires = None if lives is None else time.time() + lives
        return await asyncio.to_thread(self._store.set, name, secret, origin, expires)

    async def delete(self, name: str) -> list[str]:
        """From where it was deleted. The provider may be one that is not set up any more. Raises SettingsError."""
        return await asyncio.to_thread(self._store.delete, name)

    async def place(self) -> str:
        """Where a key would be stored, for people."""
        return await asyncio.to_thread(self._store.place)


@dataclass(frozen=True, slots=True)
class _Typed:
    """The one secret that is tried before it is stored."""

    stored: Stored

    def get(self, provider: str) -> Stored:  # noqa: ARG002  there is but one
        return self.stored


def _origin(provider: Provider) -> str:
    """What a secret of this provider is bound to: the site of its login, else where its models are."""
    return origin_of(provider.login.url if provider.login else provider.base_url)
