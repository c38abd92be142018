"""Makes the transport of a server: its process, in the sandbox if there is one, or its HTTP endpoint."""

import asyncio
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tark_lsp.errors import McpError
from tark_lsp.mcp.http_requests import Addresses, Endpoint, is_private_host
from tark_lsp.mcp.server_config import Resolved, ServerConfig, expand_all
from tark_lsp.mcp.server_log import ServerLog
from tark_lsp.mcp.stdio import Program, StdioTransport
from tark_lsp.mcp.transport import Transport
from tark_lsp.workspace.environment import command_environment

if TYPE_CHECKING:  # loaded with the first server that runs in it
    from tark_lsp.sandbox.sandbox import Sandbox

MARKER = "TARK_MCP_SERVER"
READ_VARIABLES = 'while IFS= read -r line && [ -n "$line" ]; do export "$line"; done; exec "$@"'
"""A shell reads the configured variables from stdin, because everybody can read the command line of the sandbox."""
IN_SANDBOX = (
    "it runs in the sandbox: {}your home folder is hidden, and the workspace cannot be written to (docs/mcp.md)"
)


@dataclass(frozen=True)
class Surroundings:
    """`sandbox`: None if the settings turn it off. `sandbox_required`: nothing runs without it. `is_public`: whether
    an address is on the public internet."""

    folders: Callable[[], Sequence[Path]]
    environ: Mapping[str, str] = field(repr=False)
    sandbox: "Callable[[], Sandbox | None]" = lambda: None
    sandbox_required: Callable[[], bool] = lambda: False
    is_public: Callable[[str], bool] = lambda _: True


async def make_transport(
    config: ServerConfig,
    resolved: Resolved,
    around: Surroundings,
    stack: AsyncExitStack,
    server_log: ServerLog | None = None,
) -> tuple[Transport, str]:
    """The transport, and why the program runs without a sandbox; empty if it runs in one, or there is no program.

    What has to end with the server is put on `stack`. Raises McpError.
    """
    if resolved.url:
        from tark_lsp.mcp.streamable_http import StreamableHttp  # most servers are programs

        headers = expand_all(config.settings.headers, around.environ)
        return StreamableHttp(Endpoint(resolved.url, headers, _addresses(config, around.is_public))), ""
    program, why_not = await _program(config, resolved, around, stack)
    return StdioTransport(config.name, program, server_log), why_not


async def _program(
    config: ServerConfig, resolved: Resolved, around: Surroundings, stack: AsyncExitStack
) -> tuple[Program, str]:
    own = expand_all(config.settings.env, around.environ)
    plain = command_environment(around.environ, f"{MARKER}={config.name}")
    sandbox = around.sandbox() if config.settings.sandbox else None
    why_not = "its settings say so" if not config.settings.sandbox else "the sandbox is turned off"
    if sandbox is not None and await sandbox.check():
        return await _confined(config, resolved, plain, own, sandbox, stack), ""
    if sandbox is not None:
        why_not = sandbox.why_not
    if around.sandbox_required():
        raise McpError(f"it would run without a sandbox, which your settings require: {why_not}")
    return Program(resolved.argv, resolved.cwd, {**plain, **own}), why_not


async def _confined(
    config: ServerConfig,
    resolved: Resolved,
    plain: Mapping[str, str],
    own: Mapping[str, str],
    sandbox: "Sandbox",
    stack: AsyncExitStack,
) -> Program:
    from tark_lsp.sandbox.plan import Needs
    from tark_lsp.sandbox.sandbox import NotSandboxed

    argv = ("/bin/sh", "-c", READ_VARIABLES, "sh", *resolved.argv) if own else resolved.argv
    needs = Needs(read_only=True, network=config.settings.network)
    try:
        run = await stack.enter_async_context(sandbox.run(argv, resolved.cwd, plain, needs))
    except NotSandboxed as error:
        raise McpError(
            f"the sandbox cannot be set up for it: {error}", hint="set sandbox = false for this server if you trust it"
        ) from error
    lines = "".join(f"{name}={value}\n" for name, value in own.items())
    network = "" if config.settings.network else "it has no network, "
    hint = IN_SANDBOX.format(network)
    return Program(run.argv, run.cwd, run.env, f"{lines}\n".encode() if own else b"", hint)


def _addresses(config: ServerConfig, is_public: Callable[[str], bool]) -> Addresses:
    """A name must lead to the public internet, unless the configuration says that it is private."""
    url = urlsplit(config.settings.url or "")
    host, port = url.hostname or "", url.port or (443 if url.scheme == "https" else 80)

    async def find() -> Sequence[str]:
        if (
            config.settings.private_host
            or is_private_host(config.settings.url or "")
            or _behind_proxy(url.scheme, host)
        ):
            return ()
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise McpError(f"{host} could not be resolved: {error}", hint="check its URL and the network") from error
        addresses = list(dict.fromkeys(str(place[0]) for *_, place in found))
        if private := [address for address in addresses if not is_public(address)]:
            raise McpError(
                f"{host} has the private address {private[0]}",
                hint="set privateHost = true for this server if that is right",
            )
        return addresses

    return find


def _behind_proxy(scheme: str, host: str) -> bool:
    """Then the proxy finds the address."""
    from urllib.request import getproxies, proxy_bypass  # half of the time that all of this takes to import

    proxies = getproxies()
    return (scheme in proxies or "all" in proxies) and not proxy_bypass(host)
