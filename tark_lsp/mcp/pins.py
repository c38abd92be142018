"""Pins: what the user approved of a server, and how the server's current tools differ from that. Pure.

Changed and new tools are off until the user approves them, so a server cannot replace a harmless description with
another one later ("rug pull", CVE-2025-54136).
"""

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tark_lsp.mcp.eras import Era
from tark_lsp.mcp.names import clashing
from tark_lsp.mcp.server_tools import ServerTool, digest_of, read_tools
from tark_lsp.visible import visible_code

VERSION = 1


@dataclass(frozen=True, slots=True)
class Pin:
    """An approval of one server.

    command      digest of the command or URL
    scope        empty, or the file of an offer
    era          the era at the last start, so that the next one does not probe
    shown        the lines about the command that the user saw
    disabled     whether the user switched the server off
    off          the tools that the user switched off
    needs_login  whether the server refused a request without a login
    unconfined   whether the user approved that the server runs without a sandbox
    """

    name: str
    command: str
    tools: tuple[ServerTool, ...]
    scope: str = ""
    era: Era | None = None
    approved: float = 0.0
    shown: tuple[str, ...] = ()
    disabled: bool = False
    off: tuple[str, ...] = ()
    needs_login: bool = False
    unconfined: bool = False

    def find(self, tool: str) -> ServerTool | None:
        return next((one for one in self.tools if one.name == tool), None)

    def digest_for(self, tool: ServerTool) -> str:
        """The digest that a permission for a call of the tool is bound to."""
        return digest_of([self.command, tool.digest])


@dataclass(frozen=True, slots=True)
class Changes:
    """`changed`: pairs (approved, now). Only the tools in `same` can be used."""

    same: tuple[ServerTool, ...] = ()
    changed: tuple[tuple[ServerTool, ServerTool], ...] = ()
    new: tuple[ServerTool, ...] = ()
    gone: tuple[ServerTool, ...] = ()

    @property
    def off(self) -> frozenset[str]:
        return frozenset(tool.name for tool in (*(now for _, now in self.changed), *self.new, *self.gone))

    def __bool__(self) -> bool:
        return bool(self.off)


def compare(pinned: Iterable[ServerTool], listed: Iterable[ServerTool]) -> Changes:
    before, now = ({tool.name: tool for tool in tools} for tools in (pinned, listed))
    both = [(before[name], now[name]) for name in sorted(before.keys() & now.keys())]
    return Changes(
        tuple(new for old, new in both if old.digest == new.digest),
        tuple((old, new) for old, new in both if old.digest != new.digest),
        tuple(now[name] for name in sorted(now.keys() - before.keys())),
        tuple(before[name] for name in sorted(before.keys() - now.keys())),
    )


def usable(server: str, tools: Iterable[ServerTool]) -> tuple[ServerTool, ...]:
    """The tools without those that would have the same name for a model."""
    tools = tuple(tools)
    clash = clashing(server, (tool.name for tool in tools))
    return tuple(tool for tool in tools if tool.name not in clash)


def shown_tool(tool: ServerTool) -> list[str]:
    """All of a tool for the user, line by line, with invisible characters as code points."""
    schemas = [("arguments", tool.schema), ("output", tool.output_schema), ("annotations", tool.annotations)]
    lines = [f"tool {tool.name}", *([f"title {tool.title}"] if tool.title else []), *tool.description.split("\n")]
    for name, value in schemas:
        if value:
            lines.append(f"{name}:")
            lines += json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True).split("\n")
    return [visible_code(line) for line in lines]


def shown_changes(changes: Changes) -> list[str]:
    """A diff for the user, from what was approved to what the server says now."""
    lines: list[str] = []
    for old, new in changes.changed:
        lines += difflib.unified_diff(shown_tool(old), shown_tool(new), "approved", "now", lineterm="", n=2)
    for tool in changes.new:
        lines += ["new:", *(f"+{line}" for line in shown_tool(tool))]
    for tool in changes.gone:
        lines.append(f"gone: {visible_code(tool.name)}")
    return lines


def pin_json(pin: Pin) -> dict[str, Any]:
    return {
        "version": VERSION,
        "name": pin.name,
        "scope": pin.scope,
        "command": pin.command,
        "era": pin.era,
        "approved": pin.approved,
        "tools": [tool.as_json() for tool in pin.tools],
        "shown": list(pin.shown),
        "disabled": pin.disabled,
        "off": list(pin.off),
        "needsLogin": pin.needs_login,
        "unconfined": pin.unconfined,
    }


def read_pin(value: Any) -> Pin:
    """Reads the result of `pin_json`. Raises ValueError."""
    if not isinstance(value, dict) or value.get("version") != VERSION:
        raise ValueError("it is not a pin of this version")
    tools, problems = read_tools(value.get("tools") or ())
    if problems:
        raise ValueError(problems[0])
    name, command, scope = (_string(value, key) for key in ("name", "command", "scope"))
    era = Era(value["era"]) if value.get("era") else None
    shown, off = (_strings(value, key) for key in ("shown", "off"))
    approved = float(value.get("approved") or 0)
    disabled, needs_login, unconfined = (value.get(key) is True for key in ("disabled", "needsLogin", "unconfined"))
    return Pin(name, command, tools, scope, era, approved, shown, disabled, off, needs_login, unconfined)


def _strings(value: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Empty if the key is missing, as in files of earlier versions."""
    found = value.get(key)
    if found is not None and not (isinstance(found, list) and all(isinstance(one, str) for one in found)):
        raise ValueError(f"its {key} is wrong")
    return tuple(found or ())


def _string(value: Mapping[str, Any], key: str) -> str:
    if not isinstance(found := value.get(key), str):
        raise ValueError(f"it has no {key}")
    return found
