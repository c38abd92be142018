"""call_hierarchy: what calls a function, and what it calls."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import Field

from tark_lsp.errors import ToolError
from tark_lsp.index.model import Found, FoundDefinition
from tark_lsp.index.questions import Callees, Callers, DefinitionsOf
from tark_lsp.tools.facts import ALL_MODES, ALL_SCOPES, ToolFacts
from tark_lsp.tools.language_servers import Want
from tark_lsp.tools.results import cap_result
from tark_lsp.tools.symbol_sight import Sight, Source, Symbol
from tark_lsp.tools.symbols import ask_about, definitions_of, preview_of
from tark_lsp.tools.tool import Arguments, CallFacts, Counted, Preview, Risk, Tool, ToolContext

DESCRIPTION = """\
Find who calls a function, method or class (incoming), and which definitions of the workspace it calls (outgoing), \
with the lines of the calls. Without a language server of the editor, calls are found by name and imports: the likely \
ones come first, and some can mean another definition of the same name."""

MOST = 50
MOST_DEFINITIONS = 3
"""Definitions of one name whose calls are listed."""
MOST_LINES = 8
"""Lines of calls that are listed for each caller."""


class CallHierarchyArguments(Arguments):
    symbol: str = Field(min_length=1, max_length=300, description="The name, perhaps qualified: `area`, `Shape.area`.")
    direction: Literal["incoming", "outgoing", "both"] = Field(
        default="both", description="incoming: its callers; outgoing: what it calls."
    )


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of one definition. None: this direction was not requested."""

    symbol: Symbol
    incoming: Sequence[Symbol] | None
    outgoing: Sequence[Symbol] | None


async def preview(args: CallHierarchyArguments, ctx: ToolContext) -> Preview:
    return preview_of(ctx, "call_hierarchy", args.symbol, None)


async def run(args: CallHierarchyArguments, ctx: ToolContext, _: Preview) -> Counted:
    sight = Sight(ctx)
    known = await definitions_of(ctx, sight, args.symbol, None)
    symbols = known.symbols[:MOST_DEFINITIONS]
    found: list[Found[FoundDefinition]] = [known.found] if known.found is not None else []
    calls, source = await _by_editor(ctx, sight, args, symbols), Source.EDITOR
    if not calls:
        calls, source = await _by_index(ctx, sight, args, symbols, found), Source.INDEX
    lines = [line for one in calls for line in _lines(sight, one, source)]
    if len(known.symbols) > MOST_DEFINITIONS:
        lines.append(f"[{len(known.symbols) - MOST_DEFINITIONS} more definitions have this name: qualify it.]")
    lines += sight.notes(*found)
    others = [other for one in calls for other in (*(one.incoming or ()), *(one.outgoing or ()))]
    facts = CallFacts(matches=len(others), files=len({one.path for one in others}))
    return Counted(cap_result(ctx, lines, "ask for one direction"), facts)


async def _by_editor(
    ctx: ToolContext, sight: Sight, args: CallHierarchyArguments, symbols: Sequence[Symbol]
) -> list[Calls]:
    async def listed(places: Sequence[Symbol], direction: str) -> Sequence[Symbol] | None:
        return await sight.settled(places) if args.direction in (direction, "both") else None

    return [
        Calls(
            symbol,
            await listed([Symbol.of_editor(place) for place in answer.places], "incoming"),
            await listed([replace(Symbol.of_editor(place), calls=()) for place in answer.outgoing], "outgoing"),
        )
        for symbol, answer in await ask_about(ctx, sight, Want.CALL_HIERARCHY, symbols)
    ]


async def _by_index(
    ctx: ToolContext,
    sight: Sight,
    args: CallHierarchyArguments,
    symbols: Sequence[Symbol],
    found: list[Found[FoundDefinition]],
) -> list[Calls]:
    calls = []
    for symbol in symbols:
        definition = await indexed(ctx, symbol)
        incoming = outgoing = None
        if args.direction != "outgoing":
            found.append(await ctx.index.ask(Callers(definition, MOST)))
            callers = await sight.settled(map(Symbol.of_index, found[-1].items))
            incoming = [replace(one, calls=(*_call_lines(sight, one, symbol.name),)) for one in callers]
        if args.direction != "incoming":
            found.append(await ctx.index.ask(Callees(definition, MOST)))
            outgoing = await sight.settled(map(Symbol.of_index, found[-1].items))
        calls.append(Calls(symbol, incoming, outgoing))
    return calls


async def indexed(ctx: ToolContext, symbol: Symbol) -> FoundDefinition:
    """The definition in the index. Raises ToolError."""
    found = await ctx.index.ask(DefinitionsOf(symbol.qualified_name, symbol.path))
    if not found.items:
        raise ToolError(
            "not_found",
            f"the index does not have {symbol.qualified_name} yet",
            hint="use find_references or search_text",
        )
    return min(found.items, key=lambda one: abs(one.definition.name_line - symbol.name_line))


def _call_lines(sight: Sight, caller: Symbol, name: str) -> Iterator[int]:
    if caller.kind == "module":
        yield caller.name_line
        return
    lines = sight.lines(caller.path)
    pattern = re.compile(rf"(?<!\w){re.escape(name)}\s*[(<\[{{`!]|@{re.escape(name)}(?!\w)")
    found = [
        number
        for number in range(caller.start_line, min(caller.end_line, len(lines)) + 1)
        if pattern.search(lines[number - 1])
    ]
    yield from found[:MOST_LINES]


def _lines(sight: Sight, calls: Calls, source: Source) -> Iterator[str]:
    for title, others in (("Callers of", calls.incoming), ("Called by", calls.outgoing)):
        if others is not None:
            yield f"{title} {calls.symbol.qualified_name}, {source} ({sight.describe(calls.symbol)}):"
            yield from (f"  {sight.describe(other)}" for other in others)
            if not others:
                yield "  none are known"


FACTS = ToolFacts(reads=True, edits=False, runs=False, modes=ALL_MODES, scopes=ALL_SCOPES, of_workspace=True)
TOOL = Tool("call_hierarchy", DESCRIPTION, CallHierarchyArguments, Risk.READ_ONLY, preview, run, facts=FACTS)
