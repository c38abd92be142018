"""`@file:src/a.py:10-20`, `@dir`, `@symbol`, `@selection`, `@diagnostics`, `@diff`, `@url` in a person's words: what
each gives to the model.

A row of the table in `Mentions` is all that a further one needs. What is not there is said, to the model and to the
person, and is never an error. A mention may stand in a comment that somebody else wrote: so none gives what the model
could not read by itself without the person being asked.
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tark_lsp.agent.prompt import Pointer, pointed_at
from tark_lsp.errors import TarkError
from tark_lsp.server.chat.fences import Fences
from tark_lsp.server.documents.selections import Selections
from tark_lsp.server.prompting.giving import Means, NotThere, by_tool, withheld
from tark_lsp.server.prompting.symbols import find_definitions
from tark_lsp.tools.places import locate, place_of
from tark_lsp.tools.read_diagnostics import as_line
from tark_lsp.tools.reading import show_file
from tark_lsp.tools.results import capped, character_limit, counted

MENTION = re.compile(r"(?<![\w@/.])@(?P<name>[a-z]+)\b(?::(?:\"(?P<quoted>[^\"]+)\"|(?P<word>[^\s\"`]+)))?")
LINES = re.compile(r"(?P<path>.+?):(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?")
PUNCTUATION = ".,;:!?)]}'"
"""What ends a sentence, not the name of a file."""
MOST = 50
"""Mentions of one message that are looked up."""
MOST_CHARACTERS = 150_000
"""Of all that one message is given; the model can read the rest by itself."""
MOST_PAGES = 5
"""Of the web, in one message: each is a question to the person."""
MOST_DEFINITIONS, MOST_PLACES = 5, 20
"""Of one name: shown whole, and named after them."""
LONGEST_DEFINITION = 120
"""Lines."""
DEPTH = 2
"""Of a folder's tree."""
CHANGES = "The person wants the changes of the working tree looked at: read them with the tool read_changes."


@dataclass(frozen=True, slots=True)
class Mention:
    """`text[start:end]` of a line; `argument` is what follows the colon, empty where nothing does."""

    name: str
    argument: str
    start: int
    end: int

    @property
    def words(self) -> str:
        return f"@{self.name}:{self.argument}" if self.argument else f"@{self.name}"


@dataclass(frozen=True, slots=True)
class Given:
    """`missing`: why there is nothing to give; empty where there is."""

    name: str
    text: str
    missing: str = ""


Argument: TypeAlias = Literal["path", "folder", "name", "address"]


@dataclass(frozen=True, slots=True)
class Kind:
    """`about`: one line for who completes it. `argument`: what follows the colon, where one does; chat/completion.py
    knows what there is of each. `give` raises TarkError where there is nothing to give."""

    about: str
    argument: Argument | None
    give: Callable[[str, Means], Awaitable[str]]


class Mentions:
    def __init__(self, selections: Selections) -> None:
        self._selections = selections
        self.kinds: Mapping[str, Kind] = {
            "file": Kind("a file, or lines of it: @file:src/a.py:10-20", "path", _file),
            "dir": Kind("what is in a folder: @dir:src", "folder", _dir),
            "symbol": Kind("where a name is defined: @symbol:Shape.area", "name", _symbol),
            "selection": Kind("what was last selected in another document", None, self._selection),
            "diagnostics": Kind("the errors and warnings the editor shows", None, _diagnostics),
            "diff": Kind("the changes of the working tree", None, _changes),
            "url": Kind("a page of the web; you are asked first: @url:https://...", "address", _url),
        }

    def find(self, text: str) -> list[Mention]:
        """Those outside of code, each once."""
        found = {each.words: each for each in _outside_of_code(text) if self._is_one(each)}
        return list(found.values())

    async def give(self, text: str, means: Means) -> Sequence[Given]:
        """What there is for each, in order; what is too much is said like what is missing."""
        found = self.find(text)
        given: list[Given] = []
        room, pages = MOST_CHARACTERS, MOST_PAGES
        for mention in found[:MOST]:
            pages -= mention.name == "url"
            if pages < 0 and mention.name == "url":
                each = _missing(mention.words, f"only the first {MOST_PAGES} pages of a message are fetched")
            else:
                each = await self._give(mention, means)
            if len(each.text) > room:
                each = _missing(mention.words, "the mentions before it take all the room: ask for less at once")
            room -= len(each.text)
            given.append(each)
        if more := found[MOST:]:
            given.append(_missing(more[0].words, f"only the first {MOST} mentions of a message are looked up"))
        return given

    def _is_one(self, mention: Mention) -> bool:
        kind = self.kinds.get(mention.name)
        return kind is not None and (kind.argument is not None) == bool(mention.argument)

    async def _give(self, mention: Mention, means: Means) -> Given:
        try:
            return Given(mention.words, await self.kinds[mention.name].give(mention.argument, means))
        except TarkError as error:
            return _missing(mention.words, error.message)

    async def _selection(self, _: str, means: Means) -> str:
        target = await self._selections.last()
        if target is None:
            raise NotThere("nothing was selected in another document yet")
        snapshot = target.selection.snapshot
        if target.is_file:
            if why := withheld(place_of(means.context, snapshot.path), means):
                raise NotThere(why)
            means.context.seen[snapshot.path] = snapshot
        return pointed_at(Pointer(target.name, target.selection, target.is_file))


