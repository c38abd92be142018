"""The actions on hooks in the list: show, approve, remove. The user's own hooks need no approval."""

import time
from collections.abc import Callable
from typing import Any

from tark_lsp.errors import McpError, RequestError
from tark_lsp.hooks.pinning import approve, shown_hook
from tark_lsp.mcp.approving import compared
from tark_lsp.mcp.server_config import Resolved
from tark_lsp.server.mcp_list.current import CurrentList
from tark_lsp.server.mcp_list.rows import HookRow
from tark_lsp.server.protocol import command_payloads as payloads
from tark_lsp.visible import visible_code


class HookActions:
    """Every method raises RequestError, with a sentence for the user."""

    def __init__(self, current: CurrentList, changed: Callable[[], None]) -> None:
        """`changed` is called when the list changes."""
        self._current = current
        self._changed = changed

    async def list(self, _: payloads.Nothing) -> dict[str, Any]:
        rows, problems = self._current.hooks()
        return {"hooks": [row.json() for row in rows], "problems": list(problems)}

    async def show(self, request: payloads.ServerName) -> dict[str, Any]:
        """The whole hook, as a diff if it changed since the approval."""
        row = self._current.hook(request.name)
        resolved = _resolved(row)
        approved = row.pin is not None and row.pin.command == resolved.digest
        shown = compared(row.pin.shown if row.pin is not None and not approved else (), _lines(row, resolved))
        text = "\n".join(shown.lines) + "\n"
        return {"text": text, "isDiff": shown.is_diff, "digest": resolved.digest, "approved": approved}

    async def approve(self, request: payloads.ShownServer) -> dict[str, Any]:
        """Approves the hook, if it still has the digest that `show` returned."""
        row = self._current.hook(request.name)
        resolved = _resolved(row)
        if row.hook.source is None:
            raise RequestError("it is your own hook, which needs no approval")
        if resolved.digest != request.digest:
            raise RequestError("it changed meanwhile", hint="show it again")
        try:
            approve(row.hook, resolved.digest, _lines(row, resolved), self._current.hook_pins(), time.time())
        except McpError as error:
            raise RequestError(error.message, hint=error.hint) from error
        self._changed()
        return {"approved": True}

    async def remove(self, request: payloads.ServerName) -> dict[str, Any]:
        """Removes the approval. `left`: the file of the hook's configuration, which stays."""
        row = self._current.hook(request.name)
        if row.hook.source is None:
            raise RequestError("it is your own hook", hint="remove it from your config.toml or settings")
        try:
            self._current.hook_pins().remove(row.hook.name, str(row.hook.source))
        except McpError as error:
            raise RequestError(error.message, hint=error.hint) from error
        self._changed()
        return {"left": str(row.hook.source)}


def _lines(row: HookRow, resolved: Resolved) -> list[str]:
    source = [f"from {row.hook.source}"] if row.hook.source is not None else []
    lines = [*source, *shown_hook(row.hook, resolved)]
    return [visible_code(line).replace("\n", "⏎") for line in lines]  # so that no text can imitate a line


def _resolved(row: HookRow) -> Resolved:
    if row.resolved is None:
        raise RequestError(f"the hook {row.hook.name} cannot run: {row.reason}")
    return row.resolved
