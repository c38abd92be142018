"""The names of Claude Code's tools, and what they are here. Pure. A test compares the table with docs/agents.md."""

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
"""Our names for each of theirs. Empty: there is no such tool here."""
MCP = "mcp__"


def our_tools(name: str) -> tuple[str, ...]:
    """Globs over our names. A name of ours stays; so does `Bash(git *)`, which then matches no tool.

    `mcp__SERVER` is every tool of the server. `Bash(git *)` allows some calls only, which an agent cannot: to take it
    as `Bash` would loosen it.
    """
    if name.startswith(MCP):
        return (f"{name}__*",) if "__" not in name.removeprefix(MCP) and "*" not in name else (name,)
    return CLAUDE_TOOLS.get(name, (name,))
