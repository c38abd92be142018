"""Prompts and resources of MCP servers in the user's prompt: `/SERVER:PROMPT words`, and `@mcp:SERVER:URI`.

The user names them, so they are read without the model. Their text is from outside the workspace, so it is put between
tags.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field

from tark_lsp.errors import McpError, RequestError, ToolError
from tark_lsp.tools.mcp_call import McpCall
from tark_lsp.tools.mcp_tool import foreign_text
from tark_lsp.tools.tool import Arguments, Preview, Risk, Tool, ToolContext, ToolKind

if TYPE_CHECKING:  # loaded with the first server
    from tark_lsp.mcp.server import McpServer
    from tark_lsp.mcp.servers import McpServers

CALLED = re.compile(r"\s*/(?P<server>[a-z0-9-]{1,20}):(?P<prompt>\S+)(?:\s+(?P<words>.*))?\Z", re.DOTALL)


class ResourceArguments(Arguments):
    uri: str = Field(min_length=1, max_length=4_000)


MOST_KNOWN, LONGEST_KNOWN = 20, 80
"""The most prompts that an error names, and the most characters of each name."""


def reader_name(server: str) -> str:
    """The name of the reader of a server's resources, for rules. `mcp__SERVER` covers it. No tool of a server can have
    this name."""
    return f"mcp__{server}__@resource"


def resource_readers(servers: "McpServers") -> Mapping[str, Tool[Any]]:
    """The readers of resources, by name. They are for mentions only: no model gets them."""
    return {reader_name(server.config.name): _reader(server) for server in servers.approved()}


def _reader(server: "McpServer") -> Tool[ResourceArguments]:
    name = server.config.name

    async def preview(args: ResourceArguments, _: ToolContext) -> Preview:
        call = McpCall(name, reader_name(name), server.approved().command, server.is_confined)
        return Preview(f"read {args.uri} from the MCP server {name}", ToolKind.OTHER, Risk.RISKY, mcp=call)

    async def run(args: ResourceArguments, ctx: ToolContext, shown: Preview) -> str:
        try:
            client = await server.ready(confined=shown.mcp is not None and shown.mcp.confined)
            content = await client.resource(args.uri)
        except McpError as error:
            raise ToolError("mcp", f"the MCP server {name}: {error}") from error
        return foreign_text(f"{name}:{args.uri}", name, content.text, ctx)

    return Tool(reader_name(name), "", ResourceArguments, Risk.RISKY, preview, run)


async def filled_prompt(servers: "McpServers", typed: str, ctx: ToolContext) -> str:
    """The user's prompt. If it names a prompt of a server, the text of that is added. Raises RequestError."""
    found = CALLED.match(typed)
    server = servers.find(found["server"]) if found is not None else None
    if found is None or server is None:
        return typed
    name, words = found["prompt"], found["words"] or ""
    try:
        client = await server.ready()
        prompts = {prompt.name: prompt for prompt in await client.prompts()}
        if name not in prompts:
            known = ", ".join(one[:LONGEST_KNOWN] for one in list(prompts)[:MOST_KNOWN]) or "none"
            more = f" and {len(prompts) - MOST_KNOWN} more" if len(prompts) > MOST_KNOWN else ""
            message = f"the MCP server {found['server']} has no prompt {name!r}"
            raise RequestError(message, hint=f"it has: {known}{more}")
        given = _arguments(prompts[name].arguments, words)
        messages = await client.prompt(name, given)
    except McpError as error:
        raise RequestError(f"the MCP server {found['server']}: {error.message}", hint=error.hint) from error
    text = "\n\n".join(text if role == "user" else f"(as an answer) {text}" for role, text in messages)
    ctx.outside_sources.append(f"the prompt {name} of the MCP server {found['server']}")
    called = f"I want what the prompt {name} of the MCP server {found['server']} asks for"
    said = f"{called}, with: {words}" if words else called
    return "\n".join([said, foreign_text(f"{found['server']}:{name}", found["server"], text, ctx)])


def _arguments(wanted: tuple[tuple[str, bool], ...], words: str) -> dict[str, str]:
    """The arguments in the order of the words. The last argument gets all remaining words. Raises RequestError."""
    parts = words.split(maxsplit=max(0, len(wanted) - 1))
    missing = [name for name, required in wanted[len(parts) :] if required]
    if missing:
        raise RequestError(f"the prompt needs {', '.join(missing)}", hint="write its arguments after its name")
    return {name: part.strip() for (name, _), part in zip(wanted, parts, strict=False)}
