"""Shows a server whole, starts it after a yes, shows its tools whole, and pins them after another yes."""

from collections.abc import Sequence
from pathlib import Path

from tark_lsp.cli.offer_questions import OfferQuestions, require_terminal
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.turn import DONE, NOT_DONE
from tark_lsp.cli.visible import one_line, visible, whole_line
from tark_lsp.mcp.launching import Surroundings
from tark_lsp.mcp.pin_store import PinStore
from tark_lsp.mcp.pins import compare, shown_changes, shown_tool
from tark_lsp.mcp.server import McpServer
from tark_lsp.mcp.server_config import Resolved, ServerConfig, resolve
from tark_lsp.mcp.server_tools import ServerTool

STYLES = {"+": "green", "-": "red", "@": "cyan"}


class Approval:
    def __init__(self, screen: Screen, folder: Path, pins: PinStore, around: Surroundings) -> None:
        self._screen = screen
        self._folder = folder
        self._pins = pins
        self._around = around
        self._questions = OfferQuestions(screen, folder)

    async def approve(self, config: ServerConfig) -> int:
        """Raises McpError if it cannot be started."""
        require_terminal()
        resolved = resolve(config, [self._folder])
        self._show(config, resolved)
        if config.is_offer and not await self._questions.is_trusted("server"):
            return self._refused()
        if not await self._questions.agreed("Start it, to see its tools?"):
            return self._refused()
        server = McpServer(config, self._pins, self._around)
        try:
            await server.open(resolved, None)
            tools = await server.list_tools()
            pin = server.pin_now(resolved, tools)
            if server.unconfined and not resolved.url:
                self._screen.print_line(f"it runs without a sandbox: {whole_line(server.unconfined)}", "yellow")
            before = self._pins.find(config.name, config.scope)
            changes = compare(before.tools if before is not None else (), tools)
            lines = shown_changes(changes) if before is not None else self._whole(server, tools)
            for line in lines:
                self._screen.print_line(visible(line), STYLES.get(line[:1], "none") if before else "none", exact=True)
            if before is not None and not changes:
                self._screen.print_line("its tools are as you approved them")
        finally:
            await server.aclose()
        if not await self._questions.agreed(f"Approve these {len(tools)} tools, exactly as they are shown?"):
            return self._refused()
        self._pins.write(pin)
        self._screen.print_line(f"approved: {config.name}, {len(tools)} tools", "green")
        return DONE

    def _show(self, config: ServerConfig, resolved: Resolved) -> None:
        settings, show = config.settings, self._screen.print_line
        show(f"{config.name}, from {whole_line(str(config.source))}" if config.is_offer else config.name, "bold")
        show(f"  {'connects to' if resolved.url else 'runs'}: {whole_line(resolved.shown)}")
        if not resolved.url:
            where = "in the sandbox, if there is one" if settings.sandbox else "without a sandbox"
            network = ", with network" if settings.network else ", without network"
            show(f"  where: {whole_line(str(resolved.cwd))}, {where}{network if settings.sandbox else ''}")
        for name, text in (*settings.env.items(), *settings.headers.items()):
            plain = config.is_offer or "${" in text  # a project has no keys of yours, but options that run something
            show(f"  gets {whole_line(name)} = {whole_line(text) if plain else '(a value of its own)'}")
        for script in resolved.scripts:
            show(f"  the approval is for the content of {whole_line(str(script))}")
        if resolved.warning:
            show(f"  {resolved.warning}", "yellow")

    def _whole(self, server: McpServer, tools: Sequence[ServerTool]) -> list[str]:
        facts = server.client.connection.facts
        lines = [f"it calls itself {one_line(facts.name) or '(nothing)'} and offers {len(tools)} tools"]
        if facts.instructions:
            lines += ["instructions, which no model gets:", *facts.instructions.split("\n")]
        for tool in tools:
            lines += ["", *shown_tool(tool)]
        return [*lines, *(f"left out: {problem}" for problem in server.problems)]

    def _refused(self) -> int:
        self._screen.print_line("nothing was approved", "yellow")
        return NOT_DONE
