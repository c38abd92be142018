"""Maps the names of Claude Code's tools to Tark's. Pure. A test compares the table with docs/agents.md."""

from collections.abc import Mapping

CLAUDE_TOOLS: Mapping[str, tuple[str, ...]] = {
    "Read": ("read_file", "read_files"),
    "Grep": ("search_text",),
    "Glob": ("find_files",),
    "LS": ("list_directory",),
    "LSP": ("find_definition", "find_references", "call_hierarchy", "list_symbols", "read_diagnostics"),
    "Write": ("write_file",),
    "Edit": ("edit_file", "edit_symbol", "replace_selection", "propose_edit"),
    "MultiEdit": ("edit_file", "apply_patch"),
    "Bash": ("run_command", "run_tests", "run_check"),
    "WebFetch": ("fetch",),
    "TodoWrite": ("update_plan",),
    "Skill": ("read_skill",),
    "AskUserQuestion": ("ask_user",),
    "NotebookEdit": (),
    "NotebookRead": (),
    "WebSearch": (),
    "Task": (),
    "Agent": (),
    "ExitPlanMode": (),
    "BashOutput": (),
    "KillShell": (),
}
"""Tark's names for each of Claude Code's. Empty: Tark has no such tool."""
MCP = "mcp__"


def our_tools(name: str) -> tuple[str, ...]:
    """Globs over the names of Tark's tools. Other names stay as they are.

    `mcp__SERVER` becomes all tools of the server. `Bash(git *)` stays, and so matches no tool: an agent cannot allow
    only some calls of a tool, and `Bash` would allow too much.
    """
    if name.startswith(MCP):
        return (f"{name}__*",) if "__" not in name.removeprefix(MCP) and "*" not in name else (name,)
    return CLAUDE_TOOLS.get(name, (name,))
