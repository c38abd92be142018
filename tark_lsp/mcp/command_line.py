"""Turns a command line or URL that a user typed into the settings and name of a server. Pure."""

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit

from tark_lsp.mcp.names import server_name
from tark_lsp.mcp.server_config import NOT_PINNED

RUNNERS = NOT_PINNED | {"node", "python", "python3", "uv", "bun", "ruby", "php", "sh", "bash"}
"""Programs whose name says nothing about the server that they run."""
COMMON = re.compile(r"^(?:mcp-server-|mcp-|server-)|(?:-mcp-server|-mcp|-server)$")
IN_HOST = frozenset({"www", "mcp", "api", "com", "org", "net", "io", "dev", "app", "ai"})


def read_command_line(text: str) -> dict[str, Any]:
    """`command` and `args`, or `url`. Raises ValueError with a sentence for the user."""
    text = text.strip()
    if re.match(r"https?://", text):
        return {"url": text}
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"the command cannot be read: {error}") from error
    if not words:
        raise ValueError("there is no command")
    return {"command": words[0], "args": words[1:]}


def proposed_name(values: Mapping[str, Any], taken: Collection[str]) -> str:
    """A free name for the server: `npx -y @modelcontextprotocol/server-memory` becomes `memory`."""
    words = [values["command"], *values["args"]] if "command" in values else []
    name = server_name(_of_words(words) if words else _of_host(values["url"])) or "server"
    numbered = (f"{name[:17].strip('-')}-{number}" for number in range(2, len(taken) + 3))
    return next(one for one in (name, *numbered) if one not in taken)


def _of_words(words: Sequence[str]) -> str:
    if PurePath(words[0]).stem not in RUNNERS:
        return _short(words[0])
    named = (word for word in words[1:] if not word.startswith("-") and word not in ("run", "exec", "dlx", "tool"))
    return _short(next(named, words[0]))


def _short(word: str) -> str:
    """The name of a program, file or package, without affixes that many servers share (`mcp-`, `-server`)."""
    name = PurePath(re.sub(r"(?<=.)@[^/]*$", "", word)).name
    name = re.sub(r"\.(?:py|js|mjs|ts|exe|cmd)$", "", name).lower().replace("_", "-")
    return COMMON.sub("", name) or name


def _of_host(url: str) -> str:
    parts = [part for part in (urlsplit(url).hostname or "").split(".") if part not in IN_HOST]
    return parts[0] if parts else ""
