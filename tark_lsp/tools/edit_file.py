"""edit_file: some lines of a file replaced by others."""

from collections.abc import Iterable
from pathlib import Path

from pydantic import Field

from tark_lsp.tools.proposing import existing, propose
from tark_lsp.tools.tool import Arguments, Location, Preview, Risk, Tool, ToolContext, ToolKind
from tark_lsp.workspace.edits import ProposedEdit, rebase
from tark_lsp.workspace.placing.placing import place

DESCRIPTION = """\
Replace text in a file of the workspace. old_text must stand in the file exactly once (or say which place by \
line_hint, or replace_all). Only the lines that differ are touched; unsaved work of the person is kept. If it cannot \
be placed, the answer shows the nearest lines. Use write_file for new files."""


class EditFileArguments(Arguments):
    path: str = Field(min_length=1, description="The file, written as in read_file.")
    old_text: str = Field(
        description="The text to replace: whole lines, copied from the file with their indentation, with so many lines "
        "around the change that they stand there only once. Never shortened with `...`."
    )
    new_text: str = Field(
        description="What is to stand there instead, indented as it should be; empty removes old_text."
    )
    line_hint: int | None = Field(
        default=None,
        ge=1,
        description="About the line, from 1, where old_text begins: needed where it stands there more than once.",
    )
    replace_all: bool = Field(default=False, description="Whether to replace every place where old_text stands.")


def edit_of(args: EditFileArguments, ctx: ToolContext) -> ProposedEdit:
    """Raises WorkspaceError and ToolError."""
    path = existing(ctx, args.path)
    hints = hints_of(ctx, path, args.line_hint)
    return propose(
        ctx,
        path,
        lambda text: placed(text, args, hints),
    )


def placed(text: str, args: EditFileArguments, hints: Iterable[int | None]) -> str:
    """The text with the edit where every one of the hints has it. Raises ToolError, `not_unique` where they differ."""
    results = {
        place(text, args.old_text, args.new_text, line_hint=hint, replace_all=args.replace_all) for hint in hints
    }
    return results.pop() if len(results) == 1 else place(text, args.old_text, args.new_text)  # which says the places


def hints_of(ctx: ToolContext, path: Path, hint: int | None) -> set[int | None]:
    """Lines from 1: the hint, and what it is if the model did not count in the earlier edits of this answer."""
    draft = ctx.draft_at(path)
    if hint is None or draft is None:
        return {hint}
    carried, _ = rebase(draft, ctx.seen.get(draft.path, draft.base))
    return {hint, hint + sum(len(hunk.new) - len(hunk.old) for hunk in carried.hunks if hunk.end < hint)}


def locations_of(edit: ProposedEdit) -> tuple[Location, ...]:
    return tuple(Location(edit.path, hunk.start, hunk.end) for hunk in edit.hunks)


async def preview(args: EditFileArguments, ctx: ToolContext) -> Preview:
    edit = edit_of(args, ctx)
    title = f"edit_file {ctx.workspace.display(edit.path)}"
    return Preview(title, ToolKind.EDIT, Risk.WRITE, locations=locations_of(edit), edits=(edit,))


TOOL = Tool("edit_file", DESCRIPTION, EditFileArguments, Risk.WRITE, preview, None)
