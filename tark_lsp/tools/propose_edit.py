"""propose_edit: like edit_file, but only shows the edit. For the modes that do not write files."""

from tark_lsp.messages import Mode
from tark_lsp.tools.edit_file import EditFileArguments, edit_in_thread, locations_of
from tark_lsp.tools.facts import ToolFacts, TurnScope
from tark_lsp.tools.tool import Preview, Risk, Tool, ToolContext, ToolKind

DESCRIPTION = """\
Show the person an edit of a file as a diff without writing it; they can apply it themselves. The arguments are those \
of edit_file."""


class ProposeEditArguments(EditFileArguments):
    pass


async def preview(args: ProposeEditArguments, ctx: ToolContext) -> Preview:
    edit = await edit_in_thread(args, ctx)
    title = f"propose_edit {ctx.workspace.display(edit.path)}"
    return Preview(title, ToolKind.EDIT, Risk.READ_ONLY, locations=locations_of(edit), edits=(edit,))


FACTS = ToolFacts(
    reads=False,
    edits=True,
    runs=False,
    modes=frozenset({Mode.ASK, Mode.PLAN}),
    scopes=frozenset({TurnScope.SELECTION, TurnScope.WORKSPACE}),
    of_workspace=True,
)
TOOL = Tool("propose_edit", DESCRIPTION, ProposeEditArguments, Risk.READ_ONLY, preview, None, facts=FACTS)
