"""API keys: from environment variables, else from the key store. Each key is bound to one origin."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit

from tark_lsp.errors import MissingKey, SettingsError
from tark_lsp.llm.keys.store import StoredSecret

MIN_SECRET_LENGTH = 6
"""Characters. Shorter secrets are placeholders for servers that accept any key, and occur in common words."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Key:
    """`source`: where the key comes from, for the user. The key is sent only to `origin` (scheme, host, port)."""

    value: str = field(repr=False)
    source: str
    origin: str

    def header(self, name: str, url: str) -> dict[str, str]:
        """`authorization` means a bearer token. Raises SettingsError for a URL of another origin."""
        if origin_of(url) != self.origin:
            raise SettingsError(
                f"the key from {self.source} is for {self.origin}, so it was not sent to {origin_of(url)}"
            )
        return {name: f"Bearer {self.value}" if name == "authorization" else self.value}


class StoredKeys(Protocol):
    """The read-only part of a `KeyStore`. It can block, and raises SettingsError."""

    def read_secret(self, provider: str) -> StoredSecret | None: ...


def find_environment_key(variables: Sequence[str], environ: Mapping[str, str], base_url: str) -> Key | None:
    """The key in the first variable that is set. Raises SettingsError for a value that a header cannot contain."""
    for variable in variables:
        value = environ.get(variable, "").strip()
        if value:
            return Key(validate_key(value, variable, f"set {variable} again"), variable, origin_of(base_url))
    return None


async def find_stored_secret(name: str, keys: StoredKeys | None, origin: str) -> StoredSecret | None:
    """The stored secret of this provider for this origin. Raises MissingKey if it cannot be used, and says why."""
    if keys is None:
        return None
    try:
        stored = await asyncio.to_thread(keys.read_secret, name)
    except SettingsError as error:
        raise MissingKey(f"no key for {name}: {error.message}", hint=error.hint) from error
    if stored is not None and stored.origin != origin:
        raise MissingKey(
            f"no key for {name}: the one in {stored.place} is for {stored.origin}, not for {origin}",
            hint=login_hint(name),
        )
    return stored


def validate_key(value: str, source: str, hint: str) -> str:
    """Returns the value if a header can contain it. The SettingsError it raises does not repeat the value."""
    if not (value and value.isascii() and value.isprintable() and " " not in value):
        raise SettingsError(f"{source} contains characters that are not allowed in a key", hint=hint)
    return value


def redact_secret(text: str, secret: str) -> str:
    """Removes the secret from `text`: some providers repeat it when they refuse it."""
    return text.replace(secret, "***") if len(secret) >= MIN_SECRET_LENGTH else text


def login_hint(name: str) -> str:
    return f"run `tark-lsp login {name}`"


def origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()
