"""Approval: compares a server's configuration, as it is now, with the pin that the user approved."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tark_lsp.errors import McpError
from tark_lsp.mcp.pin_store import PinStore
from tark_lsp.mcp.pins import Pin
from tark_lsp.mcp.resolving import Resolver
from tark_lsp.mcp.server_config import Resolved, ServerConfig


class Approval:
    def __init__(self, config: ServerConfig, pins: PinStore, folders: Callable[[], Sequence[Path]]) -> None:
        self._config = config
        self._pins = pins
        self._folders = folders
        self._resolver = Resolver(config)

    @property
    def pin(self) -> Pin | None:
        """What the user approved, even if it does not match the configuration any more."""
        return self._pins.find(self._config.name, self._config.scope)

    def holding(self) -> Pin:
        """The pin, if it matches the configuration and the server is switched on. Raises McpError."""
        return self.holding_for(self._resolver.resolve(self._folders()))

    def holding_for(self, resolved: Resolved) -> Pin:
        """The pin, if it matches this command or URL and the server is switched on. Raises McpError."""
        pin = self.pin
        hint = f"approve it in your editor's list of MCP servers, or with `tark-lsp mcp approve {self._config.name}`"
        if pin is None:
            raise McpError("you have not approved it", hint=hint)
        if pin.command != resolved.digest:
            raise McpError("its command, a file that it names, or its URL changed since you approved it", hint=hint)
        if pin.disabled:
            raise McpError("you switched it off", hint="switch it on in the list of MCP servers")
        return pin

    def note(self, resolved: Resolved, **found: Any) -> None:
        """Set fields of the stored pin to what a start found. The pin is read again first, so the user's changes
        meanwhile are kept, and a pin that they removed stays removed."""
        pin = self.pin
        if pin is not None and pin.command == resolved.digest:
            changed = replace(pin, **found)
            if changed != pin:
                self._pins.write(changed)
