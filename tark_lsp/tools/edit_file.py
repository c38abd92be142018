"""edit_file: some lines of a file replaced by others."""

from pydantic import Field

from tark_lsp.tools.proposing import existing, propose
from tark_lsp.tools.tool import Arguments, Location, Preview, Risk, Tool, ToolContext, ToolKind
from tark_lsp.workspace.edits import ProposedEdit, place

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
    return propose(
        ctx,
        existing(ctx, args.path),
        lambda text: place(text, args.old_text, args.new_text, line_hint=args.line_hint, replace_all=args.replace_all),
    )


def locations_of(edit: ProposedEdit) -> tuple[Location, ...]:
    return tuple(Location(edit.path, hunk.start, hunk.end) for hunk in edit.hunks)


async def preview(args: EditFileArguments, ctx: ToolContext) -> Preview:
    edit = edit_of(args, ctx)
    title = f"edit_file {ctx.workspace.display(edit.path)}"
    return Preview(title, ToolKind.EDIT, Risk.WRITE, locations=locations_of(edit), edits=(edit,))


TOOL = Tool("edit_file", DESCRIPTION, EditFileArguments, Risk.WRITE, preview, None)
