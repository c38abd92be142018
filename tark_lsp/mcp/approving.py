"""What the user sees of a server before they approve it, and the pin that their approval creates.

There are two steps. The user first approves the command or URL. Then the server starts, and they approve the tools that
it lists. The terminal commands and the language server share this code.
"""

import difflib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tark_lsp.mcp.connector import Connector
from tark_lsp.mcp.eras import ServerFacts
from tark_lsp.mcp.launching import Surroundings, why_unconfined
from tark_lsp.mcp.opening import FIRST_SECONDS
from tark_lsp.mcp.pin_store import PinStore
from tark_lsp.mcp.pins import Pin, compare, shown_changes, shown_tool
from tark_lsp.mcp.server_config import Resolved, ServerConfig
from tark_lsp.mcp.server_log import ServerLog
from tark_lsp.mcp.server_tools import ServerTool
from tark_lsp.mcp.tool_list import offered_tools
from tark_lsp.visible import visible_code


@dataclass(frozen=True, slots=True)
class Shown:
    """`lines` for the user. `is_diff`: they are a diff from what was approved to what is there now."""

    lines: tuple[str, ...]
    is_diff: bool = False


@dataclass(frozen=True, slots=True)
class Listed:
    """What a server offers now. If the user approves `shown`, `pin` is written. `differs`: the tools are not those that
    were approved before."""

    shown: Shown
    pin: Pin
    differs: bool
    unconfined: str = ""
    """Why the server ran without a sandbox; empty if it ran in one."""
    shows_tools: bool = True
    """Whether `shown` has the tools. False if they are those that were approved before."""


def shown_command(config: ServerConfig, resolved: Resolved) -> list[str]:
    """Everything that is approved of a command or URL. The user's own values are hidden, because they can be keys. An
    offer's values are shown, because they can make a program run something."""
    settings = config.settings
    lines = [f"{config.name}, from {config.source}" if config.is_offer else config.name]
    lines.append(f"  {'connects to' if resolved.url else 'runs'}: {resolved.shown}")
    if not resolved.url:
        network = "with network" if settings.network else "without network"
        lines.append(f"  where: {resolved.cwd}")
        lines.append(f"  sandbox: {f'on, {network}' if settings.sandbox else 'off'}")
    for name, text in (*settings.env.items(), *settings.headers.items()):
        lines.append(f"  gets {name} = {text if config.is_offer or '${' in text else '(a value of its own)'}")
    lines += resolved.shown_scripts
    lines += [f"  {resolved.warning}"] if resolved.warning else []
    return [visible_code(line).replace("\n", "⏎") for line in lines]  # so that no text can imitate a line


async def sandbox_warning(config: ServerConfig, resolved: Resolved, around: Surroundings) -> str:
    """A line for the user if the sandbox is on but does not work here; else empty. It is not part of the pin."""
    if resolved.url or not config.settings.sandbox or not (why := await why_unconfined(config, around)):
        return ""
    return f"  there is no sandbox here, so it would run without one: {visible_code(why)}"


def compared(before: Sequence[str], now: Sequence[str]) -> Shown:
    """The lines about a command or hook, as a diff from those approved before. `before` is empty if there were none."""
    if not before:
        return Shown(tuple(now))
    if tuple(before) == tuple(now):
        return Shown((*now, "", "changed: a value that is not shown"))
    return Shown(tuple(difflib.unified_diff(before, now, "approved", "now", lineterm="", n=100)), is_diff=True)


async def list_tools(
    config: ServerConfig,
    resolved: Resolved,
    pins: PinStore,
    around: Surroundings,
    keep_log: Callable[[list[str]], None] = lambda _: None,
) -> Listed:
    """Starts the server, whose command the user approved, lists its tools, and stops it. `keep_log` gets its log.
    Raises McpError."""
    server_log = ServerLog()
    connector = Connector(config, around, server_log)
    try:
        facts = await connector.open(resolved, None, seconds=FIRST_SECONDS)
        tools, problems = await offered_tools(config.name, connector.client)
        shown = tuple(shown_command(config, resolved))
        without = bool(connector.unconfined)
        pin = Pin(config.name, resolved.digest, tools, config.scope, facts.era, time.time(), shown, unconfined=without)
        before = pins.find(config.name, config.scope)
        if before is None:
            return Listed(Shown(tuple(_whole(facts, tools, problems))), pin, True, connector.unconfined)
        changes = compare(before.tools, tools)
        lines = shown_changes(changes) or ["its tools are as you approved them"]
        kept = replace(pin, off=tuple(name for name in before.off if pin.find(name) is not None))
        differs = bool(changes) or kept.unconfined != before.unconfined
        return Listed(Shown(tuple(lines), bool(changes)), kept, differs, connector.unconfined, bool(changes))
    finally:
        keep_log(server_log.lines())
        await connector.aclose()


def _whole(facts: ServerFacts, tools: Sequence[ServerTool], problems: Sequence[str]) -> list[str]:
    count = "1 tool" if len(tools) == 1 else f"{len(tools)} tools"
    lines = [f"it calls itself {visible_code(facts.name) or '(nothing)'} and offers {count}"]
    if facts.instructions:
        lines += ["instructions, which no model gets:", *map(visible_code, facts.instructions.split("\n"))]
    for tool in tools:
        lines += ["", *shown_tool(tool)]
    return [*lines, *(visible_code(f"left out: {problem}") for problem in problems)]
