"""Reads servers from files of the project and of other programs, and turns them into Tark's configuration.

This module starts nothing. An entry of a file is only an offer: it needs a trusted folder and the user's approval.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from tark_lsp.mcp.names import server_name
from tark_lsp.mcp.server_config import ServerConfig
from tark_lsp.mcp_settings import McpServerSettings, McpSettings

PROJECT_FILES = (".mcp.json", ".vscode/mcp.json")
LARGEST_FILE = 1_000_000
LARGEST_LOCAL = 50_000_000
"""The size limit for `~/.claude.json`, which also has the history of Claude Code."""
MOST_SERVERS = 50
KEYS = ("mcpServers", "servers", "mcp")
"""The keys of the table of servers: of Claude Code, Claude Desktop and Cursor; of VS Code; of opencode."""
OTHER_VARIABLE = re.compile(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}|\{env:([A-Za-z_][A-Za-z0-9_]*)\}")
KINDS = {
    "string_type": "must be text",
    "tuple_type": "must be a list",
    "mapping_type": "must be an object",
    "dict_type": "must be an object",
}
"""What is wrong with a value, by pydantic's type of the error."""
COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Offers:
    """`problems`: one sentence for each server that cannot be used."""

    servers: tuple[ServerConfig, ...] = ()
    problems: tuple[str, ...] = field(default=())


def project_offers(folders: Sequence[Path], taken: Sequence[str] = ()) -> Offers:
    """The offers in the files of these folders. `taken`: the names of the user's own servers, which take precedence."""
    servers: dict[str, ServerConfig] = {}
    problems: list[str] = []
    for folder, file in ((folder, folder / name) for folder in folders for name in PROJECT_FILES):
        shown = str(file.relative_to(folder)) if len(folders) == 1 else str(file)
        found = read_file(file, workspace=folder, shown=shown)
        problems += found.problems
        for one in found.servers:
            if one.name in taken:
                problems.append(f"{shown}: {one.name} is the name of a server of yours, so the offer is left out")
            elif one.name in servers and servers[one.name].settings != one.settings:
                problems.append(f"{shown}: {one.name} is also in {servers[one.name].source}, so it is left out")
            else:
                servers.setdefault(one.name, one)
    return Offers(tuple(servers.values()), tuple(problems))


def read_file(file: Path, *, workspace: Path | None = None, shown: str = "", local: bool = False) -> Offers:
    """The servers in one file of any of these programs; empty if it is missing. `shown`: its path in problems.
    `local`: also the servers that Claude Code has in this file for the workspace only."""
    shown = shown or str(file)
    try:
        if not file.is_file():
            return Offers()
        if file.stat().st_size > (largest := LARGEST_LOCAL if local else LARGEST_FILE):
            return Offers(problems=(f"{shown} is larger than {largest:,} bytes",))
        value = _loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        return Offers(problems=(f"{shown} cannot be read as JSON: {error}",))
    servers: dict[str, ServerConfig] = {}
    problems: list[str] = []
    entries = [*(_local(value, workspace, problems) if local else ()), *_entries(value, problems)]
    if len(entries) > MOST_SERVERS:
        problems.append(f"it has more than {MOST_SERVERS} servers, so the last ones are left out")
    for raw_name, entry in entries[:MOST_SERVERS]:
        name = server_name(raw_name)
        if not name or name in servers:
            why = f"another server has the name {name}" if name else "tark-lsp cannot use this name"
            problems.append(f"{raw_name[:80]!r} is left out: {why}")
            continue
        try:
            servers[name] = ServerConfig(name, _settings(entry, workspace), file)
        except ValueError as error:
            problems.append(f"{name}: {_reason(error)}")
    return Offers(tuple(servers.values()), tuple(f"{shown}: {problem}" for problem in problems))


