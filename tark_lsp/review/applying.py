"""Applies and undoes the hunks of one file, including moves and removals of files, with retries.

It never overwrites what the user changed: such a hunk is in conflict, and keeps its own lines.
"""

import asyncio
import contextlib
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tark_lsp.errors import FileMissing, WorkspaceError
from tark_lsp.review.events import ReviewEvents, TextWritten
from tark_lsp.review.hunk import CHANGED, GONE, ReviewHunk, by_turn, without_overlaps, would_join
from tark_lsp.review.life import Event, Life
from tark_lsp.review.places import HunkPlaces, lines_after
from tark_lsp.review.store import HunkStore
from tark_lsp.workspace.checkpoints.checkpoints import Checkpoints
from tark_lsp.workspace.documents import Documents
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.encoding import UTF_8, decode
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.lines import Hunk, fit_ending
from tark_lsp.workspace.outcomes import Applied, Outcome, Refused, Stale, was_in_text
from tark_lsp.workspace.snapshot import Snapshot

MAX_TRIES = 20
"""How often to try an edit that is stale each time because the user keeps typing. A refused edit is not retried."""
PAUSE_SECONDS = 0.3
"""The next try starts when the user has not typed for this time, because each key would make the edit stale again."""
MAX_WAIT_SECONDS = 5.0
"""How long to wait for such a pause at most."""
NEW_FILE_MODE = 0o644
EXISTS_AGAIN = "there is a file at its place again"
GAVE_UP = "other changes of it kept getting in the way"


