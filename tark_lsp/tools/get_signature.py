"""get_signature: how a symbol is declared, and what the editor says about it."""

from pydantic import Field

from tark_lsp.tools.facts import ALL_MODES, ALL_SCOPES, ToolFacts
from tark_lsp.tools.language_servers import Want
from tark_lsp.tools.results import cap_result
from tark_lsp.tools.symbol_sight import Sight, Source
from tark_lsp.tools.symbols import ask_about, definitions_of, file_of, preview_of
from tark_lsp.tools.tool import Arguments, CallFacts, Counted, Preview, Risk, Tool, ToolContext

DESCRIPTION = """\
Show the signature of a function, class or other symbol, as `path:START-END: signature`, with the types and \
documentation that the editor shows for it, if it does."""

MOST = 20


class GetSignatureArguments(Arguments):
    symbol: str = Field(min_length=1, max_length=300, description="The name, perhaps qualified: `area`, `Shape.area`.")
    path: str | None = Field(default=None, description="The file that defines it: needed if several have that name.")


async def preview(args: GetSignatureArguments, ctx: ToolContext) -> Preview:
    return preview_of(ctx, "get_signature", args.symbol, args.path)


async def run(args: GetSignatureArguments, ctx: ToolContext, _: Preview) -> Counted:
    sight = Sight(ctx)
    path = file_of(ctx, args.path) if args.path else None
    known = await definitions_of(ctx, sight, args.symbol, path)
    symbols = known.symbols[:MOST]
    # A hover can contain text of any file, even of one that a rule hides or asks about.
    folders = ctx.workspace.folders
    hides = ctx.may_hide_below(folders) or ctx.may_ask_below(folders)
    hovers = {} if hides else dict(await ask_about(ctx, sight, Want.HOVER, symbols))
    lines = [f"{known.source.capitalize()}:"]
    for symbol in symbols:
        lines.append(sight.describe(symbol))
        if symbol in hovers:
            lines += [f"  {Source.EDITOR.capitalize()}:", *(f"  {line}" for line in hovers[symbol].text.splitlines())]
    if len(known.symbols) > MOST:
        lines.append(f"[{len(known.symbols) - MOST} more have this name: qualify it, or give the path.]")
    lines += sight.notes(known.found)
    facts = CallFacts(matches=len(symbols), files=len({symbol.path for symbol in symbols}))
    return Counted(cap_result(ctx, lines, "qualify the name, or give the path"), facts)


FACTS = ToolFacts(reads=True, edits=False, runs=False, modes=ALL_MODES, scopes=ALL_SCOPES, of_workspace=True)
TOOL = Tool("get_signature", DESCRIPTION, GetSignatureArguments, Risk.READ_ONLY, preview, run, facts=FACTS)