def _entries(value: Any, problems: list[str]) -> list[tuple[str, Any]]:
    """(name, entry) of each server. opencode 2 has them in `mcp.servers`."""
    if not isinstance(value, dict):
        problems.append("it must be an object in braces {}")
        return []
    present = [key for key in KEYS if key in value]
    if not present:
        return []
    key = next((key for key in present if isinstance(value[key], dict)), present[0])
    table = value[key]
    if key == "mcp" and isinstance(table, dict) and "servers" in table:
        table, key = table["servers"], "mcp.servers"
    if not isinstance(table, dict):
        problems.append(f"{key} must be an object with a name for each server")
        return []
    return list(table.items())


def _local(value: Any, workspace: Path | None, problems: list[str]) -> list[tuple[str, Any]]:
    """(name, entry) of each server that Claude Code has for the workspace only. Those of others become a problem."""
    projects = value.get("projects") if isinstance(value, dict) else None
    found: list[tuple[str, Any]] = []
    for folder, project in projects.items() if isinstance(projects, dict) else ():
        servers = project.get("mcpServers") if isinstance(project, dict) else None
        if not isinstance(servers, dict) or not servers:
            continue
        if workspace is not None and Path(folder) == workspace:
            found += servers.items()
        else:
            names = ", ".join(servers)
            problems.append(
                f"{names[:200]} of {folder[:200]} left out: to import them, run this command in that folder"
            )
    return found


def _settings(entry: Any, workspace: Path | None) -> McpServerSettings:
    """Raises ValueError."""
    if not isinstance(entry, dict):
        raise ValueError("it is not an object")
    kind = str(entry.get("type", ""))
    if kind == "sse":
        raise ValueError("it uses the old transport HTTP+SSE, which tark-lsp does not speak")
    if kind not in ("", "stdio", "local", "http", "streamable-http", "streamableHttp", "remote"):
        raise ValueError(f"its type is {kind[:40]!r}, which tark-lsp does not know")
    command, args = entry.get("command"), entry.get("args") or []
    if isinstance(command, list) and command:  # opencode
        command, args = command[0], command[1:]
    values = {
        "command": command,
        "args": args,
        "env": entry.get("env") or entry.get("environment") or {},
        "cwd": entry.get("cwd"),
        "url": entry.get("url"),
        "headers": entry.get("headers") or {},
        "enabled": entry.get("enabled", True) is not False and entry.get("disabled") is not True,
    }
    given = {key: _translated(value, workspace) for key, value in values.items() if value is not None}
    return validated(given)


def validated(values: Mapping[str, Any]) -> McpServerSettings:
    """Raises ValueError with one sentence for the user."""
    try:
        whole = McpSettings.model_validate({"servers": {"x": dict(values)}}, by_alias=True, by_name=False)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(step) for step in first["loc"][2:] if step != "[key]")  # pydantic's mark of a wrong key
        why = KINDS.get(first["type"]) or first["msg"].removeprefix("Value error, ").replace("Input should", "must")
        raise ValueError(f"{place} {why}") from None
    return whole.servers["x"]


def _translated(value: Any, workspace: Path | None) -> Any:
    """Turns other programs' variables into Tark's syntax. Raises ValueError for those that only VS Code can fill in."""
    if isinstance(value, list):
        return [_translated(item, workspace) for item in value]
    if isinstance(value, dict):
        return {str(key): _translated(item, workspace) for key, item in value.items()}
    if not isinstance(value, str):
        return value
    if not value.isascii() and value != value.encode("utf-8", "replace").decode():
        raise ValueError("it has half of a surrogate pair")
    if "${input:" in value:
        raise ValueError("it needs an input that only VS Code can ask for")
    text = OTHER_VARIABLE.sub(lambda found: f"${{{found[1] or found[2]}}}", value)
    return text if workspace is None else text.replace("${workspaceFolder}", str(workspace))


def _loads(text: str) -> Any:
    """Reads JSON. Comments and trailing commas are allowed, as in VS Code's files."""
    try:
        return json.loads(text)
    except ValueError:
        plain = COMMENT.sub(lambda found: found[1] or "", text)
        return json.loads(TRAILING_COMMA.sub(lambda found: found[1] or "", plain))


def _reason(error: ValueError) -> str:
    return str(error)[:300]
