"""Parses and checks the URL of a page, and formats it canonically, so that every parser reads it alike. Pure."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import quote, urljoin, urlsplit

from tark_lsp.errors import ToolError

LONGEST_URL = 2_000
PORTS = {"http": 80, "https": 443}
LOWEST_FREE_PORT = 1024
"""Lower ports belong to mail, name servers and other services that a crafted request could attack."""
KEPT = "!$%&'()*+,-./:;=?@_~[]"
"""The characters that are not escaped in a path or query."""
LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
HINT = "give an absolute http or https URL, without a user name"


@dataclass(frozen=True, slots=True)
class PageUrl:
    """`host` is lower-case ASCII (`xn--...`) without brackets or a final dot; `path` includes the query."""

    scheme: str
    host: str
    port: int
    path: str

    def __str__(self) -> str:
        return f"{self.scheme}://{self.place}{self.path}"

    @property
    def place(self) -> str:
        """Host and port, without the default port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    def leads_elsewhere(self, target: "PageUrl") -> bool:
        """Whether a redirect to `target` must not be followed automatically: another host or port, or https to http."""
        upgraded = (self.scheme, target.scheme) == ("http", "https")
        if self.host != target.host or (self.scheme != target.scheme and not upgraded):
            return True
        return self.port != target.port and not (upgraded and (self.port, target.port) == (80, 443))


def page_url(text: str) -> PageUrl:
    """Raises ToolError `invalid_arguments`."""
    text = text.strip()
    if len(text) > LONGEST_URL:
        raise _wrong(f"it is longer than {LONGEST_URL:,} characters")
    if not text.isprintable() or re.search(r"[\s\\<>\"`]", text):
        raise _wrong("it contains characters that a URL cannot have")
    try:
        parts = urlsplit(text)
        scheme = parts.scheme.lower()
        if scheme not in PORTS:
            raise _wrong(f"its scheme is not http or https but {scheme or 'missing'}")
        if "@" in parts.netloc:
            raise _wrong("it contains a user name or password")
        port = parts.port
        host = plain_host(parts.hostname or "")
    except ValueError as error:
        raise _wrong(str(error)) from error
    port = PORTS[scheme] if port is None else port
    if port != PORTS[scheme] and port < LOWEST_FREE_PORT:
        raise _wrong(f"port {port} is not used for web pages")
    query = f"?{quote(parts.query, safe=KEPT)}" if parts.query else ""
    return PageUrl(scheme, host, port, f"{quote(parts.path, safe=KEPT) or '/'}{query}")


def redirected(url: PageUrl, location: str) -> PageUrl:
    """The target of a `Location` header in the response to `url`. Raises ToolError."""
    try:
        return page_url(urljoin(str(url), location.strip()))
    except ValueError as error:  # from urljoin
        raise _wrong(str(error)) from error


def plain_host(host: str) -> str:
    """A host name or address in canonical form: lower-case ASCII, no final dot, no brackets. Raises ValueError.

    Numbers that only some programs accept as an address (`127.1`, `0x7f000001`) are errors.
    """
    host = host.removesuffix(".").lower()
    if not host.isascii():
        host = host.encode("idna").decode()  # UnicodeError is a ValueError
    if "%" in host:
        raise ValueError("its host contains %")
    if ":" in host or NUMBER.fullmatch(host.rpartition(".")[2]):
        return ip_address(host.strip("[]")).compressed
    if len(host) > 253 or not all(LABEL.fullmatch(label) for label in host.split(".")):
        raise ValueError("its host is not a valid name")
    return host


def _wrong(why: str) -> ToolError:
    return ToolError("invalid_arguments", f"this URL cannot be fetched: {why}", hint=HINT)
