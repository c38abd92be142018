"""Brings the hunks of one file into its text, or takes them back, and so with moves and removals; tried until it holds.

What the person changed themselves is never written over: then the hunk is in conflict and keeps what it wanted to say.
"""

import asyncio
import contextlib
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tark_lsp.errors import FileMissing, WorkspaceError
from tark_lsp.server.documents.documents import Documents
from tark_lsp.server.review.hunks import CHANGED, GONE, ReviewHunk, apart, by_turn, fitted, joins, lose
from tark_lsp.server.review.places import HunkPlaces
from tark_lsp.workspace.checkpoints.checkpoints import Checkpoints
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.encoding import UTF_8, decode
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.lines import Hunk
from tark_lsp.workspace.outcomes import Applied, Outcome, Refused, Stale
from tark_lsp.workspace.snapshot import Snapshot

MOST_TRIES = 20
"""Of an edit that is stale each time it comes, since the person types on; what the editor refuses is its own matter."""
PAUSE_SECONDS = 0.3
"""The next try comes once the person has not typed for so long: each key would make the edit stale again."""
PATIENCE_SECONDS = 5.0
"""How long such a pause is waited for."""
NEW_FILE_MODE = 0o644
THERE_AGAIN = "there is a file at its place again"


class HunkWriter:
    def __init__(
        self,
        workspace: Workspace,
        documents: Documents,
        checkpoints: Checkpoints,
        places: HunkPlaces,
        applied: Callable[[Path, bool], None],
    ) -> None:
        """`applied(path, was_clean)`: text was written; it had no unsaved changes before."""
        self._workspace = workspace
        self._documents = documents
        self._checkpoints = checkpoints
        self._places = places
        self._applied = applied
        self.operating: set[Path] = set()
        """Files that are being moved or removed: whatever is told of them meanwhile is part of that."""

    async def bring(self, hunks: Sequence[ReviewHunk], *, applied: bool) -> None:
        """Those of one file that are open, to `applied`; each that cannot be gets its state and reason.

        A file is moved while it is still as it was saved, and then changed; back it goes when that is taken back.
        """
        operations = [[each] for each in hunks if each.operation]
        # An edit for each turn, since undo is of turns.
        steps = [*operations, *by_turn(each for each in hunks if not each.operation).values()]
        for some in steps if applied else steps[::-1]:
            await self._try(
                some, lambda each: None if each.applied is applied else each.towards(applied=applied), applied
            )

    async def rewrite(self, each: ReviewHunk, new: tuple[str, ...]) -> None:
        """An applied one gets other lines, by one edit."""
        await self._try([each], lambda each: None if each.new == new else Hunk(each.start, each.new, new), True)

    async def _try(
        self, hunks: Sequence[ReviewHunk], wanted: Callable[[ReviewHunk], Hunk | None], applied: bool
    ) -> None:
        """`wanted`: the edit that is left to do for a hunk. `applied`: what they are after it."""
        reason = "other changes of it kept getting in the way"
        for _ in range(MOST_TRIES):
            path = hunks[0].path
            try:
                base = self._places.read_in_step(path)
                lines = self._places.lines(base)
                todo = apart([each for each in hunks if each.open and wanted(each) is not None])
                edits = {each: fitted(edit, lines) for each in todo if (edit := wanted(each)) is not None}
                for each, edit in list(edits.items()):
                    if joins(edit, lines):
                        lose(each, CHANGED)
                        del edits[each]
                    elif edit.old == edit.new and not each.operation:  # what they wrote is what stands there
                        each.stand(edit.start, applied=applied)
                        del edits[each]
                if not edits:
                    return
                with self._applying(edits):
                    outcome = await self._attempt(base, edits, applied)
            except WorkspaceError as error:
                reason = error.message
                break
            match outcome:
                case Applied():
                    # What stood on the same lines as another is in conflict now.
                    return
                case Refused(reason):
                    for each in edits:  # one that is lost by now is so because of it
                        each.reason = each.reason if each.undone else reason
                    break
                case Stale(reason):
                    await self._pause()
        for each in hunks:
            if each.open and wanted(each) is not None:
                each.state, each.reason = "stale", reason

    @contextlib.contextmanager
    def _applying(self, hunks: Sequence[ReviewHunk] | dict[ReviewHunk, Hunk]) -> Iterator[None]:
        for each in hunks:
            each.applying = True
        try:
            yield
        finally:
            for each in hunks:
                each.applying = False

    async def _attempt(self, base: Snapshot, edits: dict[ReviewHunk, Hunk], applied: bool) -> Outcome:
        first = next(iter(edits))
        if first.operation == "move" and first.target is not None:
            return await self._move(base, first, first.target if applied else first.source)
        if first.operation == "remove":
            return await (self._remove(base, first) if applied else self._restore(first))
        edit = ProposedEdit(base.path, base, tuple(edits.values()))
        if not applied and any(each.created for each in edits) and not self._places.after(edit):
            return await self._unmake(base, edit, list(edits))
        return await self._write(base, edit, list(edits), applied)

    async def _write(self, base: Snapshot, edit: ProposedEdit, todo: Sequence[ReviewHunk], applied: bool) -> Outcome:
        path = base.path
        document = self._documents.at(path)
        clean = document is not None and not document.dirty
        noted = self._checkpoints.changing(
            todo[0].turn_id, path, base.text if base.exists else None, "".join(self._places.after(edit))
        )
        verb = "apply" if applied else "take back"
        with self._places.uncertain(path):
            outcome = await self._workspace.apply(edit, f"Tark: {verb} {len(todo)} change{'s' * (len(todo) > 1)}")
            if isinstance(outcome, Applied):
                self._places.place(path, edit, todo, applied=applied)
                for each in todo:
                    each.created = each.created or (applied and not base.exists)
        self._checkpoints.settled(noted, outcome)
        if isinstance(outcome, Applied):
            self._applied(path, clean)
        return outcome

    async def _unmake(self, base: Snapshot, edit: ProposedEdit, todo: Sequence[ReviewHunk]) -> Outcome:
        """A file that was made, and has nothing of the person's in it, goes again."""
        data, mode = self._stored(base)
        noted = self._checkpoints.removing(todo[0].turn_id, base.path, data, mode)
        with self._operating(base.path):
            outcome = await self._workspace.remove(base)
            if isinstance(outcome, Applied):
                self._places.place(base.path, edit, todo, applied=False)
        self._checkpoints.settled(noted, outcome)
        return outcome

    async def _move(self, base: Snapshot, each: ReviewHunk, target: Path) -> Outcome:
        source = base.path
        if not base.exists:
            return Refused(GONE)
        noted = self._checkpoints.moving(each.turn_id, source, target)
        with self._operating(source, target):
            outcome = await self._workspace.move(base, target)
            if isinstance(outcome, Applied):
                each.applied, each.source, each.reason = not each.applied, source, outcome.note
                self._places.relocate(source, target)
        self._checkpoints.settled(noted, outcome)
        return outcome

    async def _remove(self, base: Snapshot, each: ReviewHunk) -> Outcome:
        if not base.exists:
            return Refused(GONE)
        data, mode = self._stored(base)
        noted = self._checkpoints.removing(each.turn_id, base.path, data, mode)
        with self._operating(base.path):
            outcome = await self._workspace.remove(base)
            if isinstance(outcome, Applied):
                self._places.place(base.path, ProposedEdit.removal(base), [each], applied=True)
                each.reason = outcome.note
        self._checkpoints.settled(noted, outcome)
        return outcome

    async def _restore(self, each: ReviewHunk) -> Outcome:
        data, mode, noted = self._checkpoints.removed(each.turn_id, each.path)
        with self._operating(each.path):
            outcome = await self._workspace.restore(each.path, data, mode)
            if isinstance(outcome, Applied):
                nothing = Snapshot(each.path, "")
                self._places.place(
                    each.path, ProposedEdit(each.path, nothing, (each.towards(applied=False),)), [each], applied=False
                )
        if isinstance(outcome, Applied):
            self._checkpoints.settled(noted, Refused("taken back"))  # so undo has nothing to bring back
        return Refused(THERE_AGAIN) if isinstance(outcome, Stale) else outcome

    @contextlib.contextmanager
    def _operating(self, *paths: Path) -> Iterator[None]:
        self.operating.update(paths)
        try:
            with self._places.uncertain(*paths):
                yield
        finally:
            self.operating.difference_update(paths)

    async def _pause(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._documents.quiet(PAUSE_SECONDS)

    def _stored(self, base: Snapshot) -> tuple[bytes, int]:
        """The bytes of the file as it will be when it is removed, saved by then, and its mode."""
        try:
            stored = self._workspace.read_stored(base.path)
        except FileMissing:
            return UTF_8.encode(base.text), NEW_FILE_MODE
        text, encoding = decode(stored.data)
        data = stored.data if text == base.text else encoding.encode(base.text)
        return data, stat.S_IMODE(stored.status.st_mode)
