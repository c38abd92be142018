"""Completion in a chat: mentions (`@file`, paths after `@file:`), and `/name` at the start of a message."""

import asyncio
import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tark_lsp.agent.kinds import kind_of_prompt
from tark_lsp.errors import ToolError
from tark_lsp.server.prompting.mentions import Argument, MentionKind
from tark_lsp.server.prompting.named_prompts import NamedPrompts
from tark_lsp.server.prompting.symbols import names_beginning
from tark_lsp.server.protocol.outgoing import range_json
from tark_lsp.tools.ripgrep import SearchScope, list_files
from tark_lsp.tools.search_program import SearchProgram
from tark_lsp.visible import visible
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.positions import to_client

log = logging.getLogger(__name__)

TYPED = re.compile(r"(?<![\w@/.])@(?P<name>[a-z]*)(?P<argument>:[^\s\"`]*)?$")
SLASH_TYPED = re.compile(r"\s*/[\w-]*")
BUILT_IN = {
    "explain": "explain what you point at",
    "fix": "repair what you point at",
    "test": "write tests",
    "document": "write documentation",
    "ask": "an answer in words, nothing changed",
}
"""The built-in kinds of turns that work without a selection."""
LONGEST_TYPED = 300
"""Characters before the caret that are searched for a mention."""
MOST_PATHS = 100
KEPT_SECONDS = 5.0
"""How long a listing of the workspace is reused: people type several letters a second."""
LEAST_OF_NAME = 2
SYMBOL_SECONDS = 0.5
KEYWORD = 14
ITEM_KINDS: Mapping[Argument, int] = {"path": 17, "folder": 19, "name": 18}
"""The `CompletionItemKind` of each kind of argument."""


@dataclass(frozen=True, slots=True)
class Typed:
    """The mention before the caret, from code point `start`. `argument` is None if there is no colon yet."""

    start: int
    name: str
    argument: str | None


def typed_before(line: str, column: int) -> Typed | None:
    found = TYPED.search(line, max(0, column - LONGEST_TYPED), column)
    if found is None:
        return None
    return Typed(found.start(), found["name"], None if found["argument"] is None else found["argument"][1:])


class Completion:
    def __init__(
        self,
        workspace: Workspace,
        kinds: Mapping[str, MentionKind],
        prompts: NamedPrompts,
        unsaved: Callable[[Path], Sequence[Path]],
    ) -> None:
        """`unsaved(folder)`: the open documents below it with unsaved changes."""
        self._workspace = workspace
        self._kinds = kinds
        self._prompts = prompts
        self._unsaved = unsaved
        self._listed: tuple[float, tuple[Path, ...], list[str]] = (0.0, (), [])

    async def complete_mention(self, line: str, number: int, column: int, encoding: str) -> dict[str, Any] | None:
        """A `CompletionList` for the caret at code point `column` of line `number`. None if no mention is typed."""
        typed = typed_before(line, column)
        if typed is None:
            return None
        span = range_json(number, to_client(line, typed.start, encoding), number, to_client(line, column, encoding))
        if typed.argument is None:
            return {
                "isIncomplete": False,
                "items": [_kind_item(name, kind, span) for name, kind in self._kinds.items()],
            }
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

    def complete_slash(self, line: str, number: int, column: int, encoding: str) -> dict[str, Any] | None:
        """The same for a `/name` at the start of a message. None if none is typed there."""
        if SLASH_TYPED.fullmatch(line, 0, min(column, LONGEST_TYPED)) is None:
            return None
        start = to_client(line, line.index("/"), encoding)
        span = range_json(number, start, number, to_client(line, column, encoding))
        calls = dict(BUILT_IN)
        for prompt in self._prompts.load_all().values():
            if not kind_of_prompt(prompt).needs_range:  # there is no selection in a chat
                whose = "the project's: " if prompt.source.whose == "project" else ""
                calls[prompt.name] = f"{whose}{visible(prompt.description or prompt.title)}"
        return {"isIncomplete": False, "items": [_word_item(f"/{name}", about, span) for name, about in calls.items()]}

    async def _paths(self) -> list[str]:
        """The paths in the workspace for people, without ignored files."""
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
    """At most 100 paths that contain the typed letters. First those with a name that begins so, then by length."""
    wanted = typed.lower()
    ranked = []
    for path in paths:
        lower = path.lower()
        if wanted in lower:
            begins = lower.startswith(wanted) or f"/{wanted}" in lower
            ranked.append((not begins, len(path), path))
    ranked.sort()
    return [path for *_, path in ranked[:MOST_PATHS]]


def _kind_item(name: str, kind: MentionKind, span: dict[str, Any]) -> dict[str, Any]:
    return _word_item(f"@{name}:" if kind.argument else f"@{name}", kind.about, span)


def _word_item(text: str, about: str, span: dict[str, Any]) -> dict[str, Any]:
    edit = {"range": span, "newText": text}
    return {"label": visible(text), "kind": KEYWORD, "detail": about, "filterText": text, "textEdit": edit}


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
