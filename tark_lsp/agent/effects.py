"""Classifies what a call does, as in the table in safety.md. Pure."""

from enum import StrEnum

from tark_lsp.tools.command import Command
from tark_lsp.tools.tool import Preview, Risk, ToolKind


class Effect(StrEnum):
    """The columns of the table in safety.md, and NOTE. Every level asks about a note, because all later sessions read
    it."""

    READ_INSIDE = "reads inside the workspace"
    READ_OUTSIDE = "reads outside the workspace"
    EDIT = "edits inside the workspace"
    NOTE = "keeps a note that later sessions read"
    READING_COMMAND = "runs a command that only reads, in a sandbox"
    SANDBOXED_COMMAND = "runs a command in a sandbox"
    COMMAND = "runs a command without a sandbox"
    NETWORK = "uses the network"
    MCP = "calls a tool of an MCP server"
    MCP_READ = "calls a tool that only reads, of an MCP server that you trust"
    DANGEROUS = "can do harm that undo does not take back"


def effect_of(preview: Preview) -> Effect:
    if preview.risk is Risk.DANGEROUS or any(edit.removes for edit in preview.edits):
        return Effect.DANGEROUS
    if preview.command is not None:
        return effect_of_command(preview.command)
    if preview.mcp is not None:
        return Effect.MCP_READ if preview.risk is Risk.READ_ONLY else Effect.MCP
    if preview.kind is ToolKind.FETCH:
        return Effect.NETWORK
    if preview.risk is Risk.READ_ONLY:
        return Effect.READ_OUTSIDE if preview.outside else Effect.READ_INSIDE
    if preview.edits:
        return Effect.EDIT
    if preview.note and preview.risk is Risk.WRITE:
        return Effect.NOTE
    return Effect.COMMAND


def effect_of_command(command: Command) -> Effect:
    if command.reads_only:
        return Effect.READING_COMMAND
    return Effect.SANDBOXED_COMMAND if command.confined else Effect.COMMAND


def reaches_network(preview: Preview) -> bool:
    """Whether the call may be able to reach the network."""
    if preview.mcp is not None:
        return not preview.mcp.confined
    if effect_of(preview) in (Effect.NETWORK, Effect.COMMAND):
        return True
    return preview.command is not None and bool(preview.command.beyond)
