"""What a command changed, and the notes about it for the model."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tark_lsp.tools.command_checkpoint import Watch
from tark_lsp.tools.results import count_noun
from tark_lsp.tools.tool import ToolContext

NAMED_FILES = 50
"""The maximum number of changed files in the result."""


async def note_changes(ctx: ToolContext, before: Watch, unsaved: Sequence[Path]) -> Mapping[Path, str]:
    """Return what the command changed, and report it to `ctx.changed_by_command`."""
    changes = await before.changes()
    for path in ctx.editor.unsaved_documents(before.folder):
        if path not in unsaved:  # an open document that no longer equals the file on disk
            changes.setdefault(path, "changed")
    if changes:
        ctx.changed_by_command(tuple(changes))
    return changes


def tell_unsaved(ctx: ToolContext, unsaved: Sequence[Path]) -> list[str]:
    if not unsaved:
        return []
    return [f"[not saved when it started, so it saw older text of: {named(ctx, unsaved, most=NAMED_FILES)}]"]


def tell_changes(ctx: ToolContext, changes: Mapping[Path, str], before: Watch, most: int = NAMED_FILES) -> list[str]:
    lines = []
    for kind in ("created", "changed", "deleted"):
        paths = [path for path, what in changes.items() if what == kind]
        if paths:
            lines.append(f"[{kind} while it ran: {named(ctx, paths, most)}]")
    if not before.complete:
        lines.append("[there are too many files to list all that were created or changed]")
    lines += before.tell()
    differing = [path for path in ctx.editor.unsaved_documents(before.folder) if path in changes]
    if differing:
        names = named(ctx, differing, most=NAMED_FILES)
        lines.append(f"[open in the editor with a text that differs from the file on disk: {names}]")
    return lines


def named(ctx: ToolContext, paths: Sequence[Path], most: int) -> str:
    names = ", ".join(ctx.workspace.display(path) for path in paths[:most])
    return names if len(paths) <= most else f"{names} and {count_noun(len(paths) - most, 'other')}"
