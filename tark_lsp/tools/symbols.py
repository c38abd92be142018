"""What the tools about symbols share: where a symbol is defined, by the index or the editor's language servers, and how
it is shown. Nothing of a file that the model must not read is shown, not even its name."""

import asyncio
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Any

from tark_lsp.errors import OutsideWorkspace, ToolError, WorkspaceError
from tark_lsp.index.model import Found, FoundDefinition
from tark_lsp.index.questions import DefinitionsOf, SymbolsLike
from tark_lsp.tools.language_servers import CodeAnswer, CodePlace, CodeQuestion, Want
from tark_lsp.tools.masking import mask_file
from tark_lsp.tools.places import locate_path
from tark_lsp.tools.search_text import LEFT_OUT
from tark_lsp.tools.tool import Location, Preview, Risk, ToolContext, ToolKind
from tark_lsp.workspace.lines import split_lines

SEPARATORS = re.compile(r"::|->|[.#]")
"""Between the parts of a qualified name."""
WORD = re.compile(r"\w+")
LONGEST_LINE = 200
LONGEST_SIGNATURE = 280
"""A longer one was perhaps cut within a secret, which is not recognised then: its line is shown instead."""
MOST_ASKED = 3
"""Definitions of one name that language servers are asked about."""
NEAR_NAMES = 5
AT_ONCE = 50
"""Symbols whose lines are compared with the text before something else runs."""


class Source(StrEnum):
    EDITOR = "from the editor's language server"
    INDEX = "from the index"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition. Lines count from 1, `end_line` is included. If `signature` is empty, its line says what it is."""

    path: Path
    start_line: int
    end_line: int
    name_line: int
    qualified_name: str
    kind: str = ""
    signature: str = ""
    calls: tuple[int, ...] = ()
    """In a call hierarchy, the lines of the calls, if they are known."""

    @property
    def name(self) -> str:
        return self.qualified_name.rpartition(".")[2]

    @classmethod
    def of_index(cls, found: FoundDefinition) -> "Symbol":
        one = found.definition
        where = (found.path, one.start_line, one.end_line, one.name_line)
        return cls(*where, one.qualified_name, one.kind.value, one.signature)

    @classmethod
    def of_editor(cls, place: CodePlace) -> "Symbol":
        where = (place.path, place.start_line, place.end_line, place.name_line)
        return cls(*where, place.qualified_name, place.kind, calls=place.calls)


@dataclass(slots=True)
class Sight:
    """What the model can see of the files of one result; reads each of them once."""

    ctx: ToolContext
    asked: set[str] = field(default_factory=set)
    _lines: dict[Path, Sequence[str] | None] = field(default_factory=dict)
    _visible: dict[Path, bool] = field(default_factory=dict)
    _words: dict[Path, dict[str, list[int]]] = field(default_factory=dict)
    """Of files whose text differs from what is known of it: the lines of each word."""

    def shows(self, path: Path) -> bool:
        """Whether the file may be named and shown: it is of the workspace, and no rule hides it or asks about it."""
        if path not in self._visible:
            ctx = self.ctx
            is_link = Path(os.path.realpath(path)) != path  # a file that was named can be a link by now
            inside = (
                not is_link
                and ctx.workspace.is_inside(path)
                and not ctx.is_read_denied(path)
                and not ctx.workspace.is_private(path)
            )
            if inside and ctx.is_read_asked(path):
                self.asked.add(ctx.workspace.display(path))
                inside = False
            self._visible[path] = inside
        return self._visible[path]

    def lines(self, path: Path) -> Sequence[str]:
        """The lines with their endings, secrets masked, and the edits of this answer applied. None: no such text."""
        if path not in self._lines:
            self._lines[path] = None
            with suppress(WorkspaceError):
                if self.shows(path):
                    self._lines[path] = split_lines(mask_file(self.ctx, path, self.ctx.read_draft(path).text).text)
        return self._lines[path] or ()

    def line(self, path: Path, number: int) -> str:
        lines = self.lines(path)
        text = lines[number - 1].strip() if 0 < number <= len(lines) else ""
        return text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}…"

    async def read(self, paths: Iterable[Path]) -> None:
        """Read these files. Others can run between two of them: to mask the secrets of a long one takes 20 ms."""
        for path in paths:
            if path not in self._lines:
                self.lines(path)
                await asyncio.sleep(0)

    async def settled(self, symbols: Iterable[Symbol]) -> list[Symbol]:
        """Those that can be seen, with their lines in the current text: it can be newer than what is known of it."""
        found: list[Symbol] = []
        for number, symbol in enumerate(symbols):
            await self.read([symbol.path])
            found += self._settled(symbol)
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)
        return found

    def _settled(self, symbol: Symbol) -> Iterator[Symbol]:
        lines, at = self.lines(symbol.path), symbol.name_line - 1
        pattern = re.compile(rf"(?<!\w){re.escape(symbol.name)}(?!\w)")
        if not lines or (at < len(lines) and pattern.search(lines[at])) or symbol.kind == "module":
            if lines:
                yield symbol
            return
        found = [number for number in self._lines_with(symbol) if pattern.search(lines[number])]
        if found:
            shift = min(found, key=lambda number: (abs(number - at), number)) - at
            start, end = symbol.start_line + shift, min(symbol.end_line + shift, len(lines))
            yield replace(symbol, start_line=max(1, start), end_line=end, name_line=symbol.name_line + shift)

    def _lines_with(self, symbol: Symbol) -> Sequence[int]:
        """The lines, from 0, that have the first word of its name; all lines if there is no word in it."""
        lines, word = self.lines(symbol.path), WORD.search(symbol.name)
        if word is None:
            return range(len(lines))
        if symbol.path not in self._words:
            words = self._words[symbol.path] = defaultdict(list)
            for number, line in enumerate(lines):
                for name in {*WORD.findall(line)}:
                    words[name].append(number)
        return self._words[symbol.path].get(word[0], ())

    def head(self, symbol: Symbol) -> str:
        """Its signature, or the line of its name."""
        if symbol.signature and len(symbol.signature) < LONGEST_SIGNATURE:
            return symbol.signature
        return self.line(symbol.path, symbol.name_line) or symbol.qualified_name

    def describe(self, symbol: Symbol) -> str:
        """One line: `path:START-END: signature [qualified name]`."""
        last = f"-{symbol.end_line}" if symbol.end_line > symbol.start_line else ""
        name = f" [{symbol.qualified_name}]" if "." in symbol.qualified_name else ""
        calls = f" (calls in line{'s' if len(symbol.calls) > 1 else ''} {', '.join(map(str, symbol.calls))})"
        where = f"{self.ctx.workspace.display(symbol.path)}:{symbol.start_line}{last}"
        head = "code outside of definitions" if symbol.kind == "module" and not symbol.signature else self.head(symbol)
        return f"{where}: {head}{name}{calls if symbol.calls else ''}"

    def notes(self, *found: Found[Any] | None) -> list[str]:
        """What the reader of a result has to know, as lines in brackets."""
        said = [note for one in found if one is not None for note in one.notes]
        shares = [one.share for one in found if one is not None and one.share < 1]
        if shares:
            said.append(
                f"The index holds {min(shares):.0%} of the files so far: there can be more. search_text finds it."
            )
        if self.ctx.may_hide_below(self.ctx.workspace.folders):
            said.append(LEFT_OUT)
        if self.asked:
            said.append(f"Not shown, because a rule asks before they are read: {', '.join(sorted(self.asked))}.")
        return [f"[{note}]" for note in dict.fromkeys(said)]


@dataclass(frozen=True, slots=True)
class Known:
    """Definitions of a name, and what the index said if it was asked."""

    symbols: Sequence[Symbol]
    source: Source
    found: Found[FoundDefinition] | None = None


def last_part(symbol: str) -> str:
    return SEPARATORS.split(symbol.strip())[-1].partition("(")[0].strip()


def parts_of(symbol: str) -> list[str]:
    return [part for part in SEPARATORS.split(symbol.strip().partition("(")[0]) if part]


def preview_of(ctx: ToolContext, tool: str, about: str, path: str | None) -> Preview:
    """Raises OutsideWorkspace: nothing is known of files outside the workspace."""
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
    """By the index, else by the editor. With `path`, those of the file, or all if it has none.

    Raises ToolError: `not_found` with names that are near, or what the index raised if there is none.
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
    """What language servers say: of a use of the name in the file, otherwise of the name in the workspace."""
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
    """A place that a language server gives has no name: it is that of the question."""
    return symbol if symbol.qualified_name else replace(symbol, qualified_name=".".join(parts_of(asked)))


