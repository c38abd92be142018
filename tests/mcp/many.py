"""120 tools of four servers, approved, in a bench whose session defers them."""

from typing import Any

from tark_lsp.agent.deferring import tools_to_defer, with_search
from tark_lsp.context.budget import Estimates
from tark_lsp.mcp.eras import Era
from tark_lsp.mcp.pins import Pin
from tark_lsp.mcp.server_config import resolve
from tark_lsp.mcp.server_tools import read_tools
from tark_lsp.tools.mcp_tool import mcp_tool
from tark_lsp.tools.tool import Tool
from tests.agent.bench import Bench
from tests.mcp.plain_server import many
from tests.mcp.servers import Desk

THINGS = {
    "hub": "issue label milestone branch release webhook",
    "chat": "channel message reaction thread member reminder",
    "wiki": "page space comment attachment template version",
    "ops": "dashboard alert incident runbook metric silence",
}


def many_tools(desk: Desk) -> dict[str, Tool[Any]]:
    """Without starting the servers: the pins are written as an approval would write them."""
    configs = [desk.plain("many", name, env={"TOY_THINGS": things}) for name, things in THINGS.items()]
    for config in configs:
        tools, _ = read_tools(many(THINGS[config.name]))
        digest = resolve(config, [desk.folder]).digest
        desk.pins.write(Pin(config.name, digest, tools, config.scope, Era.LEGACY, unconfined=True))
    desk.servers.configure(configs)
    return {offered.name: mcp_tool(offered) for offered in desk.servers.tools()}


def defer_many(bench: Bench, desk: Desk) -> None:
    own, found = bench.tools, many_tools(desk)
    tools = {**own, **found}
    bench.session.deferred = tools_to_defer(tools, "p/m", 200_000, Estimates())
    bench.tools = dict(with_search(tools, bench.session.deferred))
