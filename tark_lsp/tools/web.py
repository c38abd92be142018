"""Gets a page from the public internet. For each hop, the name is resolved once, and the checked address is used.

Redirects are followed only within a host (docs/tools.md, "Pages"). For another host, the model must make a new call,
which the user must allow. Proxies are not used, because a proxy would choose the address.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from tark_lsp import __version__
from tark_lsp.errors import ModelError, TarkError, ToolError
from tark_lsp.http import HttpRequest, HttpResponse, HttpTransport
from tark_lsp.tools.urls import PageUrl, redirected

MOST_BYTES = 2_000_000
MOST_REDIRECTS = 5
MOST_ADDRESSES = 4
"""How many addresses of a name are tried, in order: the machine may have no route for IPv6."""
SECONDS = 15.0
REDIRECTS = frozenset({301, 302, 303, 307, 308})
HEADERS = {
    "accept": "text/markdown, text/html;q=0.9, text/plain;q=0.8, application/json;q=0.7, */*;q=0.1",
    "user-agent": f"tark-lsp/{__version__}",
}

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a host. Raises OSError."""


@dataclass(frozen=True, slots=True)
class Page:
    """`elsewhere`: the target of a redirect that was not followed; then there is no body. `cut`: the body was cut."""

    url: PageUrl
    content_type: str
    body: bytes
    cut: bool = False
    elsewhere: PageUrl | None = None


async def addresses_of(host: str, port: int) -> Sequence[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


async def get_page(
    url: PageUrl,
    *,
    allowed: Callable[[str], bool],
    resolve: Resolve = addresses_of,
    seconds: float = SECONDS,
) -> Page:
    """Get a page. `allowed`: whether a connection to this address is allowed. Raises only ToolError."""
    transport = HttpTransport(anonymous=True)
    try:
        async with asyncio.timeout(seconds) as deadline:
            return await _get(transport, url, allowed, resolve)
    except TimeoutError as error:
        if not deadline.expired():
            raise
        raise ToolError("timeout", f"{url.place} took more than {seconds:g} s", hint="try again later") from error
    except ToolError:
        raise
    except TarkError as error:
        raise ToolError("internal", f"{url} could not be fetched: {error.message}") from error
    finally:
        await transport.aclose()


async def _get(transport: HttpTransport, url: PageUrl, allowed: Callable[[str], bool], resolve: Resolve) -> Page:
    for _ in range(MOST_REDIRECTS + 1):
        response = await _ask(transport, url, await _addresses(url, allowed, resolve))
        try:
            location = response.headers.get("location", "")
            if response.status not in REDIRECTS or not location:
                return await _read(url, response)
        finally:
            await response.aclose()
        target = redirected(url, location)
        if url.leads_elsewhere(target):
            return Page(url, "", b"", elsewhere=target)
        url = target
    raise ToolError("unsupported", f"{url.place} redirects more than {MOST_REDIRECTS} times")


async def _addresses(url: PageUrl, allowed: Callable[[str], bool], resolve: Resolve) -> Sequence[str]:
    """The addresses of the host. All must be allowed: a name with public and private addresses is an attack."""
    if _behind_proxy(url):
        raise ToolError(
            "unsupported",
            f"the environment sets a proxy for {url.place}, and pages are fetched without a proxy",
            hint="tell the person, who can add the host to NO_PROXY if it can be reached without one",
        )
    try:
        found = await resolve(url.host, url.port)
    except (OSError, UnicodeError) as error:
        raise ToolError("not_found", f"{url.host} could not be resolved: {error}", hint="check the URL") from error
    for address in found:
        if not allowed(address):
            shown = "" if address == url.host else f" has the address {address}, which"
            raise ToolError(
                "denied",
                f"{url.host}{shown} is not on the public internet",
                hint="only pages on the public internet can be fetched",
            )
    if not found:
        raise ToolError("not_found", f"{url.host} has no address", hint="check the URL")
    return found[:MOST_ADDRESSES]


def _behind_proxy(url: PageUrl) -> bool:
    """Whether a proxy is configured for this page. The user would not expect Tark to bypass it."""
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    return (url.scheme in proxies or "all" in proxies) and not proxy_bypass(url.place)


async def _ask(transport: HttpTransport, url: PageUrl, addresses: Sequence[str]) -> HttpResponse:
    failed: ModelError | None = None
    for address in addresses:
        try:
            return await transport.send(HttpRequest("GET", str(url), HEADERS, address=address))
        except ModelError as error:  # for example no route to this address; the next one can work
            failed = failed or error
    assert failed is not None  # there is at least one address
    raise failed


async def _read(url: PageUrl, response: HttpResponse) -> Page:
    if response.status >= 400:
        code = "not_found" if response.status in (404, 410) else "unsupported"
        raise ToolError(code, f"{url} answers with HTTP status {response.status}")
    body = bytearray()
    async for chunk in response.chunks:
        body += chunk
        if len(body) > MOST_BYTES:
            break
    return Page(url, response.headers.get("content-type", ""), bytes(body[:MOST_BYTES]), len(body) > MOST_BYTES)
