"""The decisions on hunks: what happens when they are accepted, rejected or edited, alone or as a group."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from tark_lsp.errors import RequestError
from tark_lsp.review.applying import HunkWriter
from tark_lsp.review.events import HunksChanged, ReviewEvent, ReviewEvents, TextWritten
from tark_lsp.review.hunk import EDITED, GONE, TOO_LATE, ReviewHunk, by_path, propose, typed_lines
from tark_lsp.review.life import Event, Life
from tark_lsp.review.locks import FileLocks
from tark_lsp.review.places import HunkPlaces, current_lines, retried
from tark_lsp.review.problems import Problems
from tark_lsp.review.store import HunkStore
from tark_lsp.review.texts import CurrentTexts
from tark_lsp.review.wording import for_user
from tark_lsp.workspace.checkpoints.checkpoints import Checkpoints
from tark_lsp.workspace.documents import Documents
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.lines import Hunk
from tark_lsp.workspace.snapshot import Snapshot


class Reviews:
    """Decides on hunks, which are given by their ids. `hunks` has their current values."""

    def __init__(self, workspace: Workspace, documents: Documents, checkpoints: Checkpoints) -> None:
        self._workspace = workspace
        self.hunks = HunkStore()
        self.events = ReviewEvents()
        self.current = CurrentTexts(workspace, documents)
        self.places = HunkPlaces(self.hunks, self.current, documents)
        self.writer = HunkWriter(workspace, documents, checkpoints, self.hunks, self.places, self.events)
        self.locks = FileLocks(self.hunks)
        self.problems = Problems(documents, workspace.read)
        self.events.listen(self._on_event)
        self.unasked: set[str] = set()
        """Ids of the hunks that were accepted for the user, without asking."""
        self.ending = False
        """The server is shutting down: hunks that are undecided now are left to the next server."""

    def _on_event(self, event: ReviewEvent) -> None:
        if isinstance(event, TextWritten):
            self.problems.check(event.path)

    def add_proposal(
        self, turn_id: str, edits: Sequence[tuple[ProposedEdit, Sequence[Hunk]]], *, whole: bool = False
    ) -> list[str]:
        """Return the ids of the new hunks. Each edit comes with its hunks that are outside the selection.

        `whole`: the hunks of all the edits are one group.
        """
        group = secrets.token_hex(6) if whole else ""
        added: list[str] = []
        for edit, outside in edits:
            hunks = propose(turn_id, edit, outside, group)
            self.add_hunks(edit.path, hunks, edit.base)
            added += [hunk.id for hunk in hunks]
        return added

    def add_hunks(self, path: Path, hunks: Sequence[ReviewHunk], base: Snapshot) -> None:
        """Add hunks of a file whose places are in the text `base`. Known hunks are skipped."""
        self.places.add_hunks(path, [hunk for hunk in hunks if self.hunks.get_hunk(hunk.id) is None], base)
        self.events.emit(HunksChanged(path))

    def unreviewed_edits(self) -> dict[str, Path]:
        """The applied hunks that the user did not decide on: id -> file."""
        return {
            hunk.id: hunk.path
            for hunk in self.hunks.get_hunks()
            if hunk.applied and (hunk.undecided or hunk.id in self.unasked)
        }

    async def accept(self, hunk_ids: Iterable[str], *, decide: bool = True) -> None:
        """Apply the hunks that are not applied yet. Without `decide` they stay undecided (`editReview: after`).

        A group is accepted as a whole, and undone if one of its hunks cannot be applied. A hunk that was typed over is
        settled with its current lines. A hunk that could not be applied is tried again.
        """
        hunk_ids = [*dict.fromkeys(hunk_ids)]
        kept = [hunk for hunk in self.hunks.get_hunks(hunk_ids) if hunk.blocked and hunk.applied and decide]
        self.hunks.apply_to_all(kept, Event.ACCEPTED)
        self._settle(kept)
        together = self.hunks.find_together(hunk_ids)
        ids = [hunk.id for hunk in together]
        # Not the hunks that fail while this waits, because the user has not seen the failure.
        again = [hunk.id for hunk in together if hunk.life is Life.FAILED]
        chosen = [hunk.id for hunk in together if hunk.pending or hunk.id in again]
        async with self.locks.hold_hunks(ids):
            for hunk in self.hunks.get_hunks(again):
                if hunk.life is Life.FAILED:
                    self.retry_hunk(hunk.id)
            failed = [hunk for hunk in self.hunks.get_hunks(ids) if hunk.blocked and not hunk.applied]
            blocked = {hunk.group: hunk.id for hunk in grouped(failed)}
            for hunks in by_path(self.hunks.get_hunks(chosen)).values():
                todo = [hunk.id for hunk in hunks if hunk.group not in blocked]
                missing = [hunk.id for hunk in self.hunks.get_hunks(todo) if not hunk.applied]
                await self.writer.write_hunks(missing, applied=True)
                blocked |= {hunk.group: hunk.id for hunk in grouped(self.hunks.get_hunks(todo)) if hunk.blocked}
                self._settle([hunk for hunk in hunks if not hunk.group], accept=decide)
            for hunk_id in blocked.values():
                await self._take_back_group(hunk_id)
            self._settle([hunk for hunk in self.hunks.get_hunks(chosen) if hunk.group], accept=decide)

    async def reject(self, hunk_ids: Iterable[str], reason: str = "") -> None:
        """Undo the hunks that are applied, unless the user already undid them."""
        hunk_ids = [*dict.fromkeys(hunk_ids)]
        for path in by_path(self.hunks.get_hunks(hunk_ids)):
            self.places.sync(path)
        hunks = [hunk for hunk in self.hunks.find_together(hunk_ids) if hunk.undecided]
        seen = [hunk.id for hunk in hunks if hunk.misplaced]
        busy = {hunk.group for hunk in hunks if hunk.applied or hunk.life.in_flight} - {""}
        later = [hunk.id for hunk in hunks if hunk.applied or hunk.life.in_flight or hunk.group in busy]
        now = [hunk for hunk in hunks if hunk.id not in later]
        self.hunks.apply_to_all(now, Event.REJECTED, reason)  # at once: nothing has to be written for it
        self._settle(now)
        if later:
            async with self.locks.hold_hunks(later):
                for some in by_path(self.hunks.get_hunks(later)).values():
                    await self._take_back([hunk.id for hunk in some])
                    left = self.hunks.get_hunks(hunk.id for hunk in some)
                    # Not the hunks that were misplaced while this waited, because the user has not seen that.
                    undecided = [
                        hunk
                        for hunk in left
                        if hunk.undecided and not hunk.life.in_flight and (hunk.id in seen or not hunk.misplaced)
                    ]
                    self.hunks.apply_to_all([hunk for hunk in undecided if not hunk.applied], Event.REJECTED, reason)
                    self._settle(left)

    def ungroup(self, hunk_ids: Iterable[str]) -> None:
        """Remove hunks that the user excluded from their group. The rest of the group is still decided as a whole."""
        for hunk in self.hunks.get_hunks(hunk_ids):
            self.hunks.replace_hunk(replace(hunk, group=""))

    async def rewrite(self, hunk_id: str, new_text: str) -> None:
        """Replace the new lines of a hunk: the user answered a question about it with their own lines.

        If the hunk is decided or blocked by now, it only shows the lines. If it is also applied, the reason shows them.
        """
        async with self.locks.hold_hunks([hunk_id]):
            hunk = self.hunks[hunk_id]
            if hunk.applied:
                self.hunks.replace_hunk(replace(hunk, reason=f"{TOO_LATE}: {new_text}"))
                return
            new = typed_lines(new_text, hunk.old, hunk.new, self.current.read_lines(hunk.path) or ())
            self.hunks.replace_hunk(replace(hunk, new=new, reason=EDITED if hunk.pending else hunk.reason))

    async def edit(self, hunk_id: str, new_text: str) -> None:
        """Replace the new lines with the user's. A hunk in conflict becomes a proposal for the lines at its place.

        Raises RequestError for a hunk that is decided, has no text, or cannot be changed.
        """
        found = self.hunks.get_hunk(hunk_id)
        if found is None:
            raise RequestError(f"hunkId: there is no hunk {hunk_id!r}")
        if found.operation:
            raise RequestError(f"hunkId: this change would {found.operation} a file, so it has no lines to edit")
        async with self.locks.hold_hunks([hunk_id]):
            hunk = self.hunks[hunk_id]
            if not hunk.undecided:
                raise RequestError(f"hunkId: the change is {hunk.state} already")
            self.places.sync(hunk.path)
            hunk = self.hunks[hunk_id]
            if self.current.lost_its_file(hunk):
                raise RequestError(f"hunkId: {GONE}")
            new = typed_lines(new_text, hunk.old, hunk.new, self.current.read_lines(hunk.path) or ())
            if hunk.life is Life.APPLIED:
                await self.writer.rewrite_hunk(hunk_id, new)
                hunk = self.hunks[hunk_id]
                self._settle([hunk])
                if not hunk.pending:
                    raise RequestError(f"hunkId: the edited lines could not be applied: {for_user(hunk.reason)}")
                hunk = replace(hunk, reason=EDITED)
            else:
                lines = current_lines(self.places, self.current, hunk.path)
                if lines is None:
                    raise RequestError(f"hunkId: {self._workspace.display(hunk.path)} cannot be read")
                hunk = self.hunks[hunk_id]
                old = tuple(lines[hunk.start : hunk.end])
                hunk = replace(hunk, old=old, new=new, size=len(old)).apply(Event.EDITED, reason=EDITED)
            self._settle([self.hunks.replace_hunk(hunk)])

    def reopen(self, hunk_ids: Iterable[str]) -> None:
        """Reopen accepted hunks that an alarm is about, so that they can be rejected."""
        for hunk in self.hunks.get_hunks(dict.fromkeys(hunk_ids)):
            if hunk.life is Life.ACCEPTED and hunk.alarm is not None:
                self.hunks.apply_event(hunk.id, Event.REOPENED)

    def retry_hunk(self, hunk_id: str) -> None:
        """Make a failed or stuck hunk pending again, unless its file is gone or cannot be read."""
        lines = current_lines(self.places, self.current, self.hunks[hunk_id].path)
        hunk = self.hunks[hunk_id]
        if lines is not None and hunk.state == "stale" and not self.current.lost_its_file(hunk):
            self.hunks.replace_hunk(retried(hunk, lines))

    async def wait_until_decided(self, hunk_ids: Iterable[str]) -> None:
        """Wait until no hunk is pending any more, whoever decides."""
        hunk_ids = [*hunk_ids]
        while any(hunk.pending for hunk in self.hunks.get_hunks(hunk_ids)):
            await self.events.next_change()

    def report_changed(self, path: Path) -> None:
        """Report that the file's hunks must be shown again."""
        self.places.forget_text(path)
        self.events.emit(HunksChanged(path))

    async def _take_back(self, hunk_ids: Sequence[str]) -> None:
        """Undo hunks of one file. Hunks that could not be undone before are tried again."""
        for hunk in self.hunks.get_hunks(hunk_ids):
            if hunk.life is Life.STUCK and hunk.operation:
                self.hunks.apply_event(hunk.id, Event.RETRIED)
            elif hunk.life is Life.STUCK:
                self.retry_hunk(hunk.id)
        applied = [hunk.id for hunk in self.hunks.get_hunks(hunk_ids) if hunk.applied]
        await self.writer.write_hunks(applied, applied=False)

    async def _take_back_group(self, blocked_id: str) -> None:
        """Undo the group because one hunk could not be applied. Hunks that the user has changed since stay."""
        blocked = self.hunks[blocked_id]
        name = self._workspace.display(blocked.path)
        reason = f"{name} could not be changed ({blocked.reason}), and all of these changes are made or none"
        others = [hunk.id for hunk in self.hunks.find_together([blocked_id]) if hunk.id != blocked_id]
        applied = [hunk for hunk in self.hunks.get_hunks(others) if hunk.applied]
        for hunks in list(by_path(applied).values())[::-1]:
            ids = [hunk.id for hunk in hunks]
            accepted = [hunk for hunk in self.hunks.get_hunks(ids) if hunk.life is Life.ACCEPTED]
            self.hunks.apply_to_all(accepted, Event.REOPENED)
            await self._take_back(ids)
            for hunk in self.hunks.get_hunks(ids):
                if hunk.applied:
                    self.hunks.replace_hunk(replace(hunk, reason=f"{reason}; it is still there, since {hunk.reason}"))
        pending = [hunk for hunk in self.hunks.get_hunks(others) if hunk.pending]
        self.hunks.apply_to_all(pending, Event.FAILED, reason)

    def _settle(self, hunks: Iterable[ReviewHunk], *, accept: bool = False) -> None:
        """Report that the hunks were decided. `accept`: accept applied and undecided hunks first."""
        current = self.hunks.get_hunks(hunk.id for hunk in hunks)
        if accept:
            self.hunks.apply_to_all([hunk for hunk in current if hunk.life is Life.APPLIED], Event.ACCEPTED)
        for path in dict.fromkeys(path for hunk in current for path in (hunk.source, hunk.path)):
            self.report_changed(path)


def grouped(hunks: Sequence[ReviewHunk]) -> list[ReviewHunk]:
    """The hunks that are in a group, the last hunk first."""
    return [hunk for hunk in hunks[::-1] if hunk.group]
