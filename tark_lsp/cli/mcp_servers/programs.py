"""The files in which other programs configure their MCP servers."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from tark_lsp.errors import RequestError

PROGRAMS: Mapping[str, tuple[str, ...]] = {
    "claude-code": ("~/.claude.json", ".mcp.json"),
    "claude-desktop": (
        "{config}/Claude/claude_desktop_config.json",
        "~/Library/Application Support/Claude/claude_desktop_config.json",
    ),
    "vscode": ("{config}/Code/User/mcp.json", "~/Library/Application Support/Code/User/mcp.json", ".vscode/mcp.json"),
    "cursor": ("~/.cursor/mcp.json", ".cursor/mcp.json"),
    "opencode": ("{config}/opencode/opencode.json", "{config}/opencode/opencode.jsonc", "opencode.json"),
}
"""Each file that exists is read, the user's own first."""
DOWNLOADERS = frozenset({"npx", "bunx", "pnpx", "uvx", "pipx", "deno"})
"""Programs that download the server that they run."""


def files_of(program: str) -> list[Path]:
    """The existing files. `program`: one of `PROGRAMS`, or the path of a file. Raises RequestError if there is none."""
    if program not in PROGRAMS:
        file = Path(program).expanduser()
        if not file.is_file():
            raise RequestError(f"{program} is neither a file nor one of {', '.join(PROGRAMS)}")
        return [file]
    found = [file for text in PROGRAMS[program] if (file := _path(text)).is_file()]
    if not found:
        raise RequestError(f"no file of {program} with MCP servers was found", hint="give the path of its file")
    return found


def _path(text: str) -> Path:
    config = os.environ.get("APPDATA", "") if sys.platform == "win32" else os.environ.get("XDG_CONFIG_HOME", "")
    return Path(text.format(config=config or "~/.config")).expanduser()
