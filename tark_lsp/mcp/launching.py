"""Creates the transport of a server: its process, in the sandbox if possible, or its HTTP endpoint."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tark_lsp.errors import McpError
from tark_lsp.http import is_loopback
from tark_lsp.mcp.addresses import addresses_of
from tark_lsp.mcp.http_requests import Endpoint, is_private_host
from tark_lsp.mcp.pins import Pin
from tark_lsp.mcp.server_config import Resolved, ServerConfig, expand_all
from tark_lsp.mcp.server_log import ServerLog
from tark_lsp.mcp.stdio import Program, StdioTransport
from tark_lsp.mcp.token_store import TokenStore
from tark_lsp.mcp.transport import Transport
from tark_lsp.workspace.environment import command_environment

if TYPE_CHECKING:  # loaded with the first server that needs them
    from tark_lsp.mcp.login import Login
    from tark_lsp.sandbox.sandbox import Sandbox

MARKER = "TARK_MCP_SERVER"
READ_VARIABLES = 'while IFS= read -r line && [ -n "$line" ]; do export "$line"; done; exec "$@"'
"""A shell reads the configured variables from stdin, because all users can read the sandbox's command line."""
IN_SANDBOX = (
    "it runs in the sandbox: {}your home folder is hidden, and the workspace cannot be written to (docs/mcp.md)"
)


@dataclass(frozen=True)
class Surroundings:
    """`sandbox()` is None if the settings turn it off. `sandbox_required()`: whether nothing may run without it.
    `is_public(address)`: whether an address is on the public internet. `tokens`: the user's logins at servers."""

    folders: Callable[[], Sequence[Path]]
    environ: Mapping[str, str] = field(repr=False)
    sandbox: "Callable[[], Sandbox | None]" = lambda: None
    sandbox_required: Callable[[], bool] = lambda: False
    is_public: Callable[[str], bool] = lambda _: True
    tokens: TokenStore = field(default_factory=TokenStore, repr=False)


async def make_transport(
    config: ServerConfig,
    resolved: Resolved,
    around: Surroundings,
    stack: AsyncExitStack,
    server_log: ServerLog | None = None,
    pin: Pin | None = None,
) -> tuple[Transport, str]:
    """The transport, and why the program runs without a sandbox. The reason is empty if it runs in one, or if there is
    no program.

    Everything that must be closed with the server is pushed to `stack`. `pin` is what the user approved, or None while
    they are asked. Raises McpError, also if there is no sandbox and the user approved the server for one.
    """
    if resolved.url:
        from tark_lsp.mcp.streamable_http import StreamableHttp  # most servers are programs

        return StreamableHttp(endpoint_of(config, resolved, around)), ""
    confined_only = pin is not None and not pin.unconfined
    program, why_not = await _program(config, resolved, around, stack, confined_only=confined_only)
    return StdioTransport(config.name, program, server_log), why_not


async def why_unconfined(config: ServerConfig, around: Surroundings) -> str:
    """Why the server's program would run without a sandbox; empty if it would run in one."""
    if not config.settings.sandbox:
        return "its settings say so"
    sandbox = around.sandbox()
    if sandbox is None:
        return "the sandbox is turned off"
    return "" if await sandbox.check() else sandbox.why_not


async def _program(
    config: ServerConfig,
    resolved: Resolved,
    around: Surroundings,
    stack: AsyncExitStack,
    *,
    confined_only: bool,
) -> tuple[Program, str]:
    own = expand_all(config.settings.env, around.environ)
    plain = command_environment(around.environ, f"{MARKER}={config.name}")
    why_not = await why_unconfined(config, around)
    if not why_not and (sandbox := around.sandbox()) is not None:
        return await _confined(config, resolved, plain, own, sandbox, stack), ""
    if around.sandbox_required():
        raise McpError(f"it would run without a sandbox, but your settings require one: {why_not}")
    if confined_only and config.settings.sandbox:
        raise McpError(
            f"you approved it for the sandbox, but it would run without one: {why_not}",
            hint=f"approve it again in your editor's list of MCP servers, or with `tark-lsp mcp approve {config.name}`",
        )
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


def endpoint_of(config: ServerConfig, resolved: Resolved, around: Surroundings, *, login: bool = True) -> Endpoint:
    """The endpoint of a server over HTTP. `login`: use the user's login, if there is one. Raises McpError."""
    headers = expand_all(config.settings.headers, around.environ)
    addresses = addresses_of(resolved.url, around.is_public, private=is_private(config, resolved))
    return Endpoint(resolved.url, headers, addresses, _login(config, resolved, around) if login else None)


def is_private(config: ServerConfig, resolved: Resolved) -> bool:
    """Whether the user said that the server has a private address."""
    return config.settings.private_host or is_private_host(resolved.url)


def can_log_in(config: ServerConfig, resolved: Resolved) -> bool:
    """Tokens are sent only over https or to this machine, and not if the user set `Authorization` themselves."""
    own = any(name.lower() == "authorization" for name in config.settings.headers)
    return not own and (resolved.url.startswith("https://") or is_loopback(resolved.url))


def _login(config: ServerConfig, resolved: Resolved, around: Surroundings) -> "Login | None":
    if not can_log_in(config, resolved):
        return None
    from tark_lsp.mcp.extra import refresh_over
    from tark_lsp.mcp.login import Login, LoginTarget

    private = is_private(config, resolved)
    target = LoginTarget(config.name, config.scope, resolved.url)
    return Login(target, around.tokens, refresh_over(around.is_public, private=private))
