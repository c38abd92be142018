"""What became of an edit that an editor was asked to make: read from the texts it tells, and never from its answer."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tark_lsp.server.documents.documents import Change, Closed, DocumentEvent, Documents, TextDocument
from tark_lsp.workspace.edits import ProposedEdit, rebase
from tark_lsp.workspace.lines import line_changes, split_lines
from tark_lsp.workspace.outcomes import Applied, Outcome, Stale
from tark_lsp.workspace.snapshot import Snapshot

TEXTS_KEPT = 20
"""How many states of a document are kept while one edit of it is on its way."""


@dataclass(frozen=True, slots=True)
class Misplaced:
    """The editor applied the edit to newer text, by the line numbers of the old: `before` became `after`.

    That may be right (typed below), put lines in the wrong place (typed above) or write over what was typed (inside).
    """

    before: str
    after: str


class Watch:
    """Watches one document from before an edit is sent until its text tells what became of it."""

    def __init__(
        self, documents: Documents, document: TextDocument, edit: ProposedEdit, *, gathers: bool = True
    ) -> None:
        """`gathers`: the editor may tell of typing and of the edit in one notification; others tell each by itself."""
        self._documents = documents
        self._document = document
        self._edit = edit
        self._gathers = gathers
        self._event = asyncio.Event()
        self._closed = False
        self._as_predicted = False
        self._misplaced: Misplaced | None = None
        self._doubtful: Misplaced | None = None
        self._texts = [edit.base.text]

    def __enter__(self) -> "Watch":
        self._stop = self._documents.listen(self._listen)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def _listen(self, event: DocumentEvent) -> None:
        is_piece = isinstance(event, Change) and event.goes_on and not self._gathers
        if event.document is self._document and not is_piece:
            self._closed = self._closed or isinstance(event, Closed)
            text = self._document.text
            self._as_predicted = self._as_predicted or text == self._edit.after
            made = self._made_on_newer(text)
            if made is not None and (self._is_part(made.before) or self._in_progress(made.before, text)):
                self._doubtful = made if text != self._edit.after else None
            elif made is not None:
                self._misplaced = made
            if not self._is_made_of(self._texts[-1], text):
                self._texts = [*self._texts[-TEXTS_KEPT:], text]
            self._event.set()

    async def outcome(self, seconds: float, in_flight: float) -> "Outcome | Misplaced | None":
        """What the text shows, within `seconds`; None: it did not change.

        A text that changed, but not by this edit, is only believed after `in_flight` more seconds: the person's typing
        may be told before the edit that the editor applied behind it.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        other = False
        while True:
            self._event.clear()
            if self._misplaced is not None:
                return self._misplaced
            current = self._document.snapshot()
            if self._as_predicted or self._is_in(current):
                return Applied(current)
            if self._closed:  # what was told before that counts: saved and closed, it would else be made twice
                return Stale("the document was closed")
            if not other and current.text != self._edit.base.text:
                other, until = True, loop.time() + in_flight
            try:
                async with asyncio.timeout_at(until):
                    await self._event.wait()
            except TimeoutError:
                if not other:
                    return None
                # An edit in progress would be over by now: the lines that seemed to be of it are the person's.
                return self._doubtful or Stale("the text changed meanwhile")

    def _made_on_newer(self, text: str) -> Misplaced | None:
        """Is it a text that was typed since, with the edit at its old places?"""
        found = (before for before in reversed(self._texts[1:]) if at_old_places(self._edit, before) == text != before)
        return next((Misplaced(before, text) for before in found), None)

    def _in_progress(self, *texts: str) -> bool:
        """Are they this edit, done line by line and not to its end? Neovim tells of every line it replaces.

        What a person typed is not taken for it: inside the hunks are only lines of theirs, outside nothing changed, but
        for an empty last line, which Neovim makes for an edit at the end of the text and takes away again.
        """
        endings = ("\r\n" if text.endswith("\r\n") else "\n" for text in texts)
        return all(
            self._of_the_edit(text) or self._of_the_edit(text.removesuffix(ending))
            for text, ending in zip(texts, endings, strict=True)
        )

    def _of_the_edit(self, text: str) -> bool:
        return all(
            any(
                hunk.start <= change.start
                and change.end <= hunk.end
                and _bodies(change.new) <= _bodies((*hunk.old, *hunk.new))
                for hunk in self._edit.hunks
            )
            for change in line_changes(self._edit.base.text, text)
        )

    def _is_made_of(self, before: str, text: str) -> bool:
        """Is it this edit being made at its old places in `before`, hunk by hunk or line by line?

        Such a text was not typed. Of a hunk, lines take the place of lines, and then what is more or fewer changes.
        """
        old, now = split_lines(before), split_lines(text)
        at, growths = 0, {0}
        for hunk in self._edit.hunks:
            replaced = old[hunk.start : hunk.end]
            growths = {
                grown + size - len(replaced)
                for grown in growths
                if old[at : hunk.start] == now[at + grown : hunk.start + grown]
                for size in {len(replaced), len(hunk.new)}
                if _is_mixed(now[hunk.start + grown :][:size], replaced, hunk.new)
            }
            at = hunk.start + len(replaced)
        return any(old[at:] == now[at + grown :] for grown in growths)

    def _is_part(self, text: str) -> bool:
        """Is it only this edit half done? An editor may tell of one hunk after the other."""
        hunks = self._edit.hunks
        parts = (part for at in range(1, len(hunks)) for part in (hunks[:at], hunks[at:]))
        return any(self._edit.only(part).after == text for part in parts)

    def _is_in(self, current: Snapshot) -> bool:
        if current.text == self._edit.base.text:
            return False
        remaining, conflicts = rebase(self._edit, current)
        return not remaining.hunks and not conflicts


def at_old_places(edit: ProposedEdit, text: str) -> str:
    """What an editor makes of newer `text` that applies the edit by its line numbers alone."""
    lines = split_lines(text)
    for hunk in reversed(edit.hunks):
        lines[hunk.start : hunk.end] = hunk.new
    return "".join(lines)


def _is_mixed(lines: Sequence[str], old: Sequence[str], new: Sequence[str]) -> bool:
    """Is each of the lines that of `old` or of `new` in its place, and the rest of them that of one of both?"""
    both = min(len(old), len(new))
    rests = [[*map(_body, some[both:])] for some in (lines, old, new)]
    return rests[0] in rests[1:] and all(
        _body(line) in (_body(one), _body(other)) for line, one, other in zip(lines[:both], old, new, strict=False)
    )


def _body(line: str) -> str:
    """Without its ending, which a last line has not, and has while others follow it."""
    return line.rstrip("\r\n")


def _bodies(lines: Iterable[str]) -> set[str]:
    return {*map(_body, lines)}
