"""What the conformance suite runs as a client: opens its URL (the last argument), and calls each tool in its list.

In the scenarios about OAuth it is also the user who runs `tark-lsp mcp login` whenever an error says so, at most three
times.
"""

import asyncio
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from tark_lsp.errors import McpError
from tark_lsp.http import HttpRequest, HttpTransport
from tark_lsp.mcp.connection import Connection
from tark_lsp.mcp.elicitation import Elicitation, Form, Value
from tark_lsp.mcp.eras import Era
from tark_lsp.mcp.extra import refresh_over
from tark_lsp.mcp.http_requests import Endpoint
from tark_lsp.mcp.login import Login, LoginTarget
from tark_lsp.mcp.opening import open_connection
from tark_lsp.mcp.schema_headers import argument_headers
from tark_lsp.mcp.server_tools import ServerTool, read_tools
from tark_lsp.mcp.streamable_http import StreamableHttp
from tark_lsp.mcp.token_store import TokenStore
from tark_lsp.mcp.transport import HttpRefusal
from tests.mcp.memory_keyring import memory_keyring

if TYPE_CHECKING:
    from tark_lsp.mcp.oauth.flow import LoginPage

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


class User:
    """Logs in. `store`: a keyring in memory."""

    def __init__(self, url: str) -> None:
        self.target = LoginTarget("conformance", "", url)
        self.store = TokenStore({}, memory_keyring())
        self.login = Login(self.target, self.store, refresh_over(lambda _: True, private=True))
        self.left = 3

    async def log_in(self, refusal: HttpRefusal) -> None:
        if not self.left:
            raise refusal
        self.left -= 1
        from tark_lsp.mcp.oauth.auth_http import AuthHttp
        from tark_lsp.mcp.oauth.clients import Client
        from tark_lsp.mcp.oauth.flow import log_in

        context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
        client = Client(context["client_id"], context.get("client_secret", "")) if "client_id" in context else None
        if os.environ["MCP_CONFORMANCE_SCENARIO"] == "auth/basic-cimd":
            client = Client("https://conformance-test.local/client-metadata.json")
        http, known = AuthHttp(lambda _: True, private=True), await self.store.read(self.target.entry)
        try:
            done = await log_in(self.target.url, refusal.challenge, http, agree, client=client, known=known)
        finally:
            await http.aclose()
        await self.store.write(self.target.entry, done)


async def agree(page: "LoginPage") -> None:
    """What a browser does with a page that agrees at once."""
    http = HttpTransport()
    try:
        url = page.url
        for _ in range(2):
            response = await http.send(HttpRequest("GET", url))
            await response.aclose()
            url = response.headers.get("location", "")
    finally:
        await http.aclose()


async def call(connection: Connection, tool: ServerTool, arguments: dict[str, Any]) -> None:
    headers = argument_headers(tool.schema, arguments) if connection.facts.era is Era.MODERN else {}
    params = {"name": tool.name, "arguments": arguments}
    try:
        await connection.call("tools/call", params, seconds=20, elicit=elicit, report=print, headers=headers)
    except HttpRefusal:
        raise
    except McpError as error:
        print(f"{tool.name}: {error}")


async def main(url: str) -> None:
    user = User(url)
    while True:
        try:
            return await session(url, user.login)
        except HttpRefusal as error:
            print(error)
            await user.log_in(error)


async def session(url: str, login: Login) -> None:
    connection = Connection(StreamableHttp(Endpoint(url, login=login)))
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
