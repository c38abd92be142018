"""Shared by the tools for symbols: finds definitions with the index or the editor's language servers."""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from tark_lsp.errors import OutsideWorkspace, ToolError
from tark_lsp.index.model import Found, FoundDefinition
from tark_lsp.index.questions import DefinitionsOf, SymbolsLike
from tark_lsp.tools.language_servers import CodeAnswer, CodeQuestion, Want
from tark_lsp.tools.places import locate_path
from tark_lsp.tools.symbol_sight import Sight, Source, Symbol
from tark_lsp.tools.tool import Location, Preview, Risk, ToolContext, ToolKind

SEPARATORS = re.compile(r"::|->|[.#]")
"""The separators between the parts of a qualified name."""
MOST_ASKED = 3
"""The maximum number of definitions of one name for which language servers are asked."""
NEAR_NAMES = 5


@dataclass(frozen=True, slots=True)
class Known:
    """Definitions of a name, and the answer of the index if it was asked."""

    symbols: Sequence[Symbol]
    source: Source
    found: Found[FoundDefinition] | None = None


def last_part(symbol: str) -> str:
    return SEPARATORS.split(symbol.strip())[-1].partition("(")[0].strip()


def parts_of(symbol: str) -> list[str]:
    return [part for part in SEPARATORS.split(symbol.strip().partition("(")[0]) if part]


def preview_of(ctx: ToolContext, tool: str, about: str, path: str | None) -> Preview:
    """Raises OutsideWorkspace, because symbols are only known inside the workspace."""
    locations = (Location(file_of(ctx, path)),) if path else ()
    where = f" in {ctx.workspace.display(locations[0].path)}" if locations else ""
    return Preview(f"{tool} {about}{where}".strip(), ToolKind.READ, Risk.READ_ONLY, locations=locations)


def file_of(ctx: ToolContext, path: str) -> Path:
    """Raises OutsideWorkspace, and ToolError `denied`."""
    place = locate_path(ctx, path)
    if place.outside:
        raise OutsideWorkspace(f"{path} is outside the workspace", hint="symbols are known of the workspace only")
    if ctx.is_read_denied(place.path):
        raise ToolError("denied", f"a rule hides {place.shown} from you", hint="do without it")
    return place.path


async def definitions_of(ctx: ToolContext, sight: Sight, symbol: str, path: Path | None) -> Known:
    """Ask the index, then the editor. `path`: prefer the definitions in this file; if there are none, return all.

    Raises ToolError: `not_found` with similar names, or the error of the index if nothing was found.
    """
    if not last_part(symbol):
        raise ToolError(
            "invalid_arguments", f"{symbol!r} is not a name", hint="give a name, such as area or Shape.area"
        )
    problem: ToolError | None = None
    found: Found[FoundDefinition] | None = None
    try:
        for where in dict.fromkeys((path, None)):
            found = await ctx.index.ask(DefinitionsOf(".".join(parts_of(symbol)), where))
            symbols = await sight.settled(map(Symbol.of_index, found.items))
            if symbols:
                return Known(symbols, Source.INDEX, found)
    except ToolError as error:
        problem = error
    by_editor = await editor_definitions(ctx, sight, symbol, path)
    if by_editor:
        return Known(by_editor, Source.EDITOR)
    if problem is not None:
        raise problem
    raise await not_found(ctx, sight, symbol, found)


async def editor_definitions(ctx: ToolContext, sight: Sight, symbol: str, path: Path | None) -> list[Symbol]:
    """The definitions from language servers: for a use of the name in the file, else for the name in the workspace."""
    answer: CodeAnswer | None = None
    if path is not None and (place := use_in(sight, symbol, path)) is not None:
        answer = await ctx.editor.ask_language_servers(CodeQuestion(Want.DEFINITION, path, *place))
    if answer is None:
        answer = await ctx.editor.ask_language_servers(CodeQuestion(Want.SYMBOLS, query=last_part(symbol)))
    if answer is None:
        return []
    wanted = parts_of(symbol)
    symbols = [named(Symbol.of_editor(place), symbol) for place in answer.places]
    fitting = [one for one in symbols if one.name == wanted[-1] and _fits(one, wanted)]
    return [*dict.fromkeys(await sight.settled(fitting))]


def named(symbol: Symbol, asked: str) -> Symbol:
    """Add the requested name to a symbol that has none: some answers of language servers contain no name."""
    return symbol if symbol.qualified_name else replace(symbol, qualified_name=".".join(parts_of(asked)))


def use_in(sight: Sight, symbol: str, path: Path, line: int | None = None) -> tuple[int, int] | None:
    """The line (from 1) and the column of the name in the file: on `line`, or its first occurrence."""
    lines = sight.lines(path)
    patterns = [rf"(?<!\w){re.escape(symbol)}(?!\w)", rf"(?<!\w){re.escape(last_part(symbol))}(?!\w)"]
    for pattern in map(re.compile, patterns):
        for number in (line,) if line else range(1, len(lines) + 1):
            if 0 < number <= len(lines) and (found := pattern.search(lines[number - 1])):
                return number, found.end() - len(last_part(symbol))
    return None


async def ask_about(
    ctx: ToolContext, sight: Sight, want: Want, symbols: Sequence[Symbol]
) -> list[tuple[Symbol, CodeAnswer]]:
    """The answers of language servers about these definitions, if they answer."""
    answers: list[tuple[Symbol, CodeAnswer]] = []
    for symbol in symbols[:MOST_ASKED]:
        place = use_in(sight, symbol.name, symbol.path, symbol.name_line)
        if place is not None:
            answer = await ctx.editor.ask_language_servers(CodeQuestion(want, symbol.path, *place))
            if answer is None:
                return answers  # each unanswered question can take 2 s
            answers.append((symbol, answer))
    return answers


async def not_found(
    ctx: ToolContext, sight: Sight, symbol: str, found: Found[FoundDefinition] | None = None
) -> ToolError:
    name = last_part(symbol)
    near = await _near(ctx, sight, name)
    listed = [f"{one.qualified_name} ({ctx.workspace.display(one.path)}:{one.name_line})" for one in near]
    why = " ".join(note.strip("[]") for note in sight.notes(found))
    return ToolError(
        "not_found",
        " ".join(filter(None, (f"nothing named {symbol} is defined in the workspace.", why))),
        hint=f"perhaps you mean {', '.join(listed)}" if listed else "search_text finds every use of a text",
        details={"near": listed} if listed else {},
    )


async def _near(ctx: ToolContext, sight: Sight, name: str) -> list[Symbol]:
    """Definitions with similar names, even if this one is misspelled."""
    with suppress(ToolError):
        like = [*(await ctx.index.ask(SymbolsLike(name, 4 * NEAR_NAMES))).items]
        if not like:
            beginnings = await ctx.index.ask(SymbolsLike(name[:3], 200))
            by_name = {one.definition.name: one for one in beginnings.items}
            like = [by_name[close] for close in get_close_matches(name, by_name, NEAR_NAMES, 0.6)]
        return (await sight.settled(map(Symbol.of_index, like)))[:NEAR_NAMES]
    return []


def _fits(symbol: Symbol, wanted: Sequence[str]) -> bool:
    """Whether the end of the qualified name matches the requested one, as far as the server reports its container."""
    known = SEPARATORS.split(symbol.qualified_name)
    size = min(len(known), len(wanted))
    return known[-size:] == [*wanted[-size:]]


def unique(
    symbols: Iterable[Symbol], key: Callable[[Symbol], object] = lambda one: (one.path, one.name_line)
) -> list[Symbol]:
    return [*{key(one): one for one in reversed([*symbols])}.values()][::-1]
