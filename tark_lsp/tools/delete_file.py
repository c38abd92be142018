"""delete_file: one text file goes; always asked about, and undo brings it back."""

from pydantic import Field

from tark_lsp.errors import ToolError
from tark_lsp.tools.proposing import itself, read_or_absent, source_of
from tark_lsp.tools.tool import Arguments, Location, Preview, Risk, Tool, ToolContext, ToolKind
from tark_lsp.workspace.edits import ProposedEdit

DESCRIPTION = """\
Delete one text file of the workspace. The person is asked first, and can have it back. Folders and binary files are \
not deleted by this tool."""


class DeleteFileArguments(Arguments):
    path: str = Field(min_length=1, description="The file, written as in read_file.")


async def preview(args: DeleteFileArguments, ctx: ToolContext) -> Preview:
    edit = removal(ctx, args.path)
    title = f"delete_file {ctx.workspace.display(edit.path)}"
    return Preview(title, ToolKind.DELETE, Risk.DANGEROUS, locations=(Location(edit.path),), edits=(edit,))


def removal(ctx: ToolContext, path: str) -> ProposedEdit:
    """A file that this answer makes is not made; any other is removed with the text it has now.

    Raises WorkspaceError, and ToolError `stale` where that text is not what the model read.
    """
    now = read_or_absent(ctx, source_of(ctx, itself(ctx, path)))
    if not now.exists:
        return ProposedEdit(now.path, now, ())
    seen = ctx.seen.get(now.path)
    if seen is not None and seen.text != now.text:
        raise ToolError(
            "stale",
            f"{path} was changed since you read it, so it was not deleted",
            hint="read it again, and delete it if that is still right",
        )
    return ProposedEdit.removal(now)


TOOL = Tool("delete_file", DESCRIPTION, DeleteFileArguments, Risk.DANGEROUS, preview, None)
