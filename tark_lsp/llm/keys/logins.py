"""Managing keys and logins: where each provider's key comes from, storing a key, deleting it."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from tark_lsp.errors import SettingsError
from tark_lsp.llm.client import Models, ProviderOverride
from tark_lsp.llm.keys.checking import KeyCheck, check_provider
from tark_lsp.llm.keys.credentials import find_environment_key, find_stored_secret, login_hint, origin_of
from tark_lsp.llm.keys.store import KeyStore, StoredSecret
from tark_lsp.llm.provider import Provider, configure_provider, load_providers


@dataclass(frozen=True, slots=True)
class KeyStatus:
    """`source` says where the key comes from ("" for none), `hint` what to do if `state` is not `ready`.

    `unneeded`: a local server, which works without a key. `unusable`: there is a key, but it cannot be sent.
    """

    provider: str
    state: Literal["ready", "missing", "unneeded", "unusable"]
    source: str = ""
    hint: str = ""


class Logins:
    """`providers` are the overrides of the settings. `store` blocks, so it is called in threads."""

    def __init__(self, providers: Mapping[str, ProviderOverride], environ: Mapping[str, str], store: KeyStore) -> None:
        self._overrides = providers
        self._environ = environ
        self._store = store
        self._shipped = load_providers()

    def provider_names(self) -> list[str]:
        """The providers that can have a key: the shipped ones, and those defined in the settings."""
        own = [name for name in self._overrides if name not in self._shipped]
        shipped = [
            name
            for name, provider in self._shipped.items()
            if provider.script is None and (provider.base_url or name in self._overrides)
        ]
        return sorted([*shipped, *own])

    def find_provider(self, name: str) -> Provider:
        """Raises SettingsError if the provider is unknown, not configured, or a script."""
        provider = configure_provider(name, self._shipped, self._overrides.get(name, ProviderOverride()))
        if provider.script is not None:
            raise SettingsError(f"{name} plays scenarios, so it needs no key")
        return provider

    def key_variables(self, name: str) -> tuple[str, ...]:
        """The environment variables that can hold the key. Raises SettingsError."""
        return self.find_provider(name).key_env

    def active_variable(self, name: str) -> str:
        """The variable that holds the key now, "" for none. It overrides a stored key."""
        return next((variable for variable in self.key_variables(name) if self._environ.get(variable, "").strip()), "")

    async def key_status(self, name: str) -> KeyStatus:
        """Raises SettingsError for an unknown provider. Does not ask the provider about the key: see `check_key`."""
        provider = self.find_provider(name)
        try:
            key = find_environment_key(provider.key_env, self._environ, provider.base_url)
            if key is not None:
                return KeyStatus(name, "ready", key.source)
            stored = await find_stored_secret(name, self._store, _origin(provider))
        except SettingsError as error:
            return KeyStatus(name, "unusable", error.message, error.hint)
        if stored is None:
            remedies = [login_hint(name), *(f"set {variable}" for variable in provider.key_env)]
            return KeyStatus(name, "missing" if provider.key_needed else "unneeded", hint=", or ".join(remedies))
        if stored.expires is not None and stored.expires <= time.time():
            return KeyStatus(name, "unusable", f"the login in {stored.place} has expired", login_hint(name))
        return KeyStatus(name, "ready", stored.place)

    async def key_statuses(self) -> list[KeyStatus]:
        """The status of every provider. One with wrong settings is `unusable`."""
        return await asyncio.gather(*(self._status_or_problem(name) for name in self.provider_names()))

    async def _status_or_problem(self, name: str) -> KeyStatus:
        try:
            return await self.key_status(name)
        except SettingsError as error:
            return KeyStatus(name, "unusable", error.message, error.hint)

    async def check_key(self, name: str, secret: str | None = None) -> int:
        """Returns how many models the provider lists for `secret`, or for its current key.

        Raises AuthenticationFailed if the key is refused, MissingKey, and another TarkError if the key could not be
        checked.
        """
        provider = self.find_provider(name)
        typed = None if secret is None else _TypedSecret(StoredSecret(secret, _origin(provider), "your input"))
        models = Models(self._overrides, {} if typed else self._environ, keys=typed or self._store)
        try:
            return len((await models.list_models(name)).models)
        finally:
            await models.aclose()

    async def check_provider(self, name: str) -> KeyCheck:
        """Asks the provider about its current key. Raises SettingsError, and MissingKey."""
        self.find_provider(name)
        return await check_provider(self._overrides, self._environ, self._store, name)

    def has_login(self, name: str) -> bool:
        """Whether the user can log in with a code. Raises SettingsError."""
        login = self.find_provider(name).login
        return login is not None and bool(login.client_id)

    async def store_key(self, name: str, secret: str, lifetime: float | None = None) -> str:
        """Returns where it is stored. `lifetime`: seconds. Raises SettingsError."""
        origin = _origin(self.find_provider(name))
        expires = None if lifetime is None else time.time() + lifetime
        return await asyncio.to_thread(self._store.write_secret, name, secret, origin, expires)

    async def delete_key(self, name: str) -> list[str]:
        """Returns the places it was deleted from. The provider may no longer be configured. Raises SettingsError."""
        return await asyncio.to_thread(self._store.delete_secret, name)

    async def describe_location(self) -> str:
        """Where a key would be stored, as text for the user."""
        return await asyncio.to_thread(self._store.describe_location)


@dataclass(frozen=True, slots=True)
class _TypedSecret:
    """A secret that is tested before it is stored."""

    stored: StoredSecret

    def read_secret(self, provider: str) -> StoredSecret:  # noqa: ARG002  there is only one
        return self.stored


def _origin(provider: Provider) -> str:
    """The origin that this provider's secret is bound to: its login site, else its base URL."""
    return origin_of(provider.login.url if provider.login else provider.base_url)
