"""Completion of mentions in a chat: `@file`, paths after `@file:`, resources of MCP servers after `@mcp:`."""

import asyncio
import logging
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tark_lsp.errors import ToolError
from tark_lsp.server.chat.slash_completion import word_item
from tark_lsp.server.prompting.mentions import Argument, MentionKind
from tark_lsp.server.prompting.symbols import names_beginning
from tark_lsp.server.protocol.outgoing import range_json
from tark_lsp.server.turns.mcp_listing import McpListing
from tark_lsp.visible import visible
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.positions import to_client
from tark_lsp.workspace.search.ripgrep import SearchScope, list_files
from tark_lsp.workspace.search.search_program import SearchProgram

log = logging.getLogger(__name__)

TYPED = re.compile(r"(?<![\w@/.])@(?:(?P<name>[a-z]+):(?P<argument>[^\s\"`]*)|(?P<word>[^\s\"`:@]*))$")
LONGEST_TYPED = 300
"""How many characters before the cursor are searched for a mention."""
MOST_PATHS = 100
KEPT_SECONDS = 5.0
"""How long a listing of the workspace is reused, because users type several letters per second."""
LEAST_OF_NAME = 2
SYMBOL_SECONDS = 0.5
ITEM_KINDS: Mapping[Argument, int] = {"path": 17, "folder": 19, "name": 18}
"""The `CompletionItemKind` of each kind of argument."""
TEXT = 1
FOUND_KINDS = {"file": 17, "dir": 19, "symbol": 18}
"""The same by the kind of mention, for items that are offered without a colon."""
MOST_OPEN = 5
"""How many open files are offered before anything is typed."""


@dataclass(frozen=True, slots=True)
class Typed:
    """The mention before the cursor, from code point `start`. Without a colon, `argument` is None, and `name` is a part
    of any name: a kind, a file, a folder or a symbol."""

    start: int
    name: str
    argument: str | None


def typed_before(line: str, column: int) -> Typed | None:
    found = TYPED.search(line, max(0, column - LONGEST_TYPED), column)
    if found is None:
        return None
    return Typed(found.start(), found["name"] or found["word"] or "", found["argument"])


class Completion:
    def __init__(
        self,
        workspace: Workspace,
        kinds: Mapping[str, MentionKind],
        listing: McpListing,
        unsaved: Callable[[Path], Sequence[Path]],
        opened: Callable[[], Iterable[Path]],
    ) -> None:
        """`unsaved(folder)`: the open documents below it with unsaved changes. `opened()`: all open files."""
        self._workspace = workspace
        self._kinds = kinds
        self._listing = listing
        self._unsaved = unsaved
        self._opened = opened
        self._listed: tuple[float, tuple[Path, ...], list[str]] = (0.0, (), [])

    async def complete_mention(self, line: str, number: int, column: int, encoding: str) -> dict[str, Any] | None:
        """A `CompletionList` for the cursor at code point `column` of line `number`. None if no mention is typed."""
        typed = typed_before(line, column)
        if typed is None:
            return None
        span = range_json(number, to_client(line, typed.start, encoding), number, to_client(line, column, encoding))
        if typed.argument is None:
            return {"isIncomplete": True, "items": await self._any(typed.name, span)}
        if typed.name == "mcp":
            return {"isIncomplete": True, "items": await self._resources(typed.argument, span)}
        kind = self._kinds.get(typed.name)
        item_kind = None if kind is None or kind.argument is None else ITEM_KINDS.get(kind.argument)
        if kind is None or item_kind is None:
            return None
        found = await self._symbols(typed.argument) if kind.argument == "name" else await self._paths()
        if kind.argument == "folder":
            found = folders_of(found)
        items = [
            _item(typed.name, word, item_kind, order, span) for order, word in enumerate(best(found, typed.argument))
        ]
        return {"isIncomplete": True, "items": items}

    async def _any(self, word: str, span: dict[str, Any]) -> list[dict[str, Any]]:
        """Kinds of mentions, then files, folders and symbols, best match first, open files before others."""
        kinds = [
            _kind_item(name, kind, span)
            for name, kind in self._kinds.items()
            if any(each.startswith(word.lower()) for each in (name, kind.also))
        ]
        opened = {self._workspace.display(path) for path in self._opened() if self._workspace.is_inside(path)}
        if not word:
            first = [("file", path) for path in sorted(opened)[:MOST_OPEN]]
            return _in_order([*(_found_item(*each, word, span, opened) for each in first), *kinds])
        paths = await self._paths()
        found = [
            *(("file", path) for path in paths),
            *(("dir", path) for path in folders_of(paths)),
            *(("symbol", name) for name in await self._symbols(word)),
        ]
        ranked = sorted(
            (rank, text not in opened, len(text), text, kind)
            for kind, text in found
            if (rank := match_rank(text, word)) is not None
        )
        best_ones = [(kind, text) for *_, text, kind in ranked[:MOST_PATHS]]
        return _in_order([*kinds, *(_found_item(*each, word, span, opened) for each in best_ones)])

    async def _symbols(self, prefix: str) -> list[str]:
        """Empty if that takes too long, or if fewer than two letters are typed: too many names would match."""
        if len(prefix) < LEAST_OF_NAME or not self._workspace.folders:
            return []
        try:
            async with asyncio.timeout(SYMBOL_SECONDS):
                return await names_beginning(prefix, self._workspace, self._unsaved)
        except (TimeoutError, ToolError) as error:
            log.info("no names to complete: %s", error)
            return []

    async def _resources(self, typed: str, span: dict[str, Any]) -> list[dict[str, Any]]:
        """The resources of running MCP servers."""
        abouts = dict(await self._listing.words("resources"))
        items = enumerate(best(list(abouts), typed))
        return [{**_item("mcp", word, TEXT, order, span), "detail": visible(abouts[word])} for order, word in items]

    async def _paths(self) -> list[str]:
        """The displayed paths in the workspace, without ignored files."""
        listed, folders, paths = self._listed
        if folders == self._workspace.folders and time.monotonic() - listed < KEPT_SECONDS:
            return paths
        folders = self._workspace.folders
        try:
            found, _ = (
                await list_files(SearchProgram.find_installed(folders), SearchScope(folders)) if folders else ([], True)
            )
        except ToolError as error:
            log.warning("no paths to complete: %s", error)
            return []
        paths = [self._workspace.display(Path(path)) for path in found]
        self._listed = (time.monotonic(), folders, paths)
        return paths


