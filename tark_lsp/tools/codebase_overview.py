"""codebase_overview: a map of the most central files and definitions within a token budget."""

from collections.abc import Sequence

from pydantic import Field

from tark_lsp.context.prompt_names import symbols_of
from tark_lsp.index.questions import Central
from tark_lsp.tools.facts import ALL_MODES, ALL_SCOPES, ToolFacts
from tark_lsp.tools.results import CHARACTERS_PER_TOKEN, cap_result, character_limit, count_noun
from tark_lsp.tools.symbol_sight import Sight, Source, Symbol
from tark_lsp.tools.tool import Arguments, CallFacts, Counted, Preview, Risk, Tool, ToolContext, ToolKind

DESCRIPTION = """\
Show a map of the workspace: its most central files with their most used definitions and signatures, ranked by who \
uses what, and by the open files and the names in the person's message. Use it first in a workspace you do not know."""

TOKENS_PER_DEFINITION = 15
"""Tokens of a short definition, to estimate how many fit into the budget."""


class CodebaseOverviewArguments(Arguments):
    token_budget: int = Field(default=2000, ge=100, le=100_000, description="How long the map can be.")


async def preview(args: CodebaseOverviewArguments, ctx: ToolContext) -> Preview:  # noqa: ARG001  # as in all tools
    return Preview("codebase_overview", ToolKind.READ, Risk.READ_ONLY)


async def run(args: CodebaseOverviewArguments, ctx: ToolContext, _: Preview) -> Counted:
    sight = Sight(ctx)
    limit = min(args.token_budget * CHARACTERS_PER_TOKEN, character_limit(ctx.result_tokens))
    inside = [path for path in dict.fromkeys((*ctx.workspace.open_files(), *ctx.seen)) if ctx.workspace.is_inside(path)]
    question = Central(tuple(inside), symbols_of(ctx.user_message), args.token_budget // TOKENS_PER_DEFINITION + 1)
    found = await ctx.index.ask(question)
    ranked = await sight.settled(map(Symbol.of_index, found.items))
    notes = sight.notes(found)
    if not ranked:
        said = ["No definitions are known; list_directory and search_text show what there is.", *notes]
        return Counted(cap_result(ctx, said), CallFacts(matches=0, files=0))
    room = limit - sum(len(note) + 1 for note in notes) - 100  # for the first and the last line
    count = len(ranked)
    while count > 1 and sum(len(line) + 1 for line in _map(sight, ranked[:count])) > room:
        count -= max(1, count // 10)
    shown = ranked[:count]
    files = {symbol.path for symbol in shown}
    counted = f"{count_noun(len(shown), 'definition')} in {count_noun(len(files), 'file')}"
    head = f"{counted}, the most central first, {Source.INDEX}:"
    is_all = count == len(ranked) and found.complete
    more = [] if is_all else ["[There are more; raise token_budget, or use list_symbols.]"]
    lines = [head, *_map(sight, shown), *more, *notes]
    return Counted(cap_result(ctx, lines), CallFacts(matches=len(shown), files=len(files), more=bool(more)))


def _map(sight: Sight, ranked: Sequence[Symbol]) -> list[str]:
    """The files in the order of their best definition, each with its definitions in the order of their lines."""
    by_file: dict[str, list[Symbol]] = {}
    for symbol in ranked:
        by_file.setdefault(sight.ctx.workspace.display(symbol.path), []).append(symbol)
    lines = []
    for name, symbols in by_file.items():
        lines.append(name)
        for symbol in sorted(symbols, key=lambda one: one.name_line):
            around = symbol.qualified_name.rpartition(".")[0]
            lines.append(f"  {symbol.start_line}: {f'{around}: ' if around else ''}{sight.head(symbol)}")
    return lines


FACTS = ToolFacts(reads=True, edits=False, runs=False, modes=ALL_MODES, scopes=ALL_SCOPES, of_workspace=True)
TOOL = Tool("codebase_overview", DESCRIPTION, CodebaseOverviewArguments, Risk.READ_ONLY, preview, run, facts=FACTS)
