"""Sends a ProposedEdit as a versioned WorkspaceEdit; the outcome is read from the text, never from `applied: true`.

Some editors skip stale edits and report them as applied, some apply stale edits, some answer long before the change
arrives (docs/editors.md). So after the answer the document is watched until its text shows what happened.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.server.editing.apply_edit import IN_FLIGHT_SECONDS, PROOF_SECONDS, apply_edit
from tark_lsp.server.editing.edit_watch import Misplaced, Watch
from tark_lsp.server.editing.file_operations import FileOperations
from tark_lsp.server.editing.text_edits import anchored, text_edits
from tark_lsp.workspace.documents import Documents, TextDocument
from tark_lsp.workspace.edits import ProposedEdit, changed_lines, rebase
from tark_lsp.workspace.lines import Hunk, ending_of, line_changes, split_lines
from tark_lsp.workspace.outcomes import MISPLACED, Applied, Outcome, Refused, Stale
from tark_lsp.workspace.snapshot import Snapshot

SILENCE_SECONDS = 10.0
"""How long to wait for a late change by the client before reporting that nothing changed."""
QUIET_SECONDS = 0.3
"""Clients that send no versions get edits only after this time without typing."""
PATIENCE_SECONDS = 5.0
"""How long to wait for such a pause before repairing the text."""
REFUSALS = 3
REPAIRS = 10
REOPEN_SECONDS = 1.0
"""Time between two checks whether a closed document that needs a repair is open again. Each counts as a repair."""


class EditorBuffers:
    """The editor's open documents, and the only way to change them."""

    def __init__(self, connection: Connection, documents: Documents) -> None:
        self._connection = connection
        self._documents = documents
        self._in_flight = asyncio.Lock()
        self._operations = FileOperations(connection, documents, self._in_flight)
        self._on_the_way: dict[Path, frozenset[str]] = {}
        """The lines that edits write. They stay until the next edit, unless their edit was seen in the text."""

    def get(self, path: Path) -> Snapshot | None:
        document = self._documents.at(path)
        return None if document is None else document.snapshot()

    def paths(self) -> Sequence[Path]:
        return self._documents.paths()

    def wrote_line(self, path: Path, line: str) -> bool:
        """Does an edit by Tark that is on its way to this document write such a line?"""
        return line.rstrip("\r\n") in self._on_the_way.get(path, ())

    async def apply(self, edit: ProposedEdit, label: str) -> Outcome:
        """Apply one edit at a time. `Stale`: plan again on the current text. `Refused`: the editor refused the edit."""
        async with self._in_flight:
            for attempt in range(1, REFUSALS + 1):
                if (known := self._documents.at(edit.path)) is not None and known.version is None:
                    await self._documents.wait_for_quiet(QUIET_SECONDS)
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
        """The editor applied the edit to newer text, at the places of the old text: repair the text.

        The right text has both the edit and what the user typed. If the user typed inside the edit, it has only what
        they typed. If they typed into lines that the repair removes, it also keeps their lines, so that they see them.
        """
        typed = replace(edit.base, text=misplaced.before)
        carried, conflicts = rebase(edit, typed)
        wrong, right = replace(typed, text=misplaced.after), typed.text if conflicts else carried.after
        if wrong.text == right:  # the old places were also right in the new text
            return Applied(document.snapshot())
        typed_into = False
        for _ in range(REPAIRS):
            again = self._documents.at(edit.path)
            if again is None:  # closed; it can be opened again
                await asyncio.sleep(REOPEN_SECONDS)
                continue
            document, now = again, again.snapshot()
            right, into = with_typed(wrong, now.text, right)
            typed_into = typed_into or into
            mending, wrong = ProposedEdit.between(now, right), now
            refusal = ""
            outcome: Outcome | Misplaced | None = Applied(now)  # the user repaired it
            if mending.hunks:
                refusal, outcome = await self._send(document, mending, "Tark: correct a misplaced change")
            match outcome:
                case Misplaced():
                    right, into = with_typed(now, outcome.before, right)
                    typed_into = typed_into or into
                    wrong = replace(now, text=outcome.after)
                    await self._pause()
                case None | Stale() if refusal:  # it can be sent again
                    await self._pause()
                case Applied() if not typed_into and not (conflicts and misplaced.again):
                    return Stale("the person changed these lines", taken_back=True) if conflicts else outcome
                case _:  # no answer, no change despite the answer, or the user typed into it: the repair ends
                    break
        return Refused(MISPLACED)

    async def _pause(self) -> None:
        """Wait until the user pauses, so that the next edit is not misplaced again."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._documents.wait_for_quiet(QUIET_SECONDS)

    async def _send(
        self, document: TextDocument, edit: ProposedEdit, label: str, *, patience: int = 1
    ) -> tuple[str, "Outcome | Misplaced | None"]:
        """Return the reason and the outcome. A reason without an outcome: the edit was refused, and can be sent again.

        `patience`: after a refusal, wait this many times the usual time for changes that the user may have typed.
        """
        flags = self._connection.client.flags
        edit = changed_lines(edit)  # a hunk can have unchanged lines between its changes
        edit = anchored(edit) if flags.adds_line_at_end else edit
        self._on_the_way[edit.path] = frozenset(line.rstrip("\r\n") for hunk in edit.hunks for line in hunk.new)
        refusal, outcome = await self._send_watched(document, edit, label, patience)
        if isinstance(outcome, Applied):
            self._on_the_way.pop(edit.path, None)
        return refusal, outcome

    async def _send_watched(
        self, document: TextDocument, edit: ProposedEdit, label: str, patience: int
    ) -> tuple[str, "Outcome | Misplaced | None"]:
        flags = self._connection.client.flags
        delay = flags.change_delay
        with Watch(self._documents, document, edit, gathers=delay > 0) as watch:
            try:
                applied, reason = await self._ask(document, edit, label)
            except TimeoutError:
                # Never sent again: an editor that asks the user first would ask twice, and apply it twice.
                outcome = await watch.outcome(IN_FLIGHT_SECONDS + delay, IN_FLIGHT_SECONDS)
                return "", outcome or Refused(f"the editor did not answer within {flags.answer_seconds:g} s")
            if not applied:
                # A refusal while the user types only means that the edit is stale: their change is on its way.
                outcome = await watch.outcome((IN_FLIGHT_SECONDS + delay) * patience, IN_FLIGHT_SECONDS, refused=True)
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
        within = self._connection.client.flags.answer_seconds
        try:
            return await apply_edit(self._connection, label, {"documentChanges": [change]}, within=within)
        except RequestFailed as error:
            return False, error.message


def with_typed(base: Snapshot, typed: str, right: str) -> tuple[str, bool]:
    """Add what was typed when `base` became `typed` to `right`.

    Also return whether some of it was typed into lines that `right` changes. These lines are added beside the lines of
    `right`.
    """
    edit = ProposedEdit(base.path, base, tuple(line_changes(base.text, typed)))
    carried, lost = rebase(edit, replace(base, text=right))
    changes = line_changes(base.text, right)
    beside = []
    for hunk in lost:
        # Put them below the new lines, which no other hunk replaces.
        at = max((change.end for change in changes if hunk.start < change.end and change.start < hunk.end), default=0)
        at = max(at, hunk.start)
        grown = sum(len(change.new) - len(change.old) for change in changes if change.end <= at)
        old = {line.rstrip("\r\n") for line in hunk.old}
        beside.append(Hunk(at + grown, (), tuple(line for line in hunk.new if line.rstrip("\r\n") not in old)))
    lines = split_lines(right)
    # From the last one, so that an insertion is made after the replacement of the line below it.
    for hunk in sorted((*carried.hunks, *beside), key=lambda hunk: (hunk.start, hunk.end), reverse=True):
        lines[hunk.start : hunk.end] = hunk.new
    ending = next((ending for line in lines if (ending := ending_of(line))), "\n")
    ended = [line if ending_of(line) else line + ending for line in lines[:-1]]  # what was typed below the last line
    return "".join([*ended, *lines[-1:]]), any(hunk.old and made.new for hunk, made in zip(lost, beside, strict=True))
