"""Asks the user to approve a server: shows the whole command, starts it after a yes, shows all its tools, and pins them
after another yes."""

from pathlib import Path

from tark_lsp.cli.offer_questions import OfferQuestions, require_terminal
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.turn import DONE, NOT_DONE
from tark_lsp.cli.visible import visible, whole_line
from tark_lsp.errors import McpError
from tark_lsp.mcp.approving import Listed, Shown, compared, list_tools, sandbox_warning, shown_command
from tark_lsp.mcp.launching import Surroundings
from tark_lsp.mcp.pin_store import PinStore
from tark_lsp.mcp.server_config import Resolved, ServerConfig, resolve

STYLES = {"+": "green", "-": "red", "@": "cyan"}


class Approval:
    def __init__(self, screen: Screen, folder: Path, pins: PinStore, around: Surroundings) -> None:
        self._screen = screen
        self._folder = folder
        self._pins = pins
        self._around = around
        self._questions = OfferQuestions(screen, folder)

    async def approve(self, config: ServerConfig) -> int:
        """Returns the exit code. Raises McpError if the server cannot be started."""
        require_terminal()
        resolved = resolve(config, [self._folder])
        now = shown_command(config, resolved)
        before = self._pins.find(config.name, config.scope)
        changed = before is not None and before.command != resolved.digest
        self._show(compared(before.shown if before is not None and changed else (), now))
        if warning := await sandbox_warning(config, resolved, self._around):
            self._screen.print_line(whole_line(warning), "yellow")
        if config.is_offer and not await self._questions.is_trusted("server"):
            return self._refused()
        if not await self._questions.agreed("Start it, to see its tools?"):
            return self._refused()
        if not resolved.url:
            self._screen.print_line("it starts, which can take a minute the first time (Ctrl-C cancels)", "dim")
        listed = await self._listed(config, resolved)
        self._show(listed.shown)
        count = len(listed.pin.tools)
        these = "this tool, exactly as it is" if count == 1 else f"these {count} tools, exactly as they are"
        if not await self._questions.agreed(f"Approve {these} shown?"):
            return self._refused()
        self._pins.write(listed.pin)
        self._screen.print_line(f"approved: {config.name}, {count} {'tool' if count == 1 else 'tools'}", "green")
        return DONE

    async def _listed(self, config: ServerConfig, resolved: Resolved) -> Listed:
        """Lists the tools. Raises McpError with the name of the server."""
        try:
            return await list_tools(config, resolved, self._pins, self._around)
        except McpError as error:
            raise McpError(f"the MCP server {config.name}: {error.message}", hint=error.hint) from error

    def _show(self, shown: Shown) -> None:
        for line in shown.lines:
            style = STYLES.get(line[:1], "none") if shown.is_diff else "none"
            self._screen.print_line(visible(line), style, exact=True)

    def _refused(self) -> int:
        self._screen.print_line("nothing was approved", "yellow")
        return NOT_DONE
