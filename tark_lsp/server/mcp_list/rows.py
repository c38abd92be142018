"""MCP servers and hooks as JSON for clients (docs/protocol.md, "MCP servers and hooks")."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from tark_lsp.errors import McpError
from tark_lsp.hooks.hook import Hook
from tark_lsp.hooks.pinning import is_approved, resolve_hook
from tark_lsp.mcp.names import tool_name
from tark_lsp.mcp.pin_store import PinStore
from tark_lsp.mcp.pins import Changes, Pin
from tark_lsp.mcp.server import McpServer, ServerState
from tark_lsp.mcp.server_config import Resolved, ServerConfig, resolve
from tark_lsp.mcp.server_tools import ServerTool, digest_of

NO_TRUST = "you do not trust this workspace, so no server starts in it"
LONGEST_DESCRIPTION = 500


class Shown(StrEnum):
    """The state of a server or hook in the list."""

    OFF = "off"
    WAITING = "waiting"
    CHANGED = "changed"
    STOPPED = "stopped"
    STARTING = "starting"
    RUNNING = "running"
    FAILED = "failed"
    NEEDS_LOGIN = "needsLogin"
    APPROVED = "approved"


RUNS = {
    ServerState.STOPPED: Shown.STOPPED,
    ServerState.STARTING: Shown.STARTING,
    ServerState.READY: Shown.RUNNING,
    ServerState.FAILED: Shown.FAILED,
    ServerState.NEEDS_LOGIN: Shown.NEEDS_LOGIN,
}


class ServerRow:
    """One server in the list. `server` is None for an offer that is not approved, and for a server that is disabled."""

    def __init__(
        self, config: ServerConfig, server: McpServer | None, pins: PinStore, folders: Sequence[Path], *, trusted: bool
    ) -> None:
        self.config = config
        self._server = server
        self.pin = pins.find(config.name, config.scope)
        self.resolved: Resolved | None = None
        try:
            self.resolved = resolve(config, folders)
            self.state, self.reason = self._state(self.resolved, trusted)
        except McpError as error:
            self.state, self.reason = Shown.FAILED, str(error)

    @property
    def changes(self) -> Changes:
        return Changes() if self._server is None else self._server.tools.changes

    def _state(self, resolved: Resolved, trusted: bool) -> tuple[Shown, str]:
        pin, server = self.pin, self._server
        if not self.config.settings.enabled:
            return Shown.OFF, "its settings say so (enabled)"
        if not trusted:
            return Shown.OFF, NO_TRUST
        if pin is None:
            return Shown.WAITING, "you have not approved it"
        if pin.command != resolved.digest:
            return Shown.CHANGED, "its command or URL is not as you approved it, so it is off"
        if pin.disabled:
            return Shown.OFF, "you switched it off"
        if self.changes:
            count = len(self.changes.off)
            return Shown.CHANGED, f"{count} of its tools {'is' if count == 1 else 'are'} not as you approved, so off"
        if server is None:
            return Shown.STOPPED, ""
        state = RUNS[server.state]
        fails = state in (Shown.FAILED, Shown.NEEDS_LOGIN)
        return state, str(server.error) if fails and server.error is not None else ""

    @property
    def news(self) -> str:
        """A digest of what waits for a yes; empty if nothing does."""
        if self.resolved is None or self.state not in (Shown.WAITING, Shown.CHANGED):
            return ""
        changed = [tool.digest for tool in (*(now for _, now in self.changes.changed), *self.changes.new)]
        gone = [tool.name for tool in self.changes.gone]
        return digest_of(["server", self.config.name, self.config.scope, self.resolved.digest, changed, gone])

    def json(self, own: Sequence[str]) -> dict[str, Any]:
        """`own`: the names of the servers in config.toml."""
        config, server = self.config, self._server
        origin = "project" if config.is_offer else "user" if config.name in own else "editor"
        return {
            "name": config.name,
            "origin": origin,
            "source": config.scope,
            "state": self.state,
            "reason": self.reason,
            "runs": self.resolved.shown
            if self.resolved is not None
            else config.settings.url or config.settings.command,
            "unconfined": server.unconfined if server is not None and self.state is Shown.RUNNING else "",
            "problems": list(server.tools.problems) if server is not None else [],
            "tools": list(self._tools()),
        }

    def _tools(self) -> Iterator[dict[str, Any]]:
        pin, changes = self.pin or Pin("", "", ()), self.changes
        states = {tool.name: "changed" for _, tool in changes.changed}
        states |= {tool.name: "new" for tool in changes.new} | {tool.name: "gone" for tool in changes.gone}
        for tool in sorted((*pin.tools, *changes.new), key=lambda tool: tool.name):
            listed = self.config.offers(tool.name)
            state = states.get(tool.name) or ("off" if tool.name in pin.off or not listed else "on")
            yield self._tool(tool, state, "" if listed else "its settings leave it out (tools)")

    def _tool(self, tool: ServerTool, state: str, reason: str) -> dict[str, Any]:
        name = tool_name(self.config.name, tool.name)
        description = tool.description[:LONGEST_DESCRIPTION]
        return {"name": tool.name, "fullName": name, "description": description, "state": state, "reason": reason}


class HookRow:
    """One hook in the list."""

    def __init__(self, hook: Hook, pins: PinStore, folders: Sequence[Path]) -> None:
        self.hook = hook
        self.pin = pins.find(hook.name, str(hook.source)) if hook.source is not None else None
        self.resolved: Resolved | None = None
        try:
            self.resolved = resolve_hook(hook, folders)
            self.state, self.reason = self._state(self.resolved, pins)
        except McpError as error:
            self.state, self.reason = Shown.FAILED, str(error)

    def _state(self, resolved: Resolved, pins: PinStore) -> tuple[Shown, str]:
        if not self.hook.settings.enabled:
            return Shown.OFF, "its settings say so (enabled)"
        if self.hook.source is None or is_approved(self.hook, resolved.digest, pins):
            return Shown.APPROVED, ""
        if self.pin is None:
            return Shown.WAITING, "you have not approved it"
        return Shown.CHANGED, "it is not as you approved it, so it does not run"

    @property
    def news(self) -> str:
        """A digest of what waits for a yes; empty if nothing does."""
        if self.resolved is None or self.state not in (Shown.WAITING, Shown.CHANGED):
            return ""
        return digest_of(["hook", self.hook.name, str(self.hook.source), self.resolved.digest])

    def json(self) -> dict[str, Any]:
        hook = self.hook
        return {
            "name": hook.name,
            "on": hook.settings.on,
            "origin": "user" if hook.source is None else "project",
            "source": "" if hook.source is None else str(hook.source),
            "state": self.state,
            "reason": self.reason,
            "runs": self.resolved.shown if self.resolved is not None else hook.settings.command,
        }
