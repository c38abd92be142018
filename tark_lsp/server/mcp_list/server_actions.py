"""The actions on MCP servers in the list: add, show, approve, switch, restart, log, remove."""

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tark_lsp.errors import McpError, RequestError, SettingsError
from tark_lsp.folders import user_config_path
from tark_lsp.mcp.approving import Listed, compared, list_tools, sandbox_warning, shown_command
from tark_lsp.mcp.command_line import proposed_name, read_command_line
from tark_lsp.mcp.config_text import add_server, configured, remove_server
from tark_lsp.mcp.names import SERVER
from tark_lsp.mcp.offers import validated
from tark_lsp.mcp.pins import Pin
from tark_lsp.mcp.server import McpServer
from tark_lsp.mcp.server_config import Resolved
from tark_lsp.mcp.server_tools import digest_of
from tark_lsp.mcp.token_store import entry_of
from tark_lsp.redaction import environment_secrets, redact
from tark_lsp.server.mcp_list.current import CurrentList
from tark_lsp.server.mcp_list.rows import NO_TRUST, ServerRow
from tark_lsp.server.protocol import command_payloads as payloads


class ServerActions:
    """Every method raises RequestError, with a sentence for the user."""

    def __init__(self, current: CurrentList, changed: Callable[[], None], known: Callable[[str], object]) -> None:
        """`changed` is called when the list changes, `known` with the digest of news that the user knows already."""
        self._current = current
        self._known = known
        self._changed = changed
        self._listed: dict[str, Listed] = {}
        """By server name: the tools that the user saw last."""
        self._logs: dict[str, list[str]] = {}
        """By server name: the log of the last run for `inspect`."""

    async def list(self, _: payloads.Nothing) -> dict[str, Any]:
        rows, problems = self._current.servers()
        own = configured(user_config_path())
        return {
            "trusted": self._current.is_trusted(),
            "canTrust": self._current.configuration.settings.workspace_trusted is None,
            "servers": [row.json(own) for row in rows],
            "problems": list(problems),
        }

    async def add(self, request: payloads.AddServer) -> dict[str, Any]:
        """Adds a server to config.toml. It is not started."""
        taken = self._current.configuration.settings.mcp.servers
        try:
            program = read_command_line(request.run)
            name = request.name or proposed_name(program, taken)
            settings = validated({**program, "sandbox": request.sandbox, "network": request.network})
        except ValueError as error:
            raise RequestError(str(error)) from error
        if not SERVER.fullmatch(name) or name in taken:
            why = "is the name of another server" if name in taken else "cannot be the name of a server"
            raise RequestError(f"{name!r} {why}", hint="use at most 20 of the characters a-z, 0-9 and -")
        try:
            add_server(user_config_path(), name, settings)
        except SettingsError as error:
            raise RequestError(error.message, hint=error.hint) from error
        self._current.configuration.reload()
        self._known(self._current.server(name).news)
        return {"name": name}

    async def show(self, request: payloads.ServerName) -> dict[str, Any]:
        """The server's command or URL, as a diff if it changed since the approval. Starts nothing."""
        row = self._current.server(request.name)
        resolved = self._resolved(row)
        now = shown_command(row.config, resolved)
        pin = row.pin
        shown = compared(pin.shown if pin is not None and pin.command != resolved.digest else (), now)
        warning = await sandbox_warning(row.config, resolved, self._current.mcp.sources.around())
        lines = (*shown.lines, warning) if warning else shown.lines
        approved = pin is not None and pin.command == resolved.digest and (not warning or pin.unconfined)
        return {**_text(lines, shown.is_diff), "digest": resolved.digest, "approved": approved}

    async def inspect(self, request: payloads.ShownServer) -> dict[str, Any]:
        """Starts the server, lists its tools, and stops it. Returns the tools, as a diff from the approved ones."""
        row = self._current.server(request.name)
        resolved = self._agreed(row, request.digest)
        try:
            listed = await list_tools(
                row.config,
                resolved,
                self._current.mcp.sources.pins(),
                self._current.mcp.sources.around(),
                lambda lines: self._logs.update({request.name: lines}),
            )
        except McpError as error:
            raise RequestError(
                f"the MCP server {request.name} does not work: {error.message}", hint=error.hint
            ) from error
        self._listed[request.name] = listed
        shown = listed.shown
        return {
            **_text(shown.lines, shown.is_diff),
            "digest": _digest(listed.pin),
            "tools": len(listed.pin.tools),
            "differs": listed.differs or row.pin is None or row.pin.command != resolved.digest,
            "unconfined": "" if resolved.url else listed.unconfined,
        }

    async def approve(self, request: payloads.ShownServer) -> dict[str, Any]:
        """Approves the server if it still has the digest that `inspect` returned, and starts it."""
        listed = self._listed.get(request.name)
        if listed is None or _digest(listed.pin) != request.digest:
            raise RequestError("this is not what was shown last of the server", hint="show it again, then approve it")
        row = self._current.server(request.name)
        self._agreed(row, listed.pin.command)
        self._write(listed.pin)
        del self._listed[request.name]
        await self._restart(request.name)
        return {"approved": True}

    async def switch(self, request: payloads.SwitchServer) -> dict[str, Any]:
        """Switches a server or one of its tools on or off. Only approved ones can be switched on."""
        row = self._current.server(request.name)
        pin = row.pin
        if pin is None:
            raise RequestError("you have not approved it, so it is off", hint="approve it")
        if request.tool is None:
            self._write(replace(pin, disabled=not request.on))
            await self._restart(request.name)
            return {"on": request.on}
        if pin.find(request.tool) is None:
            raise RequestError(f"you have not approved a tool {request.tool!r} of it", hint="approve it")
        off = {*pin.off} - {request.tool} if request.on else {*pin.off, request.tool}
        self._write(replace(pin, off=tuple(sorted(off))))
        self._changed()
        return {"on": request.on}

    async def restart(self, request: payloads.ServerName) -> dict[str, Any]:
        row = self._current.server(request.name)
        server = self._running(request.name)
        if not self._current.is_trusted():
            raise RequestError(NO_TRUST, hint="trust the workspace first")
        if server is None:
            raise RequestError(row.reason or "it is off", hint="approve it")
        try:
            server.approved()
        except McpError as error:
            raise RequestError(error.message, hint=error.hint) from error
        await self._restart(request.name)
        return {"restarted": True}

    async def log(self, request: payloads.ServerName) -> dict[str, Any]:
        """The server's events and its stderr, without keys of the environment."""
        row = self._current.server(request.name)
        server = self._running(request.name)
        lines = [*self._logs.get(request.name, ()), *(server.log.lines() if server is not None else ())]
        text = "\n".join(lines) or f"nothing yet: {row.reason or 'it was not started'}"
        return {"text": redact(text, environment_secrets(os.environ))}

    async def remove(self, request: payloads.ServerName) -> dict[str, Any]:
        """Removes the approval, the login, and the table in config.toml. `left`: the place of a configuration that
        stays; empty if none does."""
        row = self._current.server(request.name)
        left = row.config.scope
        if row.config.source is None:
            try:
                left = "" if remove_server(user_config_path(), request.name) else "the settings of your editor"
            except SettingsError as error:
                raise RequestError(error.message, hint=error.hint) from error
        try:
            self._current.mcp.sources.pins().remove(request.name, row.config.scope)
            if row.config.settings.url is not None:
                await self._current.mcp.sources.around().tokens.delete(entry_of(request.name, row.config.scope))
        except McpError as error:
            raise RequestError(error.message, hint=error.hint) from error
        if (running := self._current.mcp.servers()) is not None:
            await running.end(request.name)
        self._current.configuration.reload()
        self._changed()
        return {"left": left}

    def _running(self, name: str) -> McpServer | None:
        servers = self._current.mcp.servers()
        return servers.find(name) if servers is not None else None

    async def _restart(self, name: str) -> None:
        """Restarts the server with its current pin. It only stops if it is not approved or is switched off."""
        servers = self._current.mcp.servers()
        if servers is not None:
            await servers.end(name)
            if self._current.is_trusted() and any(one.config.name == name for one in servers.approved()):
                servers.start_one(name)
        self._changed()

    def _resolved(self, row: ServerRow) -> Resolved:
        if not self._current.is_trusted():
            raise RequestError(NO_TRUST, hint="trust the workspace first")
        if row.resolved is None:
            raise RequestError(f"the MCP server {row.config.name} cannot be started: {row.reason}")
        return row.resolved

    def _agreed(self, row: ServerRow, digest: str) -> Resolved:
        resolved = self._resolved(row)
        if resolved.digest != digest:
            raise RequestError("its command, a file that it names, or its URL changed meanwhile", hint="show it again")
        return resolved

    def _write(self, pin: Pin) -> None:
        try:
            self._current.mcp.sources.pins().write(pin)
        except McpError as error:
            raise RequestError(error.message, hint=error.hint) from error


def _digest(pin: Pin) -> str:
    """The digest of the command and of all tools, as they were shown."""
    return digest_of([pin.command, *(tool.digest for tool in pin.tools)])


def _text(lines: tuple[str, ...], is_diff: bool) -> dict[str, Any]:
    return {"text": "\n".join(lines) + "\n", "isDiff": is_diff}
