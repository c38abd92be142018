"""What the conformance suite runs as a client: opens its URL (the last argument), and calls each tool in its list."""

import asyncio
import json
import os
import sys
from typing import Any

from tark_lsp.errors import McpError
from tark_lsp.mcp.connection import Connection
from tark_lsp.mcp.elicitation import Elicitation, Form, Value
from tark_lsp.mcp.eras import Era
from tark_lsp.mcp.http_requests import Endpoint
from tark_lsp.mcp.opening import open_connection
from tark_lsp.mcp.schema_headers import argument_headers
from tark_lsp.mcp.server_tools import ServerTool, read_tools
from tark_lsp.mcp.streamable_http import StreamableHttp

VALUES: dict[str, Any] = {"string": "text", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}


async def elicit(asked: Elicitation) -> dict[str, Value]:
    """A user who agrees to everything, and takes the defaults."""
    if not isinstance(asked, Form):
        return {}
    filled: dict[str, Value] = {}
    for field in asked.fields:
        kinds: dict[str, Value] = {"integer": 1, "number": 1.5, "boolean": True}
        value = field.default if field.default is not None else kinds.get(field.kind, "text")
        filled[field.name] = field.options[0][0] if field.options and field.default is None else value
    return filled


async def call(connection: Connection, tool: ServerTool, arguments: dict[str, Any]) -> None:
    headers = argument_headers(tool.schema, arguments) if connection.facts.era is Era.MODERN else {}
    params = {"name": tool.name, "arguments": arguments}
    try:
        await connection.call("tools/call", params, seconds=20, elicit=elicit, report=print, headers=headers)
    except McpError as error:
        print(f"{tool.name}: {error}")


async def main(url: str) -> None:
    connection = Connection(StreamableHttp(Endpoint(url)))
    try:
        await open_connection(connection)
        if connection.facts.can("tools") or connection.facts.era is Era.MODERN:
            listed = await connection.call("tools/list", {}, seconds=20)
            tools = {tool.name: tool for tool in read_tools(listed.get("tools", []))[0]}
            given = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}")).get("toolCalls", [])
            calls = [(tools[one["name"]], one["arguments"]) for one in given if one["name"] in tools]
            calls = calls or [(tool, filled(tool)) for tool in tools.values()]
            await asyncio.gather(*(call(connection, *one) for one in calls))
        if connection.facts.can("prompts"):
            await connection.call("prompts/list", {}, seconds=20)
        if connection.facts.can("resources"):
            await connection.call("resources/list", {}, seconds=20)
    finally:
        await connection.aclose()


def filled(tool: ServerTool) -> dict[str, Any]:
    properties = tool.schema.get("properties") or {}
    return {name: VALUES.get(str(schema.get("type")), "text") for name, schema in properties.items()}


asyncio.run(main(sys.argv[-1]))
