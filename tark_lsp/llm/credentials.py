"""API keys: from environment variables, each bound to the origin it was given for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tark_lsp.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Key:
    """`variable` is where it came from; `origin` (scheme, host, port) the only place it may go."""

    value: str = field(repr=False)
    variable: str
    origin: str

    def header(self, name: str, url: str) -> dict[str, str]:
        """`authorization` means a bearer token. Raises SettingsError for a URL of another origin."""
        if origin_of(url) != self.origin:
            raise SettingsError(f"the key in {self.variable} is for {self.origin} and was not sent to {origin_of(url)}")
        return {name: f"Bearer {self.value}" if name == "authorization" else self.value}


def find_key(variables: Sequence[str], environ: Mapping[str, str], base_url: str) -> Key | None:
    """The first variable that is set. Raises SettingsError for a value that no header can carry."""
    for variable in variables:
        value = environ.get(variable, "").strip()
        if not value:
            continue
        if not (value.isascii() and value.isprintable()):
            raise SettingsError(f"{variable} holds characters that no key has", hint=f"set {variable} again")
        return Key(value, variable, origin_of(base_url))
    return None


def origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()
