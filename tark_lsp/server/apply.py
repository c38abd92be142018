"""ProposedEdit -> versioned WorkspaceEdit -> outcome, proven by the text itself and never by `applied: true`.

Editors skip stale edits and say they applied them, apply stale edits all the same, or answer long before the change
arrives (clients.md). So after the answer the document is watched until its text shows what happened.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tark_lsp.server.documents import Closed, DocumentEvent, Documents, TextDocument
from tark_lsp.server.file_operations import FileOperations
from tark_lsp.server.lsp import Connection, RequestFailed
from tark_lsp.server.text_edits import anchored, text_edits
from tark_lsp.workspace.edits import ProposedEdit, rebase, split_lines
from tark_lsp.workspace.lines import line_changes
from tark_lsp.workspace.outcomes import Applied, Outcome, Refused, Stale
from tark_lsp.workspace.snapshot import Snapshot

ANSWER_SECONDS = 30.0
PROOF_SECONDS = 3.0
"""How long after the answer the change may take to arrive: eglot sends it after 0.5 s of idleness."""
SILENCE_SECONDS = 10.0
"""How long a later word of the client is waited for when nothing arrived at all, before that is said."""
IN_FLIGHT_SECONDS = 0.2
"""How long a change that the editor has made may be on its way to us, beside the editor's own delay."""
QUIET_SECONDS = 0.3
"""Clients that number no versions get edits only after this much quiet."""
REFUSALS = 3
TEXTS_KEPT = 20
"""How many states of a document are kept while one edit of it is on its way."""


class EditorBuffers:
    """The open documents of the editor, and the one way to change them."""

    def __init__(self, connection: Connection, documents: Documents) -> None:
        self._connection = connection
        self._documents = documents
        self._in_flight = asyncio.Lock()
        self._operations = FileOperations(connection, documents, self._in_flight)

    def get(self, path: Path) -> Snapshot | None:
        document = self._documents.at(path)
        return None if document is None else document.snapshot()

    def paths(self) -> Sequence[Path]:
        return tuple(document.path for document in self._documents if document.path is not None)

    async def apply(self, edit: ProposedEdit, label: str) -> Outcome:
        """One edit in flight per connection. `Stale`: plan again on the text of now. `Refused`: the editor will not."""
        async with self._in_flight:
            for attempt in range(1, REFUSALS + 1):
                if (known := self._documents.at(edit.path)) is not None and known.version is None:
                    await self._documents.quiet(QUIET_SECONDS)
                document = self._documents.at(edit.path)
                if document is None:
                    return Stale("the document was closed")
                if document.text != edit.base.text:
                    return Stale("the text changed meanwhile")
                refusal, outcome = await self._send(document, edit, label, patience=attempt)
                if isinstance(outcome, Misplaced):
                    return await self._repair(document, edit, outcome)
                if outcome is not None:
                    return outcome
            return Refused(refusal)

    async def move(self, snapshot: Snapshot, target: Path) -> Outcome | None:
        return await self._operations.move(snapshot, target)

    async def remove(self, snapshot: Snapshot) -> Outcome | None:
        return await self._operations.remove(snapshot)

    async def _repair(self, document: TextDocument, edit: ProposedEdit, misplaced: "Misplaced") -> Outcome:
        """The editor put the edit into newer text, at the places of the old: bring the text to what is right.

        Right is the edit carried to what the person typed; where they typed inside it, what they typed alone.
        """
        typed = replace(edit.base, text=misplaced.before)
        carried, conflicts = rebase(edit, typed)
        wrong, right = replace(typed, text=misplaced.after), typed.text if conflicts else carried.after
        if wrong.text == right:  # the places of the old text were the right ones in the new text, too
            return Applied(document.snapshot())
        for _ in range(REFUSALS):
            mending, lost = rebase(ProposedEdit.between(wrong, right), document.snapshot())
            if lost:
                break
            if not mending.hunks:  # it is right already: the person took it back themselves
                return Stale("the text changed meanwhile")
            _, outcome = await self._send(document, mending, "Tark: put a misplaced change right")
            if isinstance(outcome, Applied):
                return Stale("the person changed these lines") if conflicts else outcome
            if isinstance(outcome, Refused):  # not answered, or said to be done and not done
                break
            if isinstance(outcome, Misplaced):
                wrong = replace(typed, text=outcome.after)
        return Refused(
            "the editor applied the edit to newer text, in the wrong place; look at it, one undo takes it back"
        )

    async def _send(
        self, document: TextDocument, edit: ProposedEdit, label: str, *, patience: int = 1
    ) -> tuple[str, "Outcome | Misplaced | None"]:
        """A reason and no outcome: it was refused, and may be sent again.

        `patience`: how many times the usual wait is waited, after a refusal, for what the person may have typed.
        """
        flags = self._connection.client.flags
        delay = flags.change_delay
        edit = anchored(edit) if flags.adds_line_at_end else edit
        with Watch(self._documents, document, edit) as watch:
            try:
                answer = await self._ask(document, edit, label)
            except TimeoutError:
                # Never sent again: who asks the person first would ask twice, and apply it twice.
                outcome = await watch.outcome(IN_FLIGHT_SECONDS + delay, IN_FLIGHT_SECONDS)
                return "", outcome or Refused(f"the editor did not answer within {ANSWER_SECONDS:g} s")
            if not answer.get("applied"):
                # A refusal while the person types is only a stale edit: their change is on its way.
                outcome = await watch.outcome((IN_FLIGHT_SECONDS + delay) * patience, IN_FLIGHT_SECONDS)
                reason = answer.get("failureReason")
                return f"the editor refused the edit{f': {reason}' if reason else ''}", outcome
            for seconds in (PROOF_SECONDS, SILENCE_SECONDS):
                outcome = await watch.outcome(seconds, IN_FLIGHT_SECONDS + delay)
                if outcome is not None:
                    return "", outcome
            return "", Refused("the editor said it applied the edit, but its text did not change")

    async def _ask(self, document: TextDocument, edit: ProposedEdit, label: str) -> dict[str, Any]:
        """Raises TimeoutError."""
        identifier = {"uri": document.uri, "version": document.version}
        change = {"textDocument": identifier, "edits": text_edits(document, edit, self._documents.encoding)}
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                answer = await self._connection.request(
                    "workspace/applyEdit", {"label": label, "edit": {"documentChanges": [change]}}
                )
        except RequestFailed as error:
            return {"applied": False, "failureReason": error.message}
        return answer if isinstance(answer, dict) else {}


