"""Defers the tools of MCP servers, if there are many: the model finds them when it needs them. Pure.

The deferred tools are chosen once per session and stored with it. If the list of tools changed, providers would read
the whole conversation again, because their caches begin with the tools.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tark_lsp.agent.arguments import parse_arguments
from tark_lsp.agent.rules import MCP
from tark_lsp.context.budget import Estimates
from tark_lsp.context.tokens import definition_tokens
from tark_lsp.errors import ToolError
from tark_lsp.messages import FIND_TOOLS, ToolCall, ToolDefinition
from tark_lsp.tools.deferred_tools import CALL_TOOL, call_tool, find_tools
from tark_lsp.tools.tool import Tool
from tark_lsp.tools.tool_search import near_tools

MOST_TOOLS = 40
LARGEST_SHARE = 0.1
"""MCP tools are deferred if they are more than `MOST_TOOLS`, or larger than this share of the window."""

Tools = Mapping[str, Tool[Any]]


def tools_to_defer(tools: Tools, model: str, window: int | None, estimates: Estimates) -> tuple[ToolDefinition, ...]:
    """The tools that a session defers if it begins with `tools`, by name; empty if they are few. `window`: tokens."""
    found = [tools[name].definition for name in sorted(tools) if name.startswith(MCP)]
    known = estimates.known_window(model, window)
    if len(found) <= MOST_TOOLS:
        tokens = estimates.model_tokens(model, sum(map(definition_tokens, found)))
        if known is None or tokens <= known * LARGEST_SHARE:
            return ()
    return tuple(replace(tool, loading="deferred") for tool in found)


def with_search(tools: Tools, deferred: Sequence[ToolDefinition]) -> Tools:
    """The tools of a turn. If its session defers tools, the two tools that find and call those are added."""
    if not deferred:
        return tools
    own = find_tools(deferred, tools.keys()), call_tool()
    return {**tools, **{tool.name: tool for tool in own}}


def sent_definitions(tools: Tools, deferred: Sequence[ToolDefinition]) -> tuple[ToolDefinition, ...]:
    """The definitions of tools that the model gets.

    If the session defers tools, the deferred ones are those of its beginning: tools that were added later are missing,
    and tools that were removed are included.
    """
    if FIND_TOOLS not in tools:
        return tuple(tool.definition for tool in tools.values())
    others = (tool.definition for name, tool in tools.items() if not name.startswith(MCP))
    return (*others, *deferred)


def real_call(call: ToolCall, tools: Tools, deferred: Sequence[ToolDefinition]) -> ToolCall:
    """The call that a call of `call_tool` stands for; other calls are returned as they are. Rules, questions and
    receipts are about the returned call. Raises ToolError with similar names, or the names of the arguments."""
    if call.name != CALL_TOOL or CALL_TOOL not in tools:
        return call
    asked = parse_arguments(tools[CALL_TOOL], call.arguments)
    if asked.name in tools and not asked.name.startswith(MCP):
        raise ToolError("unknown_tool", f"{asked.name} is not called by {CALL_TOOL}", hint=f"call {asked.name} itself")
    if asked.name not in tools:
        raise no_such_tool(asked.name, tools, deferred)
    _check_names(asked.name, asked.arguments, tools[asked.name].definition)
    return replace(call, name=asked.name, arguments=json.dumps(asked.arguments, ensure_ascii=False))


def no_such_tool(name: str, tools: Tools, deferred: Sequence[ToolDefinition]) -> ToolError:
    """The error for a call of an unknown tool. The session can still list a tool that was removed."""
    if any(tool.name == name for tool in deferred):
        message = f"the tool {name} is gone: its server changed, or the person took their approval back"
        return ToolError("unknown_tool", message, hint="do without it, or tell the person")
    if CALL_TOOL not in tools:
        return ToolError(
            "unknown_tool", f"there is no tool {name!r}", hint=f"the tools are: {', '.join(tools) or 'none'}"
        )
    near = near_tools(name, [*tools])
    similar = f"similar names: {', '.join(near)}; " if near else ""
    return ToolError(
        "unknown_tool", f"there is no tool {name!r}", hint=f"{similar}{FIND_TOOLS} finds tools of MCP servers"
    )


def _check_names(name: str, arguments: Mapping[str, Any], definition: ToolDefinition) -> None:
    """Raises ToolError if required arguments are missing, or the schema excludes one. The server checks the rest."""
    schema = definition.parameters
    properties, required = schema.get("properties"), schema.get("required")
    known = [*properties] if isinstance(properties, dict) else []
    missing = [one for one in required if one not in arguments] if isinstance(required, list) else []
    strange = [one for one in arguments if one not in known] if schema.get("additionalProperties") is False else []
    problems = [f"{one!r} is missing" for one in missing] + [f"there is no {one!r}" for one in strange]
    if problems:
        hint = f"the arguments are: {', '.join(known) or 'none'}; {FIND_TOOLS} with the exact name shows the schema"
        raise ToolError("invalid_arguments", f"{name}: {'; '.join(problems)}", hint=hint)
