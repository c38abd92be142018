"""`@file:src/a.py:10-20`, `@selection`, `@diagnostics`, `@diff` in a person's words: what each gives to the model.

A row of the table in `Mentions` is all that a further one needs. What is not there is said, to the model and to the
person, and is never an error.
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tark_lsp.agent.approval import Allow, Ask, Deny, Policy, decide
from tark_lsp.agent.prompt import Pointer, pointed_at
from tark_lsp.errors import TarkError
from tark_lsp.server.chat.fences import Fences
from tark_lsp.server.documents.selections import Selections
from tark_lsp.tools.places import Place, locate
from tark_lsp.tools.read_diagnostics import as_line
from tark_lsp.tools.reading import show_file
from tark_lsp.tools.results import cap_lines, character_limit
from tark_lsp.tools.tool import Location, Preview, Risk, ToolContext, ToolKind

MENTION = re.compile(r"(?<![\w@/.])@(?P<name>[a-z]+)\b(?::(?:\"(?P<quoted>[^\"]+)\"|(?P<word>[^\s\"`]+)))?")
LINES = re.compile(r"(?P<path>.+?):(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?")
PUNCTUATION = ".,;:!?)]}'"
"""What ends a sentence, not the name of a file."""
MOST = 50
"""Mentions of one message that are looked up."""
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


@dataclass(frozen=True, slots=True)
class Kind:
    """`about`: one line for who completes it. `give` raises TarkError where there is nothing to give."""

    about: str
    takes_argument: bool
    give: Callable[[str, ToolContext, Policy], Awaitable[str]]


class NotThere(TarkError):
    """What was mentioned is not to be had."""

    code = "not_found"


class Mentions:
    def __init__(self, selections: Selections) -> None:
        self._selections = selections
        self.kinds: Mapping[str, Kind] = {
            "file": Kind("a file, or lines of it: @file:src/a.py:10-20", True, _file),
            "selection": Kind("what was last selected in another document", False, self._selection),
            "diagnostics": Kind("the errors and warnings the editor shows", False, _diagnostics),
            "diff": Kind("the changes of the working tree", False, _changes),
        }

    def find(self, text: str) -> list[Mention]:
        """Those outside of code, each once."""
        found = {each.words: each for each in _outside_of_code(text) if self._is_one(each)}
        return list(found.values())

    async def give(self, text: str, context: ToolContext, rules: Policy) -> Sequence[Given]:
        """No more than the model could read by itself: a mention may stand in a comment that somebody else wrote."""
        return [await self._give(each, context, rules) for each in self.find(text)[:MOST]]

    def _is_one(self, mention: Mention) -> bool:
        kind = self.kinds.get(mention.name)
        return kind is not None and kind.takes_argument == bool(mention.argument)

    async def _give(self, mention: Mention, context: ToolContext, rules: Policy) -> Given:
        try:
            text = await self.kinds[mention.name].give(mention.argument, context, rules)
        except TarkError as error:
            return Given(mention.words, f"[not there: {error.message}]", error.message)
        return Given(mention.words, text)

    async def _selection(self, _: str, context: ToolContext, rules: Policy) -> str:
        target = await self._selections.last()
        if target is None:
            raise NotThere("nothing was selected in another document yet")
        snapshot = target.selection.snapshot
        if target.is_file:
            if why := _withheld(Place(snapshot.path, target.name), context, rules):
                raise NotThere(why)
            context.seen[snapshot.path] = snapshot
        return pointed_at(Pointer(target.name, target.selection, target.is_file))


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


async def _file(argument: str, context: ToolContext, rules: Policy) -> str:
    path, first, last = split_lines_of(argument)
    place = locate(context, path)
    if why := _withheld(place, context, rules):
        raise NotThere(why)
    return show_file(context, place, first, last, character_limit(context.result_tokens))


async def _diagnostics(_: str, context: ToolContext, rules: Policy) -> str:
    found = await context.editor.diagnostics(None)
    shown = [each for each in found if not _withheld(Place(each.path, ""), context, rules)]
    if not shown:
        raise NotThere("the editor shows no diagnostics, or has not told of any")
    ordered = sorted(shown, key=lambda each: (each.path, each.line, each.character, each.severity, each.message))
    lines = [as_line(context, each) for each in ordered]
    return cap_lines(lines, character_limit(context.result_tokens), "read_diagnostics gives those of one file")


async def _changes(_: str, __: ToolContext, ___: Policy) -> str:
    return CHANGES


def _withheld(place: Place, context: ToolContext, rules: Policy) -> str:
    """Why read_file would not give it without asking; empty: it would."""
    preview = Preview(
        f"read_file {place.shown}",
        ToolKind.READ,
        Risk.READ_ONLY,
        locations=(Location(place.path),),
        outside=place.outside,
    )
    match decide("read_file", preview, rules, context.workspace):
        case Allow():
            return ""
        case Ask(why):
            return f"{why}, so the model has to ask for it with read_file"
        case Deny(why):
            return why


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