@dataclass(frozen=True, slots=True)
class Misplaced:
    """The editor applied the edit to newer text, by the line numbers of the old: `before` became `after`.

    That may be right (typed below), put lines in the wrong place (typed above) or write over what was typed (inside).
    """

    before: str
    after: str


class Watch:
    """Watches one document from before an edit is sent until its text tells what became of it."""

    def __init__(self, documents: Documents, document: TextDocument, edit: ProposedEdit) -> None:
        self._documents = documents
        self._document = document
        self._edit = edit
        self._event = asyncio.Event()
        self._closed = False
        self._as_predicted = False
        self._misplaced: Misplaced | None = None
        self._texts = [edit.base.text]

    def __enter__(self) -> "Watch":
        self._stop = self._documents.listen(self._listen)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def _listen(self, event: DocumentEvent) -> None:
        if event.document is self._document:
            self._closed = self._closed or isinstance(event, Closed)
            text = self._document.text
            self._as_predicted = self._as_predicted or text == self._edit.after
            for before in self._texts[1:]:
                in_progress = self._in_progress(before) and self._in_progress(text)
                if at_old_places(self._edit, before) == text and not in_progress and not self._is_part(before):
                    self._misplaced = Misplaced(before, text)
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
                return Stale("the text changed meanwhile") if other else None

    def _in_progress(self, text: str) -> bool:
        """Is it this edit, done line by line and not to its end? Neovim tells of every line it replaces.

        What a person typed is not taken for it: inside the hunks are only lines of theirs, outside nothing changed, but
        for an empty last line, which Neovim makes for an edit at the end of the text and takes away again.
        """
        ending = "\r\n" if text.endswith("\r\n") else "\n"
        return self._of_the_edit(text) or self._of_the_edit(text.removesuffix(ending))

    def _of_the_edit(self, text: str) -> bool:
        return all(
            any(
                hunk.start <= change.start and change.end <= hunk.end and {*change.new} <= {*hunk.old, *hunk.new}
                for hunk in self._edit.hunks
            )
            for change in line_changes(self._edit.base.text, text)
        )

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
