"""The base URL and the key of a request. They are read before each request, and again after a key was refused."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from tark_lsp.errors import MissingKey
from tark_lsp.llm.keys.credentials import (
    Key,
    StoredKeys,
    find_environment_key,
    find_stored_secret,
    login_hint,
    origin_of,
)
from tark_lsp.llm.provider import Provider

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Access:
    """`key` None: the server needs no key."""

    base_url: str
    key: Key | None


class AccessSource(Protocol):
    """One per provider; shared by its models and by requests that run at the same time."""

    async def get_access(self) -> Access:
        """Raises MissingKey, and the errors of fetching a token."""
        ...

    async def renew_access(self, refused: Access) -> bool:
        """After a 401 or 403: returns whether there is now a different key, so that sending again can help."""
        ...


class KeyAccess:
    """The key of a provider with plain keys: the environment's, else the stored one.

    It is read each time, so a login or logout at a terminal takes effect with the next request.
    """

    def __init__(self, provider: Provider, environ: Mapping[str, str], keys: StoredKeys | None = None) -> None:
        self._provider = provider
        self._environ = environ
        self._keys = keys

    async def get_access(self) -> Access:
        provider = self._provider
        key = find_environment_key(provider.key_env, self._environ, provider.base_url) or await self._stored()
        if key is None and provider.key_needed:
            variables = " or ".join(provider.key_env)
            raise MissingKey(
                f"no key for {provider.name}",
                hint=f"{f'set {variables}, or ' if variables else ''}{login_hint(provider.name)}",
            )
        return Access(provider.base_url, key)

    async def renew_access(self, refused: Access) -> bool:
        return (await self.get_access()).key != refused.key

    async def _stored(self) -> Key | None:
        provider = self._provider
        origin = origin_of(provider.base_url)
        try:
            stored = await find_stored_secret(provider.name, self._keys, origin)
        except MissingKey as error:
            if provider.key_needed:
                raise
            log.warning("%s; the request is sent without a key", error)
            return None
        return Key(stored.secret, stored.place, origin) if stored else None
