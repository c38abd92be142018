"""code_item: the code of one definition, with its neighbours in the call graph."""

from collections.abc import Sequence
from contextlib import suppress

from pydantic import Field

from tark_lsp.errors import ToolError
from tark_lsp.index.model import Found, FoundDefinition
from tark_lsp.index.questions import Callees, Callers, Question
from tark_lsp.tools.call_hierarchy import indexed
from tark_lsp.tools.facts import ALL_MODES, ALL_SCOPES, ToolFacts
from tark_lsp.tools.places import place_of_path
from tark_lsp.tools.reading import show_file
from tark_lsp.tools.results import CHARACTERS_PER_TOKEN, cap_result, character_limit
from tark_lsp.tools.symbol_sight import Sight, Source, Symbol
from tark_lsp.tools.symbols import Known, definitions_of, file_of, preview_of
from tark_lsp.tools.tool import Arguments, CallFacts, Counted, Preview, Risk, Tool, ToolContext

DESCRIPTION = """\
Read the code of one definition by its name, without knowing its file, with what is around it: the head of its class, \
who calls it, and the signatures of what it calls. If several definitions have the name, they are listed instead."""

MOST_NEIGHBOURS = 15
CODE_PART = 0.7
"""The share of the budget for the code."""


class CodeItemArguments(Arguments):
    symbol: str = Field(min_length=1, max_length=300, description="The name, perhaps qualified: `area`, `Shape.area`.")
    path: str | None = Field(default=None, description="The file that defines it: needed if several have that name.")
    token_budget: int = Field(default=2000, ge=100, le=100_000, description="How long the result can be.")


async def preview(args: CodeItemArguments, ctx: ToolContext) -> Preview:
    return preview_of(ctx, "code_item", args.symbol, args.path)


async def run(args: CodeItemArguments, ctx: ToolContext, _: Preview) -> Counted:
    sight = Sight(ctx)
    path = file_of(ctx, args.path) if args.path else None
    known = await definitions_of(ctx, sight, args.symbol, path)
    limit = min(args.token_budget * CHARACTERS_PER_TOKEN, character_limit(ctx.result_tokens))
    facts = CallFacts(matches=len(known.symbols), files=len({symbol.path for symbol in known.symbols}))
    if len(known.symbols) > 1:
        head = f"{len(known.symbols)} definitions have this name, {known.source}; qualify it, or give the path:"
        lines = [head, *map(sight.describe, known.symbols), *sight.notes(known.found)]
        return Counted(cap_result(ctx, lines, limit=limit), facts)
    (symbol,) = known.symbols
    place = place_of_path(ctx, symbol.path)
    code = show_file(ctx, place, symbol.start_line, symbol.end_line, int(limit * CODE_PART))
    lines = [f"{sight.describe(symbol)} ({known.source})", code, *await _neighbours(ctx, sight, known, symbol)]
    return Counted(cap_result(ctx, lines, "raise token_budget", limit=limit), facts)


async def _neighbours(ctx: ToolContext, sight: Sight, known: Known, symbol: Symbol) -> Sequence[str]:
    """Lines about the definition around the symbol, its callers, and what it calls."""
    lines: list[str] = []
    found = [known.found] if known.found is not None else []
    around = symbol.qualified_name.rpartition(".")[0]
    with suppress(ToolError):  # without an index, the code alone is still useful
        definition = await indexed(ctx, symbol)
        if around:
            parents = await definitions_of(ctx, sight, around, symbol.path)
            lines += [f"Inside {sight.describe(parent)}" for parent in parents.symbols if parent.path == symbol.path]
        questions: tuple[tuple[str, Question[FoundDefinition]], ...] = (
            ("Callers", Callers(definition, MOST_NEIGHBOURS)),
            ("Calls", Callees(definition, MOST_NEIGHBOURS)),
        )
        for title, question in questions:
            answer: Found[FoundDefinition] = await ctx.index.ask(question)
            found.append(answer)
            others = await sight.settled(map(Symbol.of_index, answer.items))
            if others:
                lines += [f"{title}, {Source.INDEX}:", *(f"  {sight.describe(other)}" for other in others)]
                lines += [] if answer.complete else ["  [more: see call_hierarchy]"]
    return [*lines, *sight.notes(*found)]


FACTS = ToolFacts(reads=True, edits=False, runs=False, modes=ALL_MODES, scopes=ALL_SCOPES, of_workspace=True)
TOOL = Tool("code_item", DESCRIPTION, CodeItemArguments, Risk.READ_ONLY, preview, run, facts=FACTS)
