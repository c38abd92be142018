"""The addresses of a host that Tark may connect to: public ones only, unless the host is configured as private."""

import asyncio
import socket
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from tark_lsp.errors import McpError
from tark_lsp.mcp.http_requests import Addresses


def addresses_of(url: str, is_public: Callable[[str], bool], *, private: bool) -> Addresses:
    """`is_public`: whether an address is on the public internet. `private`: any address is allowed."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)

    async def find() -> Sequence[str]:
        if private or _behind_proxy(parts.scheme, host):
            return ()
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise McpError(f"{host} could not be resolved: {error}", hint="check its URL and the network") from error
        addresses = list(dict.fromkeys(str(place[0]) for *_, place in found))
        if bad := [address for address in addresses if not is_public(address)]:
            raise McpError(
                f"{host} has the private address {bad[0]}",
                hint="set privateHost = true for this server if that is right",
            )
        return addresses

    return find


def _behind_proxy(scheme: str, host: str) -> bool:
    """Whether a proxy connects to the host. Then the proxy resolves its name."""
    from urllib.request import getproxies, proxy_bypass  # half of this module's import time

    proxies = getproxies()
    return (scheme in proxies or "all" in proxies) and not proxy_bypass(host)
