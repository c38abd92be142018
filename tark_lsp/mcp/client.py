"""Client: lists and uses the tools, prompts and resources of a server over an open connection."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tark_lsp.errors import McpError
from tark_lsp.mcp.connection import Connection
from tark_lsp.mcp.content import Content, content_of_call, content_of_resource, messages_of_prompt
from tark_lsp.mcp.elicitation import Elicit
from tark_lsp.mcp.eras import Era
from tark_lsp.mcp.schema_headers import argument_headers
from tark_lsp.mcp.server_tools import (
    ServerPrompt,
    ServerResource,
    ServerTool,
    read_prompts,
    read_resources,
    read_tools,
)

LIST_SECONDS = 30.0
MOST_PAGES, MOST_ITEMS = 100, 2_000


@dataclass(frozen=True, slots=True)
class Call:
    """`arguments` for the `tool` as it was approved. `elicit`: None if the user cannot be asked."""

    tool: ServerTool
    arguments: Mapping[str, Any]
    report: Callable[[str], None] = lambda _: None
    elicit: Elicit | None = None


class Client:
    """Every method raises McpError. `seconds`: how long a call can take."""

    def __init__(self, connection: Connection, seconds: float) -> None:
        self.connection = connection
        self._seconds = seconds

    async def tools(self) -> tuple[tuple[ServerTool, ...], tuple[str, ...]]:
        """The tools that can be used, and a sentence for each of the others that says why not."""
        return read_tools(await self._list("tools"))

    async def prompts(self) -> tuple[ServerPrompt, ...]:
        return read_prompts(await self._list("prompts"))

    async def resources(self) -> tuple[ServerResource, ...]:
        return read_resources(await self._list("resources"))

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> list[tuple[str, str]]:
        """(role, text) of the prompt's messages."""
        given = {"name": name, "arguments": dict(arguments)}
        return messages_of_prompt(await self.connection.call("prompts/get", given, seconds=self._seconds))

    async def resource(self, uri: str) -> Content:
        return content_of_resource(await self.connection.call("resources/read", {"uri": uri}, seconds=self._seconds))

    async def call(self, call: Call) -> Content:
        try:
            headers = argument_headers(call.tool.schema, call.arguments)
        except ValueError as error:
            raise McpError(f"its tool {call.tool.name} cannot be used: {error}") from error
        result = await self.connection.call(
            "tools/call",
            {"name": call.tool.name, "arguments": dict(call.arguments)},
            seconds=self._seconds,
            report=call.report,
            elicit=call.elicit,
            headers=headers if self.connection.facts.era is Era.MODERN else None,
        )
        return content_of_call(result)

    async def _list(self, kind: str) -> list[Any]:
        """The items of all pages; empty if the server does not announce this kind."""
        items: list[Any] = []
        cursor: object = None
        if not self.connection.facts.can(kind):
            return items
        for _ in range(MOST_PAGES):
            params = {} if cursor is None else {"cursor": cursor}
            page = await self.connection.call(f"{kind}/list", params, seconds=LIST_SECONDS)
            found = page.get(kind)
            items += found if isinstance(found, list) else []
            cursor, last = page.get("nextCursor"), cursor
            if len(items) > MOST_ITEMS:
                raise McpError(f"it lists more than {MOST_ITEMS:,} {kind}")
            if not isinstance(cursor, str) or cursor == last:
                return items
        raise McpError(f"its list of {kind} does not end")
