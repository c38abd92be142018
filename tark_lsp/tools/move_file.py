"""move_file: one text file gets another path, by the editor where it renames, so that others can follow."""

import os
from dataclasses import replace
from pathlib import Path

from pydantic import Field

from tark_lsp.errors import ToolError
from tark_lsp.tools.proposing import editable, edited, itself, read_or_absent, refuse_link, source_of, with_draft
from tark_lsp.tools.tool import Arguments, Location, Preview, Risk, Tool, ToolContext, ToolKind
from tark_lsp.tools.write_file import require_place
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.snapshot import Snapshot

DESCRIPTION = """\
Move or rename one text file of the workspace, its text unchanged. Nothing may stand at the new path; folders that are \
missing are made. What names the file elsewhere (imports, links) is not changed by this. Folders and binary files are \
not moved by this tool."""


class MoveFileArguments(Arguments):
    source: str = Field(min_length=1, description="The file as it is named now, written as in read_file.")
    target: str = Field(min_length=1, description="The whole new path, with the file's name.")


async def preview(args: MoveFileArguments, ctx: ToolContext) -> Preview:
    edits = move(ctx, args.source, args.target)
    old, new = editable(ctx, args.source), editable(ctx, args.target)
    return Preview(
        f"move_file {ctx.workspace.display(old)} to {ctx.workspace.display(new)}",
        ToolKind.MOVE,
        Risk.WRITE,
        locations=(Location(old), Location(new)),
        edits=edits,
    )


def move(ctx: ToolContext, source: str, target: str) -> tuple[ProposedEdit, ...]:
    """One edit; two for a file that this answer makes: it is made here, and there it is not.

    Raises WorkspaceError, ToolError.
    """
    old = itself(ctx, source)
    refuse_link(ctx, target)
    new = editable(ctx, target)
    if old == new:
        raise ToolError(
            "invalid_arguments", f"{source} and {target} are the same file", hint="give another target, or go on"
        )
    now = read_or_absent(ctx, source_of(ctx, old))
    if new != now.path:  # else a drafted move is taken back
        require_free(ctx, new, old.name)
    text = with_draft(ctx, now).text
    if not now.exists:
        return ProposedEdit(now.path, now, ()), edited(ctx, Snapshot(new, "", exists=False), text)
    return (replace(ProposedEdit.between(now, text), target=None if new == now.path else new),)


def require_free(ctx: ToolContext, target: Path, name: str) -> None:
    """Raises ToolError `invalid_arguments` where something stands at `target`, NotText where nothing can."""
    shown = ctx.workspace.display(target)
    if target.is_dir():
        raise ToolError(
            "invalid_arguments", f"{shown} is a folder", hint=f"give the whole new path, as {target.name}/{name}"
        )
    require_place(target, shown)
    draft = ctx.draft_at(target)
    by_draft = draft is not None and draft.drafted.path == target and draft.drafted.exists
    if by_draft or os.path.lexists(target) or read_or_absent(ctx, target).exists:
        leaves = draft is not None and not by_draft
        raise ToolError(
            "invalid_arguments",
            f"{shown} is there already" + (" until the edits of this answer are applied" if leaves else ""),
            hint="move it in your next answer" if leaves else "choose another target",
        )


TOOL = Tool("move_file", DESCRIPTION, MoveFileArguments, Risk.WRITE, preview, None)
