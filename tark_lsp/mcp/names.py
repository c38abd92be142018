"""The names of MCP tools for models and rules: `mcp__SERVER__TOOL`. Pure.

A name depends on nothing but its own server and tool, so a rule for it never comes to mean another tool. Providers
take 64 characters of `[A-Za-z0-9_-]`. A tool whose own name is longer, or has other characters, gets 8 digits of its
digest at the end, so that no two become one.
"""

import re
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256

PREFIX = "mcp__"
LONGEST = 64
SERVER = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,18}[a-z0-9])?")
"""Without `_`, so that the name says where the tool's begins."""
NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_-]")
HASHED = re.compile(r"_[0-9a-f]{8}$")


def tool_name(server: str, tool: str) -> str:
    plain = f"{PREFIX}{server}__{NOT_ALLOWED.sub('_', tool)}"
    if len(plain) <= LONGEST and not NOT_ALLOWED.search(tool):
        return plain
    digest = sha256("\0".join((server, tool)).encode("utf-8", "replace")).hexdigest()
    return f"{plain[: LONGEST - 9]}_{digest[:8]}"


def server_of(name: str) -> str:
    """The server in the name of a tool; empty if it is not one of an MCP server."""
    return name.removeprefix(PREFIX).split("__", 1)[0] if is_mcp_name(name) else ""


def is_mcp_name(name: str) -> bool:
    return name.startswith(PREFIX) and "__" in name[len(PREFIX) :]


def clashing(server: str, tools: Iterable[str]) -> set[str]:
    """The tools of the server that would share a name: only on purpose, by a name that ends like our digest."""
    names = {tool: tool_name(server, tool) for tool in tools}
    count = Counter(names.values())
    return {tool for tool, name in names.items() if count[name] > 1}


def server_name(text: str) -> str:
    """A name of other programs as one of ours. It can be empty."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:20].strip("-")
