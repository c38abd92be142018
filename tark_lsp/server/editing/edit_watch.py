"""Finds out what an editor made of an edit: from the texts that it reports, never from its answer.

Texts are compared as lists of lines, which share their unchanged lines with the document: each key of the user compares
many texts, and splitting a text of 50,000 lines takes longer than all of that.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tark_lsp.workspace.documents import Change, Closed, DocumentEvent, Documents, Opened, TextDocument
from tark_lsp.workspace.edits import ProposedEdit, rebase
from tark_lsp.workspace.lines import ending_of, line_changes, split_lines
from tark_lsp.workspace.outcomes import Applied, Outcome, Stale
from tark_lsp.workspace.snapshot import Snapshot

TEXTS_KEPT = 20
"""How many states of a document are kept while an edit of it is on its way."""


@dataclass(frozen=True, slots=True)
class Misplaced:
    """The editor applied the edit to newer text, by the line numbers of the old text: `before` became `after`.

    That can be right (the user typed below), misplace lines (typed above), or write over what was typed (inside).
    """

    before: str
    after: str


class Watch:
    """Watches one document from before an edit is sent until its text shows what happened."""

    def __init__(
        self, documents: Documents, document: TextDocument, edit: ProposedEdit, *, gathers: bool = True
    ) -> None:
        """`gathers`: the editor can report typing and the edit in one notification; others report each by itself."""
        self._documents = documents
        self._document = document
        self._edit = edit
        self._gathers = gathers
        self._event = asyncio.Event()
        self._closed = False
        self._as_predicted = False
        self._misplaced: Misplaced | None = None
        self._doubtful: Misplaced | None = None
        base, known = [*edit.base.lines], _lines_of(document)
        self._base = known if known == base else base
        self._after = at_old_places(edit, self._base)
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
        before = self._made_twice(now) if self._as_predicted else self._made_on_newer(now)
        complete = now == self._after
        if self._as_predicted:
            self._texts_after.append(now)
        self._as_predicted = self._as_predicted or complete
        if before is not None:
            made = Misplaced("".join(before), "".join(now))
            if not self._is_part(before) and not self._in_progress(made.before, made.after):
                self._misplaced = made
            else:
                self._doubtful = None if complete else made
        if self._is_made_of(self._texts[-1], now):
            self._states = [*self._states[-TEXTS_KEPT:], now]
        elif not any(self._is_made_of(state, now) for state in self._states):
            self._texts = [*self._texts[-TEXTS_KEPT:], now]

    def _is_opened_again(self, document: TextDocument) -> bool:
        """With the text that the edit is for: the editor may make it there, since versions can count from the start.
        Or with the edit, which the editor made before it read the file again."""
        if document.uri != self._document.uri:
            return False
        return document.text == self._edit.base.text or self._is_in(document.snapshot())

    async def outcome(self, seconds: float, in_flight: float) -> "Outcome | Misplaced | None":
        """What the text shows, within `seconds`; None if it did not change.

        If the text changed, but not by this edit, that counts only after `in_flight` more seconds: typing can be
        reported before an edit that the editor applied after it.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        other = closed = False
        while True:
            self._event.clear()
            if self._misplaced is not None:
                return self._misplaced
            current = self._document.snapshot()
            if self._as_predicted or self._is_in(current):
                return Applied(current)
            if self._closed and self._doubtful:  # changes before that count, or the edit would be made twice
                return self._doubtful
            if self._closed and not closed:  # it can be opened again at once, with the edit
                closed, until = True, loop.time() + in_flight
            if not (self._closed or other) and current.text != self._edit.base.text:
                other, until = True, loop.time() + in_flight
            try:
                async with asyncio.timeout_at(until):
                    await self._event.wait()
            except TimeoutError:
                if self._event.is_set():  # a busy server reads what came in time together with the end of the time
                    continue
                if self._closed:
                    return Stale("the document was closed")
                if not other:
                    return None
                # An edit in progress would be complete by now: the lines that looked like part of it are the user's.
                return self._doubtful or Stale("the text changed meanwhile")

    def _made_on_newer(self, now: list[str]) -> list[str] | None:
        """A text that was typed meanwhile, if `now` is that text with the edit at its old places."""
        known = [*reversed(self._texts[1:]), *(self._states if now != self._after else ())]
        return next((before for before in known if self._makes(before, now)), None)

    def _made_twice(self, now: list[str]) -> list[str] | None:
        """The text with the edit, if the user made the same change just before the editor made it again.

        If it removes lines, the second time it removed others. What is typed after the edit is not mistaken for typed
        before it, even if the edit at its old places makes the same text of it. But if the edit only removes lines, and
        each change is reported by itself, nobody types a line and removes it again so fast: then these are others, too.
        Empty lines are typed and removed so fast, and nothing is lost with them.
        """
        removes = not self._gathers and not any(hunk.new for hunk in self._edit.hunks)
        known = [self._after, *(self._texts_after[-TEXTS_KEPT:] if removes else ())]
        return next(
            (
                before
                for number, before in enumerate(known)
                if self._makes(before, now) and not (now in known[:number] and self._removes_nothing(before))
            ),
            None,
        )

    def _removes_nothing(self, before: list[str]) -> bool:
        """Does the edit at its old places remove only empty lines of this text?"""
        return not any(line.strip() for hunk in self._edit.hunks for line in before[hunk.start : hunk.end])

    def _makes(self, before: list[str], now: list[str]) -> bool:
        """Does the edit at its old places make `now` of the text `before`?"""
        first = self._edit.hunks[0]
        whole = len(before) > first.start and first.new and first.new[0] != "\n" and first.new[-1].endswith("\n")
        if whole and tuple(now[first.start : first.start + len(first.new)]) != first.new:
            return False  # seen without looking at the whole text
        return at_old_places(self._edit, before) == now != before

    def _in_progress(self, *texts: str) -> bool:
        """Are these texts states of this edit, made line by line and not complete? Neovim reports each replaced line.

        Typed text is not mistaken for it: inside the hunks there are only lines of the edit, and outside nothing
        changed, except for an empty last line, which Neovim adds for an edit at the end of the text and then removes.
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

    def _is_made_of(self, old: Sequence[str], now: Sequence[str]) -> bool:
        """Is `now` a state of this edit at its old places in `old`, made hunk by hunk or line by line?

        Such a text was not typed. In a hunk, lines replace lines first; then the surplus lines are added or removed.
        """
        at, growths = 0, {0}
        for hunk in self._edit.hunks:
            replaced = old[hunk.start : hunk.end]
            growths = {
                grown + size - len(replaced)
                for grown in growths
                if old[at : hunk.start] == now[at + grown : hunk.start + grown]
                for size in {len(replaced), len(hunk.new)}
                if _is_mixed(now[hunk.start + grown : hunk.start + grown + size], replaced, hunk.new)
            }
            at = hunk.start + len(replaced)
        return any(old[at:] == now[at + grown :] for grown in growths)

    def _is_part(self, now: list[str]) -> bool:
        """Is it only a part of this edit? An editor can report one hunk after the other.

        Then it is the text with the edit up to the end of a hunk and the text without it from there on, or the reverse.
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

    def _is_in(self, current: Snapshot) -> bool:
        if current.text == self._edit.base.text:
            return False
        remaining, conflicts = rebase(self._edit, current)
        return not remaining.hunks and not conflicts


