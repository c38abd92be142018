"""Writes one answer into an open chat document while it streams. Its edits adapt to what the user types.

The place to write is the last line that was written. Each edit is made for the text after the last edit, and rebased to
the current text (`rebase`). If the user changed or removed that line, the place is lost, and nothing more is written.
"""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tark_lsp.errors import RequestError
from tark_lsp.server.chat.transcript import HEADINGS, parse
from tark_lsp.workspace.documents import Documents
from tark_lsp.workspace.edits import ProposedEdit, rebase
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.lines import Hunk, ending_of, split_lines
from tark_lsp.workspace.outcomes import Applied, Refused
from tark_lsp.workspace.snapshot import Snapshot

JOIN_SECONDS = 0.3
"""Time between two edits, because each edit is an undo step of the editor and must be drawn."""
SLOW_SECONDS = 1.0
PATIENCE = 5
"""After an edit that took longer than `SLOW_SECONDS`, the writer pauses this many times as long, because eglot asks the
user about every edit, and to give a slow editor time. When the answer ends, the rest is written at once."""
REFUSALS = 3
QUIET_SECONDS = 1.0
"""A refused edit is repeated when the user has not typed for this time: some editors accept no edit before that."""
LABEL = "Tark: answer"


class PlaceLost(Exception):
    """The rest of the answer cannot be written. The message says why."""


@dataclass(frozen=True, slots=True)
class AnswerEdit:
    """An edit of the current text, the text after it, and the last written line in that text."""

    edit: ProposedEdit
    after: Snapshot
    line: int


class AnswerWriter:
    """Call `begin`, then `write` for each piece of text, then `finish`."""

    def __init__(self, documents: Documents, workspace: Workspace, path: Path, lost: Callable[[str], None]) -> None:
        """`lost(why)` is called once if the place is lost while the answer streams."""
        self._documents = documents
        self._workspace = workspace
        self._path = path
        self._lost = lost
        self._pending: list[str] = []
        self._wake = asyncio.Event()
        self._closing = asyncio.Event()
        self._heading: asyncio.Task[None] | None = None
        self._streaming: asyncio.Task[bool] | None = None
        self._base = Snapshot(path, "")
        """The document after the last edit. `_line` is the last written line in it."""
        self._line = 0
        self._rest = 0.0
        """Seconds to pause after the last edit."""

    async def begin(self) -> None:
        """Write the heading. Cancelling does not stop the writer. Raises RequestError if it has no place."""
        self._heading = asyncio.create_task(self._apply(self._heading_step))
        try:
            await asyncio.shield(self._heading)
        except PlaceLost as lost:
            raise RequestError(f"the answer cannot be written into {self._path.name}: {lost}") from lost
        self._streaming = asyncio.create_task(self._stream())

    def write(self, text: str) -> None:
        """`text` with `\n` for line endings."""
        if text:
            self._pending.append(text)
            self._wake.set()

    async def finish(self) -> bool:
        """Write the rest, which ends with a blank line, and the heading of the user's next message.

        Returns False if not all of it is in the document.
        """
        self._closing.set()
        self._wake.set()
        if self._heading is None:
            return False
        try:
            await asyncio.shield(self._heading)
        except PlaceLost:  # reported as the turn's error, or the turn was cancelled before anything was written
            return False
        if self._streaming is None:
            self._streaming = asyncio.create_task(self._stream())
        return await asyncio.shield(self._streaming)

    async def _stream(self) -> bool:
        try:
            while not self._closing.is_set():
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._rest):
                        await self._closing.wait()
                await self._wake.wait()
                self._wake.clear()
                if not self._closing.is_set():
                    await self._write_pending()
            await self._write_pending(last=True)
        except PlaceLost as lost:
            self._lost(str(lost))
            return False
        return True

    async def _write_pending(self, *, last: bool = False) -> None:
        text = "".join(self._pending)
        self._pending.clear()
        if text or last:
            await self._apply(lambda now: self._text_step(now, text, last))

    def _heading_step(self, now: Snapshot) -> AnswerEdit:
        """Add the heading at the end of the document, after the user's message."""
        lines = split_lines(now.text)
        transcript = parse(lines)
        if not transcript.sections or transcript.sections[-1].speaker != "You":
            raise PlaceLost("your message is no longer at its end")
        ending, last = _ending(lines), lines[-1]
        added = "" if ending_of(last) else ending
        if transcript.open_fence:
            added += f"{transcript.open_fence}{ending}{ending}"
        elif last.strip():
            added += ending
        edit = ProposedEdit.between(now, f"{now.text}{added}## Tark{ending}{ending}{ending}")
        after = edit.drafted
        return AnswerEdit(edit, after, len(split_lines(after.text)) - 1)

    def _text_step(self, now: Snapshot, text: str, last: bool) -> AnswerEdit:
        """Append the text to the last written line."""
        lines = split_lines(self._base.text)
        ending, standing = _ending(lines), lines[self._line]
        grown = standing.removesuffix(ending_of(standing)) + text.replace("\n", ending) + ending
        own = ProposedEdit(self._path, self._base, (Hunk(self._line, (standing,), tuple(split_lines(grown))),))
        carried, conflicts = rebase(own, now)
        if conflicts:
            raise PlaceLost("its last line was changed")
        if not carried.hunks:  # already applied: the editor reported it late
            return AnswerEdit(carried, own.drafted, self._line + len(own.hunks[0].new) - 1)
        hunk = carried.hunks[0]
        if last and not _goes_on(split_lines(now.text)[hunk.end :]):
            hunk = Hunk(hunk.start, hunk.old, (*hunk.new[:-1], f"## You{ending}", ending))
            carried = carried.only([hunk])
        return AnswerEdit(carried, carried.drafted, hunk.start + len(hunk.new) - 1)

    async def _apply(self, propose: Callable[[Snapshot], AnswerEdit]) -> None:
        """Repeat until the edit is applied, for the new text whenever the user types meanwhile. Raises PlaceLost."""
        refusals = 0
        begun = asyncio.get_running_loop().time()
        while True:
            document = self._documents.at(self._path)
            if document is None:
                raise PlaceLost("the document was closed")
            step = propose(document.snapshot())
            if all(hunk.old == hunk.new for hunk in step.edit.hunks):
                break
            outcome = await self._workspace.apply(step.edit, LABEL)
            if isinstance(outcome, Applied):
                break
            if isinstance(outcome, Refused):
                refusals += 1
                if refusals == REFUSALS:
                    raise PlaceLost(outcome.reason)
                await self._documents.wait_for_quiet(QUIET_SECONDS)
        self._base, self._line = step.after, step.line
        took = asyncio.get_running_loop().time() - begun
        self._rest = JOIN_SECONDS if took < SLOW_SECONDS else PATIENCE * took


def _ending(lines: list[str]) -> str:
    return ending_of(lines[0]) if lines and ending_of(lines[0]) else "\n"


def _goes_on(following: list[str]) -> bool:
    """Does another message begin below, so that no heading for the user's next message is needed?"""
    first = next((line for line in following if line.strip()), "")
    return first.rstrip() in HEADINGS
