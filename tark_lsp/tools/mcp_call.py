"""`McpCall`: the MCP server and the tool of a call."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class McpCall:
    """`tool`: its name for models and rules. `pin`: the digest of the tool and server that the user approved.
    `confined`: the server runs in the sandbox, without network, or cannot start in another way."""

    server: str
    tool: str
    pin: str
    confined: bool = False
