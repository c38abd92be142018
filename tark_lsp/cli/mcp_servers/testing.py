"""`tark-lsp mcp test`: starts an approved server in a folder that the user trusts, lists its tools, and calls one."""

import json
from typing import Any

from tark_lsp.cli.mcp_servers.approval import Approval
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.turn import DONE, NOT_DONE
from tark_lsp.cli.visible import one_line, visible, whole_line
from tark_lsp.errors import RequestError
from tark_lsp.mcp.client import Call
from tark_lsp.mcp.pins import Changes, Pin
from tark_lsp.mcp.server import McpServer


async def try_server(screen: Screen, approval: Approval, server: McpServer, tool: str | None, arguments: str) -> int:
    """Returns the exit code. `tool`: call this tool; None to call none. `arguments`: a JSON object. Raises TarkError.
    A wrong tool or argument is reported before the server starts."""
    name = server.config.name
    given = _object(arguments)
    pin = server.approved()
    approved = pin.find(tool) if tool is not None else None
    if tool is not None and approved is None:
        hint = f"tark-lsp mcp test {name} lists its tools; tark-lsp mcp approve {name} shows new ones"
        raise RequestError(f"you have not approved a tool {one_line(tool)!r} of {name}", hint=hint)
    if not await approval.is_trusted(server.config):
        screen.print_line("nothing was started", "yellow")
        return NOT_DONE
    try:
        await server.ready()
        facts = server.client.connection.facts
        screen.print_line(f"{one_line(facts.name)} speaks {facts.version}", "green")
        changes = server.tools.changes
        for line in _rows(server.approved(), changes):
            screen.print_line(line)
        for problem in server.tools.problems:
            screen.print_line(whole_line(problem), "yellow")
        if changes:
            screen.print_line(f"tark-lsp mcp approve {name} shows what changed", "yellow")
        if approved is None:
            return DONE
        content = await server.call_tool(Call(approved, given))
        screen.print_line(visible(content.text), "red" if content.is_error else "none", exact=True)
        return NOT_DONE if content.is_error else DONE
    finally:
        await server.aclose()


def _rows(pin: Pin, changes: Changes) -> list[str]:
    """A line for each tool: those that the user approved, then new ones."""
    off = {
        **dict.fromkeys(pin.off, "you switched it off"),
        **{now.name: "it changed" for _, now in changes.changed},
        **{tool.name: "it is gone" for tool in changes.gone},
        **{tool.name: "it is new" for tool in changes.new},
    }
    names = [tool.name for tool in (*pin.tools, *changes.new)]
    return [f"  {one_line(name)}{f' (off: {off[name]})' if name in off else ''}" for name in names]


def _object(text: str) -> dict[str, Any]:
    """Raises RequestError."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"the arguments are not JSON: {error}") from error
    if not isinstance(value, dict):
        raise RequestError("the arguments are not a JSON object", hint='write them as \'{"name": "value"}\'')
    return value
