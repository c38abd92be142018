"""The `Provider` type: facts about one provider. Each file of `providers/` defines one."""

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from tark_lsp.errors import SettingsError
from tark_lsp.http import Transport, is_loopback
from tark_lsp.llm.catalog.facts import ModelFacts
from tark_lsp.llm.catalog.listed_names import near_names
from tark_lsp.llm.keys.device_login import DeviceLogin
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.wire.wire import NO_QUIRKS, WIRES, Quirks


@dataclass(frozen=True, slots=True)
class Route:
    """Models whose name matches `pattern` (`*` and `?`) use `wire`, with `quirks`."""

    pattern: str
    wire: str
    quirks: Quirks = NO_QUIRKS


class Script(Transport, Protocol):
    """A transport that plays a scenario, encoded as `wire`."""

    @property
    def wire(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Provider:
    """Facts about a provider. The first route that matches a model is used.

    `key_env`: environment variables that can hold the key, in order. `key_needed` False: a local server, which works
    without a key.
    `key_header`: the header for the key, instead of the wire's own; `authorization` means a bearer token.
    `request_headers`: further headers that depend on the request.
    `login`: how the user logs in, if there is more to do than to paste a key.
    `key_check_path`: a path whose GET needs the key, if the list of models does not.
    `preferred`: patterns of models, the best default first.
    `offline_hint`: what to do when the server does not answer.
    `lists_first`: read the listing before opening a model, since it states the wire and the context window that this
    account gets.
    `free`: the models run on the user's own machine, where they cost nothing.
    `models`: what the user's settings say about single models.
    `script`: makes the transport that replaces the network; only for the provider that plays scenarios.
    """

    name: str
    base_url: str
    routes: tuple[Route, ...]
    key_env: tuple[str, ...] = ()
    key_needed: bool = True
    key_header: str = ""
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    request_headers: Callable[[ChatRequest], Mapping[str, str]] | None = None
    login: DeviceLogin | None = None
    key_check_path: str = ""
    preferred: tuple[str, ...] = ()
    offline_hint: str = ""
    lists_first: bool = False
    free: bool = False
    models: Mapping[str, ModelFacts] = field(default_factory=lambda: MappingProxyType({}))
    script: Callable[[Path | None], Script] | None = None

    def find_route(self, model: str, wire: str | None = None) -> Route:
        """`wire`: the one of several that the provider prefers for this model. Raises SettingsError."""
        routes = [route for route in self.routes if fnmatchcase(model, route.pattern)]
        if not routes:
            raise SettingsError(f"{self.name} has no model {model}")
        return next((route for route in routes if route.wire == wire), routes[0])


@dataclass(frozen=True, slots=True)
class ProviderOverride:
    """What the user's settings say about a provider. None keeps the value of the provider's file."""

    base_url: str | None = None
    api_key_env: str | None = None
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    wire: str | None = None
    client_id: str | None = None
    login_url: str | None = None
    models: Mapping[str, ModelFacts] = field(default_factory=lambda: MappingProxyType({}))


def load_providers() -> dict[str, Provider]:
    """Returns every `PROVIDER` of the folder `providers/`, by name."""
    from tark_lsp.llm import providers

    found: dict[str, Provider] = {}
    for module in pkgutil.iter_modules(providers.__path__):
        provider = importlib.import_module(f"{providers.__name__}.{module.name}").PROVIDER
        found[provider.name] = provider
    return found


def configure_provider(name: str, shipped: Mapping[str, Provider], override: ProviderOverride) -> Provider:
    """The provider with the user's settings applied. Any name works if the settings give it a wire and a base URL.

    Raises SettingsError for an unknown provider, and for an unknown wire.
    """
    if override.wire is not None and override.wire not in WIRES:
        raise SettingsError(
            f"providers.{name}.wire: there is no wire {override.wire!r}", hint=f"use one of {', '.join(WIRES)}"
        )
    provider = shipped.get(name)
    if provider is None:
        if not (override.wire and override.base_url):
            known = sorted(set(shipped) - {"compatible"})
            near = " or ".join(near_names(name, known))
            raise SettingsError(
                f"there is no provider {name!r}{f', did you mean {near}?' if near else ''}",
                hint=f"use one of {', '.join(known)}, or set providers.{name}.wire and providers.{name}.baseUrl",
            )
        provider = replace(shipped["compatible"], name=name)
    routes = provider.routes
    if override.wire:
        routes = tuple(route for route in routes if route.wire == override.wire) or (Route("*", override.wire),)
    login = _login(name, provider.login, override)
    base_url = override.base_url
    if login is not None and override.login_url is not None:
        base_url = base_url or login.subdomain_url(login.models_subdomain)
    if not (base_url or provider.base_url):
        raise SettingsError(f"the provider {name} has no base URL", hint=f"set providers.{name}.baseUrl")
    return replace(
        provider,
        base_url=(base_url or provider.base_url).rstrip("/"),
        routes=routes,
        key_env=(override.api_key_env,) if override.api_key_env else provider.key_env,
        key_needed=provider.key_needed or override.api_key_env is not None,
        headers={**provider.headers, **override.headers},
        login=login,
        models=override.models,
    )


def _login(name: str, login: DeviceLogin | None, override: ProviderOverride) -> DeviceLogin | None:
    """Raises SettingsError if the settings configure a login that this provider does not have."""
    if login is None:
        if override.client_id or override.login_url:
            raise SettingsError(f"{name} has no login, so providers.{name} cannot have clientId or loginUrl")
        return None
    url = (override.login_url or login.url).rstrip("/")
    if not (url.startswith("https://") or is_loopback(url)):
        raise SettingsError(f"providers.{name}.loginUrl is not https, so others could read the login")
    return replace(login, url=url, client_id=override.client_id or login.client_id)
