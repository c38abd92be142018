"""McpCall: which tool of which MCP server a call would use."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class McpCall:
    """`tool`: its name for models and rules. `pin`: the digest of what the user approved of it and its server.
    `confined`: the server runs in the sandbox, without network."""

    server: str
    tool: str
    pin: str
    confined: bool = False
