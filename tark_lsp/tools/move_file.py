"""move_file: moves one text file. It uses the editor's rename, if available, so that other language servers notice."""

import os
from dataclasses import replace
from pathlib import Path

from pydantic import Field

from tark_lsp.errors import ToolError
from tark_lsp.tools.facts import ToolFacts
from tark_lsp.tools.proposing import (
    edit_to,
    editable_path,
    read_or_absent,
    refuse_link,
    source_of,
    unlinked_path,
    with_draft,
)
from tark_lsp.tools.tool import Arguments, Location, Preview, Risk, Tool, ToolContext, ToolKind
from tark_lsp.tools.write_file import require_place
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.snapshot import Snapshot

DESCRIPTION = """\
Move or rename one text file of the workspace without changing its text. The new path must be free; missing folders \
are created. References to the file (imports, links) are not updated. This tool cannot move folders or binary files."""


class MoveFileArguments(Arguments):
    source: str = Field(min_length=1, description="The current path of the file, written as in read_file.")
    target: str = Field(min_length=1, description="The complete new path, including the file name.")


async def preview(args: MoveFileArguments, ctx: ToolContext) -> Preview:
    edits = move(ctx, args.source, args.target)
    old, new = editable_path(ctx, args.source), editable_path(ctx, args.target)
    return Preview(
        f"move_file {ctx.workspace.display(old)} to {ctx.workspace.display(new)}",
        ToolKind.MOVE,
        Risk.WRITE,
        locations=(Location(old), Location(new)),
        edits=edits,
    )


def move(ctx: ToolContext, source: str, target: str) -> tuple[ProposedEdit, ...]:
    """One edit. Two edits for a file that the same answer creates: drop the old creation, create it at the new path.

    Raises WorkspaceError, ToolError.
    """
    old = unlinked_path(ctx, source)
    refuse_link(ctx, target)
    new = editable_path(ctx, target)
    if old == new:
        raise ToolError(
            "invalid_arguments", f"{source} and {target} are the same file", hint="give another target, or continue"
        )
    now = read_or_absent(ctx, source_of(ctx, old))
    if new != now.path:  # otherwise it reverts a drafted move
        require_free(ctx, new, old.name)
    text = with_draft(ctx, now, ctx.drafts.get(now.path)).text
    if not now.exists:
        return ProposedEdit(now.path, now, ()), edit_to(Snapshot(new, "", exists=False), text, ctx.drafts.get(new))
    return (replace(ProposedEdit.between(now, text), target=None if new == now.path else new),)


def require_free(ctx: ToolContext, target: Path, name: str) -> None:
    """Raises ToolError `invalid_arguments` if something exists at `target`, NotText if a file cannot exist there."""
    shown = ctx.workspace.display(target)
    if target.is_dir():
        raise ToolError(
            "invalid_arguments", f"{shown} is a folder", hint=f"give the complete new path, as {target.name}/{name}"
        )
    require_place(target, shown)
    draft = ctx.draft_at(target)
    by_draft = draft is not None and draft.place == target and draft.drafted.exists
    if by_draft or os.path.lexists(target) or read_or_absent(ctx, target).exists:
        leaves = draft is not None and not by_draft
        raise ToolError(
            "invalid_arguments",
            f"{shown} already exists" + (" until the edits of this answer are applied" if leaves else ""),
            hint="move it in your next answer" if leaves else "choose another target",
        )


FACTS = ToolFacts(reads=False, edits=True, runs=False, rule_subject="move", of_workspace=True)
TOOL = Tool("move_file", DESCRIPTION, MoveFileArguments, Risk.WRITE, preview, None, facts=FACTS)