def use_in(sight: Sight, symbol: str, path: Path, line: int | None = None) -> tuple[int, int] | None:
    """The line, from 1, and the column of the name in the file: in this line, or where it first is."""
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
    """What language servers say about these definitions, as far as they answer."""
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
    """Definitions whose names are like this one, also if it is misspelt."""
    with suppress(ToolError):
        like = [*(await ctx.index.ask(SymbolsLike(name, 4 * NEAR_NAMES))).items]
        if not like:
            beginnings = await ctx.index.ask(SymbolsLike(name[:3], 200))
            by_name = {one.definition.name: one for one in beginnings.items}
            like = [by_name[close] for close in get_close_matches(name, by_name, NEAR_NAMES, 0.6)]
        return (await sight.settled(map(Symbol.of_index, like)))[:NEAR_NAMES]
    return []


def _fits(symbol: Symbol, wanted: Sequence[str]) -> bool:
    """Whether the qualified name ends as it was asked for, as far as the server says what is around the symbol."""
    known = SEPARATORS.split(symbol.qualified_name)
    size = min(len(known), len(wanted))
    return known[-size:] == [*wanted[-size:]]


def unique(
    symbols: Iterable[Symbol], key: Callable[[Symbol], object] = lambda one: (one.path, one.name_line)
) -> list[Symbol]:
    return [*{key(one): one for one in reversed([*symbols])}.values()][::-1]
