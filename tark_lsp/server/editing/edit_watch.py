"""Finds out what an editor did with an edit, from the texts that it reports and never from its answer.

Texts are compared as lists of lines, which share their unchanged lines with the document. Each key press compares many
texts, and splitting a text of 50,000 lines would take longer than all comparisons.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from tark_lsp.server.editing.edit_states import at_old_places, is_in, is_in_progress, is_made_of, makes, removes_nothing
from tark_lsp.server.editing.text_edits import find_text_edits
from tark_lsp.workspace.documents import Change, Closed, DocumentEvent, Documents, Opened, TextDocument
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.lines import ending_of
from tark_lsp.workspace.outcomes import Applied, Outcome, Stale

REST_SECONDS = 10.0
"""How long the rest of an edit can be on its way after its first change. Neovim reports the first change at once, and
the rest by a timer, which is late if Neovim is busy. If the edit was sent again meanwhile, it would remove other lines.
"""
TEXTS_KEPT = 20
"""How many states of a document are kept while an edit of it is on its way."""


@dataclass(frozen=True, slots=True)
class Misplaced:
    """The editor applied the edit to newer text, by the line numbers of the old text: `before` became `after`.

    The result can be right (the user typed below), misplaced (typed above), or can overwrite what was typed (inside).
    """

    before: str
    after: str
    again: bool = False
    """The text already had the edit: the user made the same change, or has typed and removed something since."""


class Watch:
    """Watches one document from before an edit is sent until its text shows what happened."""

    def __init__(
        self, documents: Documents, document: TextDocument, edit: ProposedEdit, *, gathers: bool = True
    ) -> None:
        """`gathers`: the editor can report typing and the edit in one notification, not separately."""
        self._documents = documents
        self._document = document
        self._edit = edit
        self._gathers = gathers
        self._event = asyncio.Event()
        self._closed = False
        self._as_predicted = False
        self._misplaced: Misplaced | None = None
        self._doubtful: Misplaced | None = None
        self._settled = False
        """The editor made the edit in the newest text. Later texts are ignored, since typing can look like it."""
        self._adds = any(line.strip() for hunk in edit.hunks for line in hunk.new)
        """Does the edit add lines? An edit that only removes lines looks like a removal by the user."""
        base, known = [*edit.base.lines], _lines_of(document)
        self._base = known if known == base else base
        self._encoding = documents.encoding
        self._sent = find_text_edits(_with_last(self._base), edit, self._encoding)
        self._after = at_old_places(self._sent, self._encoding, self._base)
        self._texts = [self._base]
        self._texts_after: list[list[str]] = []
        """Texts since the first one with the edit."""
        self._states: list[list[str]] = []
        """Texts that are states of this edit, unless the user typed one by chance."""

    def __enter__(self) -> "Watch":
        self._stop = self._documents.listen(self._listen)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def _listen(self, event: DocumentEvent) -> None:
        if isinstance(event, Opened) and self._closed and self._is_opened_again(event.document):
            self._document, self._closed = event.document, False
        is_piece = isinstance(event, Change) and event.continued and not self._gathers
        if event.document is self._document and not is_piece:
            self._closed = self._closed or isinstance(event, Closed)
            self._look(_lines_of(self._document))
            self._event.set()

    def _look(self, now: list[str]) -> None:
        again = self._as_predicted
        before = self._made_twice(now) if again else self._made_on_newer(now)
        complete = now == self._after
        if self._as_predicted:
            self._texts_after.append(now)
        self._as_predicted = self._as_predicted or complete
        newest = self._texts[-1]
        is_state = self._is_state_of(newest, now)
        if before is not None and not self._settled:
            made = Misplaced("".join(before), "".join(now), again)
            is_part = self._is_part(before) or (before is not newest and is_state and not again)
            if not is_part and not is_in_progress(self._edit, made.before, made.after):
                self._misplaced = made
            else:
                self._doubtful = None if complete else made
            self._settled = self._adds and before is newest
        if is_state:
            self._states = [*self._states[-TEXTS_KEPT:], now]
        elif not any(self._is_state_of(state, now) for state in self._states):
            self._texts = [*self._texts[-TEXTS_KEPT:], now]

    def _is_opened_again(self, document: TextDocument) -> bool:
        """Was the document opened again with the text before the edit, or with the edit?

        In the first case, the editor may still apply the edit, because versions can start again. In the second case,
        the editor applied it before it read the file again.
        """
        if document.uri != self._document.uri:
            return False
        return document.text == self._edit.base.text or is_in(self._edit, document.snapshot())

    async def outcome(self, seconds: float, in_flight: float, *, refused: bool = False) -> "Outcome | Misplaced | None":
        """What the text shows, within `seconds`; None if it did not change.

        If the text changed, but not by this edit, that counts only after `in_flight` more seconds: typing can be
        reported before an edit that the editor applied after it. A part of this edit counts only after `REST_SECONDS`,
        unless the editor `refused` the edit.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        other = closed = False
        while True:
            self._event.clear()
            if self._misplaced is not None:
                return self._misplaced
            current = self._document.snapshot()
            if self._as_predicted or (self._doubtful is None and is_in(self._edit, current)):
                return Applied(current)
            if self._closed and self._doubtful:  # changes before that count, otherwise the edit would be made twice
                return self._doubtful
            if self._closed and not closed:  # the document can be opened again at once, with the edit
                closed, until = True, loop.time() + in_flight
            if not (self._closed or other) and current.text != self._edit.base.text:
                begun = self._gathers and not refused and is_in_progress(self._edit, current.text)
                other, until = True, loop.time() + (REST_SECONDS if begun else in_flight)
            try:
                async with asyncio.timeout_at(until):
                    await self._event.wait()
            except TimeoutError:
                if self._event.is_set():  # a busy server can read a change that came in time together with the timeout
                    continue
                if self._closed:
                    return Stale("the document was closed")
                if not other:
                    return None
                # An edit in progress would be complete by now: the lines that looked like part of it are the user's.
                return self._doubtful or Stale("the text changed meanwhile")

    def _made_on_newer(self, now: list[str]) -> list[str] | None:
        """The text that was typed meanwhile, if `now` is that text with the edit at its old places."""
        known = [*reversed(self._texts[1:]), *(self._states if now != self._after else ())]
        return next((before for before in known if self._makes(before, now)), None)

    def _made_twice(self, now: list[str]) -> list[str] | None:
        """The text with the edit, if the user made the same change just before the editor made it again.

        If the edit removes lines, it removed other lines the second time. Text typed after the edit is not mistaken for
        text typed before it, even if the edit at its old places leads to the same text. But if the edit only removes
        lines, and the editor reports each change separately, other lines were removed, too: nobody types a line and
        removes it again that fast. Empty lines can be typed and removed that fast, and nothing is lost with them.
        """
        removes = not self._gathers and not any(hunk.new for hunk in self._edit.hunks)
        known = [self._after, *(self._texts_after[-TEXTS_KEPT:] if removes else ())]
        return next(
            (
                before
                for number, before in enumerate(known)
                if self._makes(before, now) and not (now in known[:number] and removes_nothing(self._edit, before))
            ),
            None,
        )

    def _makes(self, before: list[str], now: list[str]) -> bool:
        return makes(self._sent, self._encoding, before, now)

    def _is_state_of(self, before: list[str], now: list[str]) -> bool:
        return is_made_of(self._sent, self._encoding, before, now)

    def _is_part(self, now: list[str]) -> bool:
        """Is it only a part of this edit? An editor can report one hunk after the other.

        Such a text has the edit up to the end of a hunk and not from there on, or the reverse.
        """
        base, made, grown = self._base, self._after, 0
        begins = {id(text): _common(now, text) for text in (base, made)}
        ends = {id(text): _common(now[::-1], text[::-1]) for text in (base, made)}
        for hunk in self._edit.hunks[:-1]:
            grown += len(hunk.new) - len(hunk.old)
            places = (base, hunk.end), (made, hunk.end + grown)
            for (first, at), (last, rest) in (places, places[::-1]):
                left = len(last) - rest
                if len(now) == at + left and at <= begins[id(first)] and left <= ends[id(last)]:
                    return True
        return False


def _lines_of(document: TextDocument) -> list[str]:
    return document.lines[:] if document.lines[-1] else document.lines[:-1]


def _with_last(lines: list[str]) -> list[str]:
    """The lines as in a document: with the empty line after the last line ending."""
    return lines if lines and not ending_of(lines[-1]) else [*lines, ""]


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """The number of lines in the common beginning."""
    differing = (at for at, (line, same) in enumerate(zip(one, other, strict=False)) if line != same)
    return next(differing, min(len(one), len(other)))