class HunkWriter:
    def __init__(
        self,
        workspace: Workspace,
        documents: Documents,
        checkpoints: Checkpoints,
        store: HunkStore,
        places: HunkPlaces,
        events: ReviewEvents,
    ) -> None:
        self._workspace = workspace
        self._documents = documents
        self._checkpoints = checkpoints
        self._store = store
        self._places = places
        self._events = events
        self.operating: set[Path] = set()
        """Files that are being moved or removed. What the editor reports about them is part of the operation."""

    async def write_hunks(self, hunk_ids: Sequence[str], *, applied: bool) -> None:
        """Apply the pending hunks of one file, or undo hunks. A hunk that fails gets its state and the reason.

        A file is moved first, while it is still as it was saved, and then changed. Undo works in the reverse order.
        """
        hunks = self._store.get_hunks(hunk_ids)
        operations = [[hunk] for hunk in hunks if hunk.operation]
        # One edit for each turn, since turns are undone separately.
        steps = [*operations, *by_turn(hunk for hunk in hunks if not hunk.operation).values()]

        def needed(hunk: ReviewHunk) -> Hunk | None:
            return None if hunk.applied is applied else hunk.edit_to(applied=applied)

        for step in steps if applied else steps[::-1]:
            await self._try([hunk.id for hunk in step], needed, applied)

    async def rewrite_hunk(self, hunk_id: str, new: tuple[str, ...]) -> None:
        """Replace the new lines of a hunk. If it is applied, one edit changes the text."""

        def needed(hunk: ReviewHunk) -> Hunk | None:
            return None if hunk.new == new else Hunk(hunk.start, hunk.new, new)

        await self._try([hunk_id], needed, True)

    async def _try(self, hunk_ids: Sequence[str], needed: Callable[[ReviewHunk], Hunk | None], applied: bool) -> None:
        """`needed`: the edit that a hunk still needs. `applied`: whether the hunks are applied after it."""
        reason = GAVE_UP
        for _ in range(MAX_TRIES):
            path = self._store[hunk_ids[0]].path
            try:
                base = self._places.read_in_step(path)
                edits = self._next_edits(hunk_ids, needed, base, applied)
                if not edits:
                    return
                outcome = await self._attempt(base, edits, applied)
            except WorkspaceError as error:
                reason = error.message
                break
            match outcome:
                case Applied():
                    # A hunk on the same lines as another is in conflict now.
                    return
                case Refused(reason):
                    for hunk in self._store.get_hunks(edits):
                        if hunk.life is not Life.UNDONE:  # a hunk that is blocked now is blocked because of the refusal
                            self._store.replace_hunk(replace(hunk, reason=reason))
                    break
                case Stale(reason):
                    await self._pause()
        for hunk in self._store.get_hunks(hunk_ids):
            if hunk.pending and needed(hunk) is not None:
                self._store.apply_event(hunk.id, Event.FAILED, reason=reason)

    def _next_edits(
        self,
        hunk_ids: Sequence[str],
        needed: Callable[[ReviewHunk], Hunk | None],
        base: Snapshot,
        applied: bool,
    ) -> dict[str, Hunk]:
        """The edits to send, by the ids of their hunks. Settles hunks that need no edit."""
        lines = self._places.lines_of(base)
        edits: dict[str, Hunk] = {}
        idle = [hunk for hunk in self._store.get_hunks(hunk_ids) if hunk.pending and not hunk.life.in_flight]
        for hunk in without_overlaps(hunk for hunk in idle if needed(hunk) is not None):
            if (wanted := needed(hunk)) is None:
                continue
            edit = fit_ending(wanted, lines)
            if would_join(edit, lines):
                self._store.replace_hunk(hunk.touch(CHANGED))
            elif edit.old == edit.new and not (
                hunk.operation or _is_empty_file(hunk, base, applied)
            ):  # the user's own text for it is already there
                event = Event.WRITTEN if applied else Event.TAKEN_BACK
                self._store.apply_event(hunk.id, event, start=edit.start)
            else:
                edits[hunk.id] = edit
        return edits

    async def _attempt(self, base: Snapshot, edits: Mapping[str, Hunk], applied: bool) -> Outcome:
        hunks = self._store.get_hunks(edits)
        first = hunks[0]
        if first.operation == "move" and first.target is not None:
            return await self._move(base, first, first.target if applied else first.source, applied)
        if first.operation == "remove":
            return await (self._remove(base, first) if applied else self._restore(first))
        edit = ProposedEdit(base.path, base, tuple(edits.values()))
        emptied = not lines_after(edit, self._places.lines_of(base))
        if not applied and any(hunk.created for hunk in hunks) and emptied:
            return await self._unmake(base, edit, hunks)
        return await self._write(base, edit, hunks, applied)

    async def _write(self, base: Snapshot, edit: ProposedEdit, hunks: Sequence[ReviewHunk], applied: bool) -> Outcome:
        path = base.path
        document = self._documents.at(path)
        clean = document is not None and not document.dirty
        after = "".join(lines_after(edit, self._places.lines_of(base)))
        noted = self._checkpoints.record_edit(hunks[0].turn_id, path, base.text if base.exists else None, after)
        verb = "apply" if applied else "take back"
        label = f"Tark: {verb} {len(hunks)} change{'s' * (len(hunks) > 1)}"
        with self._in_flight(hunks, path):
            outcome = await self._workspace.apply(edit, label)
            if isinstance(outcome, Applied):
                self._places.place_edit(path, edit, [hunk.id for hunk in hunks], applied=applied)
                if applied and not base.exists:
                    for hunk in self._store.get_hunks(hunk.id for hunk in hunks):
                        self._store.replace_hunk(replace(hunk, created=True))
            elif was_in_text(outcome):
                self._places.drop_changes(path)
        self._checkpoints.settle_change(noted, outcome)
        if isinstance(outcome, Applied):
            self._events.emit(TextWritten(path, clean))
        return outcome

    async def _unmake(self, base: Snapshot, edit: ProposedEdit, hunks: Sequence[ReviewHunk]) -> Outcome:
        """Remove a file that was created and contains nothing from the user."""
        data, mode = self._stored(base)
        noted = self._checkpoints.record_removal(hunks[0].turn_id, base.path, data, mode)
        with self._operating(base.path), self._in_flight(hunks, base.path):
            outcome = await self._workspace.remove(base)
            if isinstance(outcome, Applied):
                self._places.place_edit(base.path, edit, [hunk.id for hunk in hunks], applied=False)
        self._checkpoints.settle_change(noted, outcome)
        return outcome

    async def _move(self, base: Snapshot, hunk: ReviewHunk, target: Path, applied: bool) -> Outcome:
        source = base.path
        if not base.exists:
            return Refused(GONE)
        noted = self._checkpoints.record_move(hunk.turn_id, source, target)
        with self._operating(source, target), self._in_flight([hunk], source, target):
            outcome = await self._workspace.move(base, target)
            if isinstance(outcome, Applied):
                moved = self._store.apply_event(hunk.id, Event.WRITTEN if applied else Event.TAKEN_BACK)
                self._store.replace_hunk(replace(moved, source=source, reason=outcome.note))
                self._places.relocate_file(source, target)
        self._checkpoints.settle_change(noted, outcome)
        return outcome

    async def _remove(self, base: Snapshot, hunk: ReviewHunk) -> Outcome:
        if not base.exists:
            return Refused(GONE)
        data, mode = self._stored(base)
        noted = self._checkpoints.record_removal(hunk.turn_id, base.path, data, mode)
        with self._operating(base.path), self._in_flight([hunk], base.path):
            outcome = await self._workspace.remove(base)
            if isinstance(outcome, Applied):
                self._places.place_edit(base.path, ProposedEdit.removal(base), [hunk.id], applied=True)
                removed = self._store[hunk.id]
                self._store.replace_hunk(replace(removed, reason=outcome.note))
        self._checkpoints.settle_change(noted, outcome)
        return outcome

    async def _restore(self, hunk: ReviewHunk) -> Outcome:
        data, mode, noted = self._checkpoints.removed_content(hunk.turn_id, hunk.path)
        with self._operating(hunk.path), self._in_flight([hunk], hunk.path):
            outcome = await self._workspace.restore(hunk.path, data, mode)
            if isinstance(outcome, Applied):
                edit = ProposedEdit(hunk.path, Snapshot(hunk.path, ""), (hunk.edit_to(applied=False),))
                self._places.place_edit(hunk.path, edit, [hunk.id], applied=False)
        if isinstance(outcome, Applied):
            self._checkpoints.settle_change(noted, Refused("taken back"))  # undo then has nothing to bring back
        return Refused(EXISTS_AGAIN) if isinstance(outcome, Stale) else outcome

    @contextlib.contextmanager
    def _in_flight(self, hunks: Iterable[ReviewHunk], *paths: Path) -> Iterator[None]:
        """An edit of these hunks is on its way to these files. Hunks that it does not write keep their former state."""
        hunk_ids = [hunk.id for hunk in hunks]
        with self._places.uncertain(*paths):
            for hunk_id in hunk_ids:
                self._store.apply_event(hunk_id, Event.SENT)
            try:
                yield
            finally:
                for hunk in self._store.get_hunks(hunk_ids):
                    if hunk.life.in_flight:
                        self._store.apply_event(hunk.id, Event.NOT_WRITTEN)

    @contextlib.contextmanager
    def _operating(self, *paths: Path) -> Iterator[None]:
        self.operating.update(paths)
        try:
            yield
        finally:
            self.operating.difference_update(paths)

    async def _pause(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(MAX_WAIT_SECONDS):
                await self._documents.wait_for_quiet(PAUSE_SECONDS)

    def _stored(self, base: Snapshot) -> tuple[bytes, int]:
        """The bytes of the file when it is removed, as it is then saved, and its mode."""
        try:
            stored = self._workspace.read_stored(base.path)
        except FileMissing:
            return UTF_8.encode(base.text), NEW_FILE_MODE
        text, encoding = decode(stored.data)
        data = stored.data if text == base.text else encoding.encode(base.text)
        return data, stat.S_IMODE(stored.status.st_mode)


def _is_empty_file(hunk: ReviewHunk, base: Snapshot, applied: bool) -> bool:
    """Does the hunk create, or remove again, a new file without text?"""
    closed_and_empty = not hunk.had_file and not hunk.new and base.version is None and not base.text
    return closed_and_empty and base.exists is not applied and (applied or hunk.created)