def _missing(words: str, why: str) -> Given:
    return Given(words, f"[not there: {why}]", why)


def find_mentions(line: str) -> Iterator[Mention]:
    """In one line, of any name; `argument` is without the end of a sentence."""
    for found in MENTION.finditer(line):
        word = (found["word"] or "").rstrip(PUNCTUATION)
        end = found.end() - (len(found["word"] or "") - len(word))
        yield Mention(found["name"], found["quoted"] or word, found.start(), end)


def split_lines_of(argument: str) -> tuple[str, int | None, int | None]:
    """`src/a.py:10-20` -> its path, first and last line, from 1."""
    found = LINES.fullmatch(argument)
    if found is None:
        return argument, None, None
    first = max(1, int(found["first"]))
    return found["path"], first, max(first, int(found["last"] or first))


async def _file(argument: str, means: Means) -> str:
    path, first, last = split_lines_of(argument)
    place = locate(means.context, path)
    if why := withheld(place, means):
        raise NotThere(why)
    return show_file(means.context, place, first, last, character_limit(means.context.result_tokens))


async def _dir(argument: str, means: Means) -> str:
    return await by_tool("list_directory", {"path": argument, "depth": DEPTH}, means, asks=False)


async def _url(argument: str, means: Means) -> str:
    return await by_tool("fetch", {"url": argument}, means, asks=True)


async def _symbol(argument: str, means: Means) -> str:
    context = means.context
    name = argument.partition("(")[0]
    found = [
        (place, each)
        for each in await find_definitions(name, context.workspace, context.editor.unsaved)
        if not withheld(place := place_of(context, each.path), means)
    ]
    if not found:
        raise NotThere(f"no definition of {name} was found")
    limit = character_limit(context.result_tokens) // MOST_DEFINITIONS
    shown = [
        show_file(context, place, each.start + 1, min(each.end, each.start + LONGEST_DEFINITION), limit)
        for place, each in found[:MOST_DEFINITIONS]
    ]
    if more := found[MOST_DEFINITIONS:]:
        places = ", ".join(f"{place.shown}:{each.start + 1}" for place, each in more[:MOST_PLACES])
        shown.append(f"{counted(len(more), 'more place')}: {places}{' ...' * (len(more) > MOST_PLACES)}")
    return "\n".join(shown)


async def _diagnostics(_: str, means: Means) -> str:
    context = means.context
    found = await context.editor.diagnostics(None)
    shown = [each for each in found if not withheld(place_of(context, each.path), means)]
    if not shown:
        raise NotThere("the editor shows no diagnostics, or has not told of any")
    ordered = sorted(shown, key=lambda each: (each.path, each.line, each.character, each.severity, each.message))
    return capped(context, [as_line(context, each) for each in ordered], "read_diagnostics gives those of one file")


async def _changes(_: str, __: Means) -> str:
    return CHANGES


def _outside_of_code(text: str) -> Iterator[Mention]:
    fences = Fences()
    for line in text.splitlines():
        if fences.feed(line) or "@" not in line:
            continue
        ticks = at = 0
        for mention in find_mentions(line):
            ticks += line.count("`", at, mention.start)
            at = mention.start
            if ticks % 2 == 0:
                yield mention