def best(paths: Sequence[str], typed: str) -> list[str]:
    """At most 100 paths that match the typed letters, the best first."""
    ranked = [(rank, len(path), path) for path in paths if (rank := match_rank(path, typed)) is not None]
    ranked.sort()
    return [path for *_, path in ranked[:MOST_PATHS]]


def match_rank(path: str, typed: str) -> int | None:
    """0 is the best match: the path, or a name in it, begins with the typed letters. 1: the path contains them. 2: the
    last name has them in this order, with others between them. 3: the path has. None: it does not match."""
    wanted, lower = typed.lower(), path.lower()
    if lower.startswith(wanted) or f"/{wanted}" in lower:
        return 0
    if wanted in lower:
        return 1
    if _has_in_order(lower.rpartition("/")[2], wanted):
        return 2
    return 3 if _has_in_order(lower, wanted) else None


def _has_in_order(text: str, letters: str) -> bool:
    at = 0
    for letter in letters:
        at = text.find(letter, at) + 1
        if at == 0:
            return False
    return True


def _found_item(name: str, word: str, typed: str, span: dict[str, Any], opened: Collection[str]) -> dict[str, Any]:
    """A file, a folder or a symbol. Its own name comes first, because lists are narrow. Clients that filter the items
    themselves do not match like this, so the filter text is what was typed."""
    parent, _, last = word.rpartition("/")
    about = {"dir": "folder", "symbol": "symbol"}.get(name, "open file" if word in opened else "")
    item = _item(name, word, FOUND_KINDS[name], 0, span)
    label = f"{last}/" if name == "dir" else last
    detail = visible(", ".join(filter(None, (parent, about))))
    return {**item, "label": visible(label), "detail": detail, "filterText": f"@{typed}"}


def _in_order(items: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**item, "sortText": f"{order:03d}"} for order, item in enumerate(items)]


def _kind_item(name: str, kind: MentionKind, span: dict[str, Any]) -> dict[str, Any]:
    return word_item(f"@{name}:" if kind.argument else f"@{name}", kind.about, span)


def folders_of(paths: Sequence[str]) -> list[str]:
    """The folders of these files, in order."""
    return sorted({path[: found.start()] for path in paths for found in re.finditer("/", path)})


def _item(name: str, word: str, kind: int, order: int, span: dict[str, Any]) -> dict[str, Any]:
    text = f'@{name}:"{word}"' if re.search(r"[\s\"`]", word) else f"@{name}:{word}"
    return {
        "label": visible(word),
        "kind": kind,
        "filterText": f"@{name}:{word}",
        "sortText": f"{order:03d}",
        "textEdit": {"range": span, "newText": text},
    }
