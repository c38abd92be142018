"""find_definition: where a symbol is defined."""

from pydantic import Field

from tark_lsp.tools.facts import ALL_MODES, ALL_SCOPES, ToolFacts
from tark_lsp.tools.results import cap_result
from tark_lsp.tools.symbol_sight import Sight, Source
from tark_lsp.tools.symbols import Known, definitions_of, editor_definitions, file_of, preview_of
from tark_lsp.tools.tool import Arguments, CallFacts, Counted, Preview, Risk, Tool, ToolContext

DESCRIPTION = """\
Find where a function, class, method or other symbol is defined, as `path:START-END: signature`. The name can be \
qualified (`Shape.area`, `Shape::area`). Use code_item to see its code."""


class FindDefinitionArguments(Arguments):
    symbol: str = Field(min_length=1, max_length=300, description="The name, perhaps qualified: `area`, `Shape.area`.")
    path: str | None = Field(
        default=None, description="The file that defines or uses the symbol: needed if several have that name."
    )


async def preview(args: FindDefinitionArguments, ctx: ToolContext) -> Preview:
    return preview_of(ctx, "find_definition", args.symbol, args.path)


async def run(args: FindDefinitionArguments, ctx: ToolContext, _: Preview) -> Counted:
    sight = Sight(ctx)
    path = file_of(ctx, args.path) if args.path else None
    by_editor = await editor_definitions(ctx, sight, args.symbol, path)
    known = Known(by_editor, Source.EDITOR) if by_editor else await definitions_of(ctx, sight, args.symbol, path)
    lines = [f"{known.source.capitalize()}:", *map(sight.describe, known.symbols), *sight.notes(known.found)]
    files = {symbol.path for symbol in known.symbols}
    return Counted(
        cap_result(ctx, lines, "qualify the name, or give the path"),
        CallFacts(matches=len(known.symbols), files=len(files)),
    )


FACTS = ToolFacts(reads=True, edits=False, runs=False, modes=ALL_MODES, scopes=ALL_SCOPES, of_workspace=True)
TOOL = Tool("find_definition", DESCRIPTION, FindDefinitionArguments, Risk.READ_ONLY, preview, run, facts=FACTS)
