"""Finds settings of hooks that cannot have the effect that the user wants. Pure."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from fnmatch import fnmatchcase

from tark_lsp.context.claude_tools import CLAUDE_TOOLS
from tark_lsp.errors import ToolError
from tark_lsp.hooks.hook import Hook
from tark_lsp.workspace.globs import Glob

MOST_NAMED = 5
HAVE_TOOLS = ("beforeTool", "afterTool", "beforeEdit")
"""The events that `tools` is for."""
CAN_BE_MCP = re.compile(r"mcp|[*?\[]")
"""The beginning of a glob that can match a tool of an MCP server, which is not known yet."""


def hook_problems(hooks: Sequence[Hook], tools: Collection[str]) -> list[str]:
    """One sentence for each problem. `tools`: the names of all built-in tools."""
    enabled = [hook for hook in hooks if hook.settings.enabled]
    named = Counter(hook.name for hook in enabled)
    problems = [f"{count} hooks have the name {name}; give each its own" for name, count in named.items() if count > 1]
    for hook in enabled:
        problems += _problems(hook, tools)
    return problems


def _problems(hook: Hook, tools: Collection[str]) -> Iterator[str]:
    settings = hook.settings
    unknown = [glob for glob in settings.tools if not (CAN_BE_MCP.match(glob) or _matches_any(glob, tools))]
    if unknown and settings.on in HAVE_TOOLS:
        named = ", ".join(map(_with_ours, unknown[:MOST_NAMED]))
        yield f"the hook {hook.name} does not run for these names in its tools, because no tool has them: {named}"
    for glob in settings.files:
        try:
            Glob.parse(glob)
        except ToolError as error:
            yield f"the hook {hook.name} runs for every file: {error.message} ({glob[:40]})"


def _matches_any(glob: str, tools: Collection[str]) -> bool:
    return any(fnmatchcase(tool, glob) for tool in tools)


def _with_ours(glob: str) -> str:
    """The name. After a name of Claude Code's, the names of Tark's tools."""
    ours = CLAUDE_TOOLS.get(glob.partition("(")[0])
    return f"{glob[:40]} (here: {', '.join(ours)})" if ours else glob[:40]
