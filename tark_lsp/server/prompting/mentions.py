"""Mentions in a prompt, and the text that each adds to it: `@file:src/a.py:10-20`, `@dir`, `@symbol`, `@selection`,
`@diagnostics`, `@diff`, `@mcp`, `@url`.

To add a mention, add a row to the table in `Mentions`. If something does not exist, the model and the user get a note;
that is never an error. A mention can be in a comment that somebody else wrote, so without a question it reads only what
the model could read without asking the user.
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tark_lsp.agent.prompt import Pointer, describe_pointer
from tark_lsp.errors import TarkError
from tark_lsp.messages import Image
from tark_lsp.server.documents.selections import Selections
from tark_lsp.server.prompting.fences import Fences
from tark_lsp.server.prompting.mention_access import MentionAccess, NotAvailable, run_tool, why_not_readable
from tark_lsp.server.prompting.mentioned_images import is_image_name, read_image
from tark_lsp.server.prompting.symbols import find_definitions
from tark_lsp.tools.masking import mask_selection
from tark_lsp.tools.places import locate_path, place_of_path
from tark_lsp.tools.read_diagnostics import diagnostic_line
from tark_lsp.tools.reading import show_file
from tark_lsp.tools.results import cap_result, character_limit, count_noun

MENTION = re.compile(r"(?<![\w@/.])@(?P<name>[a-z]+)\b(?::(?:\"(?P<quoted>[^\"]+)\"|(?P<word>[^\s\"`]+)))?")
LINES = re.compile(r"(?P<path>.+?):(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?")
PUNCTUATION = ".,;:!?)]}'"
"""Characters that end a sentence, not the name of a file."""
MOST = 50
"""The most mentions that are looked up in one message."""
MOST_CHARACTERS = 150_000
"""The most characters of all mentions in one message together. The model can read the rest by itself."""
MOST_PAGES = 5
"""The most pages of the web in one message, because the user is asked about each."""
MOST_DEFINITIONS, MOST_PLACES = 5, 20
"""The most definitions of one name that are shown, and the most further ones whose places are listed."""
LONGEST_DEFINITION = 120
"""Lines."""
DEPTH = 2
"""The shown levels of a folder's tree."""
IMAGE = "[this image is attached]"
CHANGES = "The person wants the changes of the working tree looked at: read them with the tool read_changes."


@dataclass(frozen=True, slots=True)
class Mention:
    """`line[start:end]`. `argument` is the text after the colon; empty if there is none."""

    name: str
    argument: str
    start: int
    end: int

    @property
    def words(self) -> str:
        return f"@{self.name}:{self.argument}" if self.argument else f"@{self.name}"


@dataclass(frozen=True, slots=True)
class MentionText:
    """The text that a mention adds to the prompt. `missing`: why it adds nothing; empty if it adds something."""

    name: str
    text: str
    missing: str = ""
    image: Image | None = None


Argument: TypeAlias = Literal["path", "folder", "name", "address"]


@dataclass(frozen=True, slots=True)
class MentionKind:
    """`about`: one line for completion. `argument`: the kind of text after the colon; None for no colon
    (chat/completion.py completes it). `read` raises TarkError if there is nothing to read. `also`: another name, by
    which completion also finds the mention."""

    about: str
    argument: Argument | None
    read: Callable[[str, MentionAccess], Awaitable[str]]
    also: str = ""


