"""Adds automatic context to the prompt of a turn: code that the index finds, within limits of time and tokens."""

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from tark_lsp.agent.kinds import Kind
from tark_lsp.agent.prompt import PromptContext, turn_prompt
from tark_lsp.context.automatic import LEVELS, Candidate, Level, Subject, find_candidates
from tark_lsp.context.automatic_snippets import choose_snippets, texts_of
from tark_lsp.context.snippets import Reference, parse_snippets
from tark_lsp.errors import ToolError, WorkspaceError
from tark_lsp.index.code_index import CodeIndex
from tark_lsp.index.model import Found
from tark_lsp.index.questions import Question
from tark_lsp.index.status import IndexState, IndexStatus
from tark_lsp.messages import Message, Text, ToolResult
from tark_lsp.server.prompting.mention_access import MentionAccess, why_not_readable
from tark_lsp.settings import ContextSettings
from tark_lsp.tools.masking import holds_keys, mask_file
from tark_lsp.tools.places import place_of_path
from tark_lsp.tools.tool import Selection, ToolContext
from tark_lsp.workspace.lines import split_lines

log = logging.getLogger(__name__)

T = TypeVar("T")

SECONDS = 0.3
"""The longest time that the prompt waits for the index."""
START_SECONDS = 0.15
"""The additional time if the index is just starting or being built."""
INDEXED = 0.9
"""If a smaller share of the files is indexed, the model and the user are informed. It is less than 1, because right
after a file was saved, not all files are indexed."""
WINDOW_SHARE = 0.05
"""The largest share of the model's window."""
LONGEST_FILE = 200_000
"""Characters. To mask the secrets of a longer file takes too long."""
WITHOUT = frozenset({"init", "review"})
"""Kinds of turns without automatic context, because they read what they need."""


async def with_automatic_context(
    around: PromptContext,
    prompt: str,
    kind: Kind,
    history: Sequence[Message],
    access: MentionAccess,
    settings: ContextSettings,
    window: int | None,
) -> PromptContext:
    """`around`, with the code that was found. `history`: the messages that the model already has. `window`: of the
    model.

    Code that is not found in time is left out. The log, the model's prompt and *Context* say so.
    """
    context = access.context
    if settings.automatic == "off" or kind.base in WITHOUT:
        return around
    level, began = LEVELS[settings.automatic], time.monotonic()
    is_ready = (await context.index.status()).state is IndexState.READY
    seconds = SECONDS if is_ready else SECONDS + START_SECONDS
    index = _Listening(context.index)
    candidates, is_late = await _candidates(_subject(prompt, context), level, index, seconds)
    told = turn_prompt(prompt, kind, context.mode, context.workspace, around)
    reader = _Reader(access, began + seconds)
    for path in dict.fromkeys(one.path for one in candidates):
        reader.lines(path)
        await asyncio.sleep(0)  # masking a long file takes 20 ms, so let other tasks run in between
    tokens = min(settings.tokens, settings.tokens if window is None else int(window * WINDOW_SHARE))
    shown = _shown([*history, told], {str(one.path) for one in candidates})
    snippets = choose_snippets(candidates, reader.lines, shown, prompt, level, tokens)
    if reader.is_late:
        log.warning("automatic context: not all files could be read within %g s", seconds)
    log.info("automatic context: %d snippets in %.0f ms", len(snippets), 1000 * (time.monotonic() - began))
    late = is_late or reader.is_late
    return replace(around, automatic=texts_of(snippets, building=index.share < INDEXED, late=late))


class _Listening:
    """The index. Remembers the smallest share of indexed files among its answers."""

    def __init__(self, index: CodeIndex) -> None:
        self._index = index
        self.share = 1.0

    async def status(self) -> IndexStatus:
        return await self._index.status()

    async def ask(self, question: Question[T]) -> Found[T]:
        found = await self._index.ask(question)
        self.share = min(self.share, found.share)
        return found


async def _candidates(subject: Subject, level: Level, index: CodeIndex, seconds: float) -> tuple[list[Candidate], bool]:
    """The candidates that the index found in time, and whether it was late."""
    found: list[Candidate] = []
    try:
        async with asyncio.timeout(seconds):
            await find_candidates(index, subject, level, found)
    except TimeoutError:
        log.warning("automatic context: the index did not answer within %g s", seconds)
        return found, True
    except ToolError as error:
        log.info("automatic context: %s", error.message)
    return found, False


def _subject(prompt: str, context: ToolContext) -> Subject:
    selection, folders = context.selection, context.workspace.folders
    if selection is None:
        return Subject(prompt, folders)
    text = selection.snapshot.text
    return Subject(prompt, folders, selection.snapshot.path, _lines(selection), text[selection.start : selection.end])


def _lines(selection: Selection) -> tuple[int, int]:
    """The first and the last selected line, from 1."""
    text = selection.snapshot.text
    first = text.count("\n", 0, selection.start) + 1
    return first, max(first, text.count("\n", 0, max(selection.start, selection.end - 1)) + 1)


def _shown(messages: Sequence[Message], paths: set[str]) -> list[Reference]:
    """The snippets of these files that the messages contain. They are read from the history, so snippets that a
    compaction removed count as not shown, and a reopened session gives the same result."""
    found: list[Reference] = []
    for message in messages:
        for part in message.parts:
            text = part.text if isinstance(part, Text) else part.content if isinstance(part, ToolResult) else ""
            if "<code=" in text and any(path in text for path in paths):
                found += [one for one in parse_snippets(text) if one.path in paths]
    return found


class _Reader:
    """Reads files as the tools do: by the rules, with unsaved text and masked secrets. Leaves out files of keys."""

    def __init__(self, access: MentionAccess, deadline: float) -> None:
        self._access = access
        self._deadline = deadline
        self._known: dict[Path, Sequence[str]] = {}
        self.is_late = False

    def lines(self, path: Path) -> Sequence[str]:
        """The lines; empty if the model may not read the file without a question, or if the time is over."""
        if path not in self._known:
            self.is_late = self.is_late or time.monotonic() > self._deadline
            self._known[path] = () if self.is_late else self._read(path)
        return self._known[path]

    def _read(self, path: Path) -> Sequence[str]:
        context = self._access.context
        with suppress(WorkspaceError):
            place = place_of_path(context, context.workspace.resolve(str(path)))
            if place.outside or holds_keys(context, place.path) or why_not_readable(place, self._access):
                return ()
            text = context.workspace.read(place.path).text
            return split_lines(mask_file(context, place.path, text).text) if len(text) <= LONGEST_FILE else ()
        return ()
