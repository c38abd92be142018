"""list_symbols: the definitions of a file, or those with names like a query."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from tark_lsp.errors import ToolError
from tark_lsp.index.model import Found, FoundDefinition
from tark_lsp.index.questions import SymbolsIn, SymbolsLike
from tark_lsp.tools.facts import ALL_MODES, ALL_SCOPES, ToolFacts
from tark_lsp.tools.language_servers import CodeQuestion, Want
from tark_lsp.tools.results import cap_result, count_noun
from tark_lsp.tools.symbol_sight import Sight, Source, Symbol
from tark_lsp.tools.symbols import file_of, not_found, preview_of
from tark_lsp.tools.tool import Arguments, CallFacts, Counted, Preview, Risk, Tool, ToolContext

DESCRIPTION = """\
List the functions, classes, methods and other definitions of a file (path), or those of the workspace whose names are \
like a query, best first. Give one of the two. The result has one `path:START-END: signature` per definition."""

MOST = 100
"""The maximum number of definitions for a query."""


class ListSymbolsArguments(Arguments):
    path: str | None = Field(default=None, description="The file whose definitions to list.")
    query: str | None = Field(default=None, max_length=300, description="A name, its beginning, or words of it.")


async def preview(args: ListSymbolsArguments, ctx: ToolContext) -> Preview:
    if bool(args.path) == bool(args.query and args.query.strip()):
        raise ToolError("invalid_arguments", "give path or query, and only one of them")
    return preview_of(ctx, "list_symbols", args.query or "", args.path)


async def run(args: ListSymbolsArguments, ctx: ToolContext, _: Preview) -> Counted:
    sight = Sight(ctx)
    if args.path:
        path = file_of(ctx, args.path)
        ctx.read_draft(path)  # raises if there is no such file
        question = CodeQuestion(Want.SYMBOLS, path)
        asked: SymbolsIn | SymbolsLike = SymbolsIn(path)
        none = f"No definitions are known of {ctx.workspace.display(path)}."
    else:
        query = (args.query or "").strip()
        question = CodeQuestion(Want.SYMBOLS, query=query)
        asked = SymbolsLike(query, MOST)
        none = ""
    symbols = await _by_editor(ctx, sight, question)
    source, found = Source.EDITOR, None
    if not symbols:
        source, found = Source.INDEX, await ctx.index.ask(asked)
        symbols = await sight.settled(map(Symbol.of_index, found.items))
    if not symbols and not none:
        raise await not_found(ctx, sight, args.query or "", found)
    return _result(ctx, sight, symbols, source, found, none)


async def _by_editor(ctx: ToolContext, sight: Sight, question: CodeQuestion) -> Sequence[Symbol]:
    answer = await ctx.editor.ask_language_servers(question)
    places = answer.places if answer is not None else ()
    symbols = await sight.settled(Symbol.of_editor(place) for place in places if place.name and place.kind)
    return symbols if question.path is not None else symbols[:MOST]


def _result(
    ctx: ToolContext,
    sight: Sight,
    symbols: Sequence[Symbol],
    source: Source,
    found: Found[FoundDefinition] | None,
    none: str,
) -> Counted:
    files: set[Path] = {symbol.path for symbol in symbols}
    head = f"{count_noun(len(symbols), 'definition')}, {source}:" if symbols else none
    lines = [head, *map(sight.describe, symbols), *sight.notes(found)]
    more = found is not None and not found.complete
    lines += ["[There are more; narrow the query.]"] if more else []
    facts = CallFacts(matches=len(symbols), files=len(files), more=more)
    return Counted(cap_result(ctx, lines, "narrow the query"), facts)


FACTS = ToolFacts(reads=True, edits=False, runs=False, modes=ALL_MODES, scopes=ALL_SCOPES, of_workspace=True)
TOOL = Tool("list_symbols", DESCRIPTION, ListSymbolsArguments, Risk.READ_ONLY, preview, run, facts=FACTS)