class Mentions:
    def __init__(self, selections: Selections) -> None:
        self._selections = selections
        self.kinds: Mapping[str, MentionKind] = {
            "file": MentionKind("a file, or some of its lines: @file:src/a.py:10-20", "path", _file),
            "dir": MentionKind("the contents of a folder: @dir:src", "folder", _dir, "folder"),
            "symbol": MentionKind("the definitions of a name: @symbol:Shape.area", "name", _symbol),
            "selection": MentionKind("what was last selected in another document", None, self._selection),
            "diagnostics": MentionKind(
                "problems: the errors and warnings the editor shows", None, _diagnostics, "problems"
            ),
            "diff": MentionKind("the changes of the working tree", None, _changes, "changes"),
            "mcp": MentionKind(
                "a resource of an MCP server; you are asked first: @mcp:SERVER:URI", "address", _resource
            ),
            "url": MentionKind("a page of the web; you are asked first: @url:https://...", "address", _url, "web"),
        }

    def find_in(self, text: str) -> list[Mention]:
        """The known mentions outside of code, each once."""
        found = {mention.words: mention for mention in _outside_of_code(text) if self._is_known(mention)}
        return list(found.values())

    async def look_up(self, text: str, access: MentionAccess) -> Sequence[MentionText]:
        """The text of each mention, in order. A text that is too long counts as missing."""
        found = self.find_in(text)
        texts: list[MentionText] = []
        room, pages = MOST_CHARACTERS, MOST_PAGES
        for mention in found[:MOST]:
            pages -= mention.name == "url"
            if pages < 0 and mention.name == "url":
                looked_up = _missing(mention.words, f"only the first {MOST_PAGES} pages of a message are fetched")
            else:
                looked_up = await self._read(mention, access)
            if len(looked_up.text) > room:
                looked_up = _missing(mention.words, "the mentions before it fill the limit: mention less at once")
            room -= len(looked_up.text)
            texts.append(looked_up)
        if more := found[MOST:]:
            texts.append(_missing(more[0].words, f"only the first {MOST} mentions of a message are looked up"))
        return texts

    def _is_known(self, mention: Mention) -> bool:
        kind = self.kinds.get(mention.name)
        return kind is not None and (kind.argument is not None) == bool(mention.argument)

    async def _read(self, mention: Mention, access: MentionAccess) -> MentionText:
        try:
            if mention.name == "file" and is_image_name(mention.argument):
                return MentionText(mention.words, IMAGE, image=await read_image(mention.argument, access))
            return MentionText(mention.words, await self.kinds[mention.name].read(mention.argument, access))
        except TarkError as error:
            return _missing(mention.words, error.message)

    async def _selection(self, _: str, access: MentionAccess) -> str:
        target = await self._selections.last_selection()
        if target is None:
            raise NotAvailable("nothing was selected in another document yet")
        snapshot = target.selection.snapshot
        if target.is_file:
            if why := why_not_readable(place_of_path(access.context, snapshot.path), access):
                raise NotAvailable(why)
            access.context.seen[snapshot.path] = snapshot
        return describe_pointer(Pointer(target.name, mask_selection(access.context, target.selection), target.is_file))


def _missing(words: str, why: str) -> MentionText:
    return MentionText(words, f"[not there: {why}]", why)


def find_mentions(line: str) -> Iterator[Mention]:
    """The mentions in one line, with any name. `argument` does not include punctuation that ends a sentence."""
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


async def _file(argument: str, access: MentionAccess) -> str:
    path, first, last = split_lines_of(argument)
    place = locate_path(access.context, path)
    if why := why_not_readable(place, access):
        raise NotAvailable(why)
    return show_file(access.context, place, first, last, character_limit(access.context.result_tokens))


async def _dir(argument: str, access: MentionAccess) -> str:
    return await run_tool("list_directory", {"path": argument, "depth": DEPTH}, access, asks=False)


async def _url(argument: str, access: MentionAccess) -> str:
    return await run_tool("fetch", {"url": argument}, access, asks=True)


async def _resource(argument: str, access: MentionAccess) -> str:
    server, _, uri = argument.partition(":")
    reader = f"mcp__{server}__@resource"  # defined in server/turns/mcp_texts.py
    if reader not in access.tools:
        raise NotAvailable(f"there is no MCP server {server!r} that you approved, or you do not trust this workspace")
    return await run_tool(reader, {"uri": uri}, access, asks=True)


async def _symbol(argument: str, access: MentionAccess) -> str:
    context = access.context
    name = argument.partition("(")[0]
    found = [
        (place, definition)
        for definition in await find_definitions(name, context.workspace, context.editor.unsaved_documents)
        if not why_not_readable(place := place_of_path(context, definition.path), access)
    ]
    if not found:
        raise NotAvailable(f"no definition of {name} was found")
    limit = character_limit(context.result_tokens) // MOST_DEFINITIONS
    shown = [
        show_file(context, place, found_at.start + 1, min(found_at.end, found_at.start + LONGEST_DEFINITION), limit)
        for place, found_at in found[:MOST_DEFINITIONS]
    ]
    if more := found[MOST_DEFINITIONS:]:
        places = ", ".join(f"{place.shown}:{found_at.start + 1}" for place, found_at in more[:MOST_PLACES])
        shown.append(f"{count_noun(len(more), 'more place')}: {places}{' ...' * (len(more) > MOST_PLACES)}")
    return "\n".join(shown)


async def _diagnostics(_: str, access: MentionAccess) -> str:
    context = access.context
    found = await context.editor.read_diagnostics(None)
    shown = [item for item in found if not why_not_readable(place_of_path(context, item.path), access)]
    if not shown:
        raise NotAvailable("the editor shows no diagnostics, or has not reported any")
    ordered = sorted(shown, key=lambda item: (item.path, item.line, item.character, item.severity, item.message))
    return cap_result(
        context, [diagnostic_line(context, item) for item in ordered], "read_diagnostics gives those of one file"
    )


async def _changes(_: str, __: MentionAccess) -> str:
    return CHANGES


def _outside_of_code(text: str) -> Iterator[Mention]:
    fences = Fences()
    for line in text.splitlines():
        if fences.add_line(line) or "@" not in line:
            continue
        ticks = at = 0
        for mention in find_mentions(line):
            ticks += line.count("`", at, mention.start)
            at = mention.start
            if ticks % 2 == 0:
                yield mention