def at_old_places(edit: ProposedEdit, lines: Sequence[str]) -> list[str]:
    """The lines of a newer text after an editor applied the edit to it by its line numbers alone."""
    made: list[str] = []
    at = 0
    for hunk in edit.hunks:
        _add(made, lines[at : hunk.start])
        _add(made, hunk.new)
        at = hunk.end
    _add(made, lines[at:])
    return made


def _add(lines: list[str], more: Sequence[str]) -> None:
    """Add lines of a text. A line that has no ending, or only half of one, goes on with the next line."""
    if lines and more and (not ending_of(lines[-1]) or (lines[-1].endswith("\r") and more[0] == "\n")):
        lines[-1:] = split_lines(lines[-1] + more[0])
        more = more[1:]
    lines += more


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """The number of lines that both begin with."""
    differing = (at for at, (line, same) in enumerate(zip(one, other, strict=False)) if line != same)
    return next(differing, min(len(one), len(other)))


def _lines_of(document: TextDocument) -> list[str]:
    return document.lines[:] if document.lines[-1] else document.lines[:-1]


def _is_mixed(lines: Sequence[str], old: Sequence[str], new: Sequence[str]) -> bool:
    """Is each line that of `old` or that of `new` in its place?

    The rest of the lines is that of `old`. Once it is that of `new`, the lines before are those of `new` too.
    """
    both = min(len(old), len(new))
    rest, old_rest, new_rest = ([*map(_body, some[both:])] for some in (lines, old, new))
    if rest == new_rest != old_rest:
        return [*map(_body, lines)] == [*map(_body, new)]
    return rest == old_rest and all(
        _body(line) in (_body(one), _body(other)) for line, one, other in zip(lines[:both], old, new, strict=False)
    )


def _body(line: str) -> str:
    """Without its ending, which a last line lacks and gets when others follow it."""
    return line.rstrip("\r\n")


def _bodies(lines: Iterable[str]) -> set[str]:
    return {*map(_body, lines)}
