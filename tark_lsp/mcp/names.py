"""The names of MCP tools for models and rules: `mcp__SERVER__TOOL`. Pure.

A name depends only on its own server and tool, so a rule for it never applies to another tool later. Providers accept
64 characters of `[A-Za-z0-9_-]`. If a tool's name is longer or has other characters, it ends with 8 digits of a digest,
so that two tools do not get the same name.
"""

import re
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256

PREFIX = "mcp__"
LONGEST = 64
SERVER = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,18}[a-z0-9])?")
"""Without `_`, so that the first `__` ends it."""
NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_-]")
HASHED = re.compile(r"_[0-9a-f]{8}$")


def tool_name(server: str, tool: str) -> str:
    plain = f"{PREFIX}{server}__{NOT_ALLOWED.sub('_', tool)}"
    if len(plain) <= LONGEST and not NOT_ALLOWED.search(tool):
        return plain
    digest = sha256("\0".join((server, tool)).encode("utf-8", "replace")).hexdigest()
    return f"{plain[: LONGEST - 9]}_{digest[:8]}"


def server_of(name: str) -> str:
    """The server in the name of a tool; empty if it is not the name of an MCP tool."""
    return name.removeprefix(PREFIX).split("__", 1)[0] if is_mcp_name(name) else ""


def is_mcp_name(name: str) -> bool:
    return name.startswith(PREFIX) and "__" in name[len(PREFIX) :]


def clashing(server: str, tools: Iterable[str]) -> set[str]:
    """The tools of the server that would share a name. This happens only if a server imitates the digest on purpose."""
    names = {tool: tool_name(server, tool) for tool in tools}
    count = Counter(names.values())
    return {tool for tool, name in names.items() if count[name] > 1}


def server_name(text: str) -> str:
    """A server's name in another program as a valid name for Tark. It can be empty."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:20].strip("-")
