"""ProposedEdit -> versioned WorkspaceEdit -> outcome, proven by the text itself and never by `applied: true`.

Editors skip stale edits and say they applied them, apply stale edits all the same, or answer long before the change
arrives (docs/editors.md). So after the answer the document is watched until its text shows what happened.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.server.documents.documents import Documents, TextDocument
from tark_lsp.server.editing.apply_edit import ANSWER_SECONDS, IN_FLIGHT_SECONDS, PROOF_SECONDS, apply_edit
from tark_lsp.server.editing.edit_watch import Misplaced, Watch
from tark_lsp.server.editing.file_operations import FileOperations
from tark_lsp.server.editing.text_edits import anchored, text_edits
from tark_lsp.workspace.edits import ProposedEdit, rebase
from tark_lsp.workspace.lines import Hunk, line_changes, split_lines
from tark_lsp.workspace.outcomes import Applied, Outcome, Refused, Stale
from tark_lsp.workspace.snapshot import Snapshot

SILENCE_SECONDS = 10.0
"""How long a later word of the client is waited for when nothing arrived at all, before that is said."""
QUIET_SECONDS = 0.3
"""Clients that number no versions get edits only after this much quiet."""
PATIENCE_SECONDS = 5.0
"""How long such quiet is waited for where the text is to be put right."""
REFUSALS = 3
REPAIRS = 10
REOPEN_SECONDS = 1.0
"""Between two looks at whether a document that is to be put right was opened again, one for each repair left."""
MISPLACED = "the editor applied the edit to newer text, in the wrong place; look at it, one undo takes it back"


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
        return self._documents.paths()

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

        Right is the edit carried to what the person typed; where they typed inside it, what they typed alone; and
        where they typed into what is to go again, their lines as well, for them to look at.
        """
        typed = replace(edit.base, text=misplaced.before)
        carried, conflicts = rebase(edit, typed)
        wrong, right = replace(typed, text=misplaced.after), typed.text if conflicts else carried.after
        if wrong.text == right:  # the places of the old text were the right ones in the new text, too
            return Applied(document.snapshot())
        typed_into = False
        for _ in range(REPAIRS):
            again = self._documents.at(edit.path)
            if again is None:  # closed: it may be opened again
                await asyncio.sleep(REOPEN_SECONDS)
                continue
            document, now = again, again.snapshot()
            right, into = with_typed(wrong, now.text, right)
            typed_into = typed_into or into
            mending, wrong = ProposedEdit.between(now, right), now
            refusal = ""
            outcome: Outcome | Misplaced | None = Applied(now)  # the person put it right themselves
            if mending.hunks:
                refusal, outcome = await self._send(document, mending, "Tark: put a misplaced change right")
            match outcome:
                case Misplaced():
                    right, into = with_typed(now, outcome.before, right)
                    typed_into = typed_into or into
                    wrong = replace(now, text=outcome.after)
                    await self._pause()
                case None | Stale() if refusal:  # it may be sent again
                    await self._pause()
                case Applied() if not typed_into:
                    return Stale("the person changed these lines") if conflicts else outcome
                case _:  # not answered, not done though said to be, or typed into at once: what can be is put right
                    break
        return Refused(MISPLACED)

    async def _pause(self) -> None:
        """Such an editor gets its next edit once the person rests, or it goes wrong again."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._documents.quiet(QUIET_SECONDS)

    async def _send(
        self, document: TextDocument, edit: ProposedEdit, label: str, *, patience: int = 1
    ) -> tuple[str, "Outcome | Misplaced | None"]:
        """A reason and no outcome: it was refused, and may be sent again.

        `patience`: how many times the usual wait is waited, after a refusal, for what the person may have typed.
        """
        flags = self._connection.client.flags
        delay = flags.change_delay
        edit = anchored(edit) if flags.adds_line_at_end else edit
        with Watch(self._documents, document, edit, gathers=delay > 0) as watch:
            try:
                applied, reason = await self._ask(document, edit, label)
            except TimeoutError:
                # Never sent again: who asks the person first would ask twice, and apply it twice.
                outcome = await watch.outcome(IN_FLIGHT_SECONDS + delay, IN_FLIGHT_SECONDS)
                return "", outcome or Refused(f"the editor did not answer within {ANSWER_SECONDS:g} s")
            if not applied:
                # A refusal while the person types is only a stale edit: their change is on its way.
                outcome = await watch.outcome((IN_FLIGHT_SECONDS + delay) * patience, IN_FLIGHT_SECONDS)
                return f"the editor refused the edit{f': {reason}' if reason else ''}", outcome
            for seconds in (PROOF_SECONDS, SILENCE_SECONDS):
                outcome = await watch.outcome(seconds, IN_FLIGHT_SECONDS + delay)
                if outcome is not None:
                    return "", outcome
            return "", Refused("the editor said it applied the edit, but its text did not change")

    async def _ask(self, document: TextDocument, edit: ProposedEdit, label: str) -> tuple[bool, str]:
        """Raises TimeoutError."""
        identifier = {"uri": document.uri, "version": document.version}
        change = {"textDocument": identifier, "edits": text_edits(document, edit, self._documents.encoding)}
        try:
            return await apply_edit(self._connection, label, {"documentChanges": [change]}, within=ANSWER_SECONDS)
        except RequestFailed as error:
            return False, error.message


def with_typed(base: Snapshot, typed: str, right: str) -> tuple[str, bool]:
    """`right` with what was typed when `base` became `typed`, and whether some of that was typed into lines that are
    others in `right`: those it then has beside its own."""
    edit = ProposedEdit(base.path, base, tuple(line_changes(base.text, typed)))
    carried, lost = rebase(edit, replace(base, text=right))
    changes = line_changes(base.text, right)
    beside = []
    for hunk in lost:
        start = hunk.start + sum(len(each.new) - len(each.old) for each in changes if each.start <= hunk.start)
        beside.append(Hunk(max(0, start), (), tuple(line for line in hunk.new if line not in hunk.old)))
    lines = split_lines(right)
    for hunk in sorted((*carried.hunks, *beside), key=lambda each: each.start, reverse=True):
        lines[hunk.start : hunk.end] = hunk.new
    return "".join(lines), any(hunk.old and made.new for hunk, made in zip(lost, beside, strict=True))
