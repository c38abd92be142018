"""delete_file: deletes one text file. The user is always asked, and undo restores the file."""

from pydantic import Field

from tark_lsp.errors import ToolError
from tark_lsp.tools.facts import ToolFacts
from tark_lsp.tools.proposing import read_or_absent, source_of, unlinked_path
from tark_lsp.tools.tool import Arguments, Location, Preview, Risk, Tool, ToolContext, ToolKind
from tark_lsp.workspace.edits import ProposedEdit

DESCRIPTION = """\
Delete one text file of the workspace. The person is asked first and can undo it. This tool does not delete folders or \
binary files."""


class DeleteFileArguments(Arguments):
    path: str = Field(min_length=1, description="The file, written as in read_file.")


async def preview(args: DeleteFileArguments, ctx: ToolContext) -> Preview:
    edit = removal(ctx, args.path)
    title = f"delete_file {ctx.workspace.display(edit.path)}"
    return Preview(title, ToolKind.DELETE, Risk.DANGEROUS, locations=(Location(edit.path),), edits=(edit,))


def removal(ctx: ToolContext, path: str) -> ProposedEdit:
    """The removal of a file with its current text. If the same answer would create the file, it is just not created.

    Raises WorkspaceError, and ToolError `stale` if the text differs from what the model read.
    """
    now = read_or_absent(ctx, source_of(ctx, unlinked_path(ctx, path)))
    if not now.exists:
        return ProposedEdit(now.path, now, ())
    seen = ctx.seen.get(now.path)
    if seen is not None and seen.text != now.text:
        raise ToolError(
            "stale",
            f"{path} was changed since you read it, so it was not deleted",
            hint="read it again, and delete it if it should still be deleted",
        )
    return ProposedEdit.removal(now)


FACTS = ToolFacts(reads=False, edits=True, runs=False, rule_subject="remove", of_workspace=True)
TOOL = Tool("delete_file", DESCRIPTION, DeleteFileArguments, Risk.DANGEROUS, preview, None, facts=FACTS)
