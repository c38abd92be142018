"""edit_symbol: replaces a whole definition, found by its name."""

from pydantic import Field

from tark_lsp.tools.edit_file import locations_of
from tark_lsp.tools.facts import ToolFacts
from tark_lsp.tools.masking import restore_texts
from tark_lsp.tools.proposing import existing_path, propose_in_thread, source_of
from tark_lsp.tools.symbol_placing import with_symbol
from tark_lsp.tools.tool import Arguments, Preview, Risk, Tool, ToolContext, ToolKind

DESCRIPTION = """\
Replace the whole definition of a function, method, class or other symbol, found by its name in the file. Decorators \
and comments above it stay, unless new_text begins with some. Refused if several definitions have the name: then \
qualify it (`Shape.area`). Use edit_file to change a few lines of a long definition."""


class EditSymbolArguments(Arguments):
    path: str = Field(min_length=1, description="The file, written as in read_file.")
    symbol: str = Field(min_length=1, max_length=300, description="The name, perhaps qualified: `area`, `Shape.area`.")
    new_text: str = Field(
        description="The whole new definition, from its first line to its last, nothing left out; empty to remove it."
    )


async def preview(args: EditSymbolArguments, ctx: ToolContext) -> Preview:
    path = existing_path(ctx, args.path)
    (new_text,) = restore_texts(ctx, source_of(ctx, path), [args.new_text])
    shown = ctx.workspace.display(path)

    def change(text: str) -> str:
        return with_symbol(shown, text, args.symbol, new_text)

    edit = await propose_in_thread(ctx, path, change, repeats=bool(new_text))
    title = f"edit_symbol {args.symbol} in {shown}"
    return Preview(title, ToolKind.EDIT, Risk.WRITE, locations=locations_of(edit), edits=(edit,))


FACTS = ToolFacts(reads=False, edits=True, runs=False, of_workspace=True)
TOOL = Tool("edit_symbol", DESCRIPTION, EditSymbolArguments, Risk.WRITE, preview, None, facts=FACTS)
