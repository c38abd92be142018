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
        if not await self.is_trusted(config):
            return self._refused()
        if not await self._questions.agreed(f"{'Connect to' if resolved.url else 'Start'} it, to see its tools?"):
            return self._refused()
        if not resolved.url:
            self._screen.print_line("it starts, which can take a minute the first time (Ctrl-C cancels)", "dim")
        listed = await self._listed(config, resolved)
        self._show(listed.shown)
        if before is not None and not (changed or listed.differs or before.disabled or before.needs_login):
            self._screen.print_line(f"nothing changed: {config.name} is approved, {_count(listed)}", "green")
            return DONE
        if not await self._questions.agreed(_question(listed)):
            return self._refused()
        self._pins.write(listed.pin)
        self._screen.print_line(f"approved: {config.name}, {_count(listed)}", "green")
        return DONE

    async def is_trusted(self, config: ServerConfig) -> bool:
        """Whether the server can start in this folder: the user trusts the folder, or the server is a URL of theirs, so
        that no code of the folder runs. Asks them if they have not said so. Raises RequestError without a terminal."""
        if config.is_offer:
            return await self._questions.is_trusted("server")
        is_program = config.settings.url is None
        return not is_program or await self._questions.is_trusted("server", "can run code of the folder")

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


def _question(listed: Listed) -> str:
    if not listed.shows_tools:
        return "Approve it with the tools that you approved before?"
    if listed.shown.is_diff:
        return "Approve these changes, exactly as they are shown?"
    count = len(listed.pin.tools)
    these = "this tool, exactly as it is" if count == 1 else f"these {count} tools, exactly as they are"
    return f"Approve {these} shown?"


def _count(listed: Listed) -> str:
    count = len(listed.pin.tools)
    return f"{count} {'tool' if count == 1 else 'tools'}"
