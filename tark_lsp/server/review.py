"""The hunks people decide on: their ids and states, where they are now, and what happens when one is decided.

A hunk's place follows the text by line changes: those of the region an editor's change event touches, and of the whole
text where it changed unseen (a closed file, a document opened again). What the person changed themselves is never
written over: then the hunk is in conflict and keeps what it wanted to say.
"""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from pathlib import Path

from tark_lsp.errors import FileMissing, WorkspaceError
from tark_lsp.server.documents import Change, Closed, DocumentEvent, Documents, Opened, Saved
from tark_lsp.server.followed_text import FollowedText
from tark_lsp.server.review_hunks import (
    CHANGED,
    ReviewHunk,
    apart,
    by_path,
    by_turn,
    carry,
    fitted,
    joins,
    lose,
    move,
)
from tark_lsp.workspace.checkpoints import Checkpoints
from tark_lsp.workspace.edits import Hunk, ProposedEdit, split_lines
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.outcomes import Applied, Outcome, Refused, Stale
from tark_lsp.workspace.snapshot import Snapshot

MOST_TRIES = 20
"""Of an edit that is stale each time it comes, since the person types on; what the editor refuses is its own matter."""
PAUSE_SECONDS = 0.3
"""The next try comes once the person has not typed for so long: each key would make the edit stale again."""
PATIENCE_SECONDS = 5.0
"""How long such a pause is waited for."""


class Reviews:
    """All hunks of this server's life, in the order they were proposed."""

    def __init__(
        self,
        workspace: Workspace,
        documents: Documents,
        checkpoints: Checkpoints,
        changed: Callable[[Path], None],
        moved: Callable[[Path], None],
        applied: Callable[[Path, bool], None],
    ) -> None:
        """`changed(path)`: hunks came or were decided. `moved(path)`: the person types around them.
        `applied(path, was_clean)`: text was written; it had no unsaved changes before."""
        self._workspace = workspace
        self._documents = documents
        self._checkpoints = checkpoints
        self._changed = changed
        self._moved = moved
        self._applied = applied
        self._hunks: dict[str, ReviewHunk] = {}
        self._by_path: defaultdict[Path, list[ReviewHunk]] = defaultdict(list)
        self._texts: dict[Path, FollowedText] = {}
        """The text that the hunks' places refer to, of files with hunks that are followed."""
        self._applying: set[Path] = set()
        self._late: defaultdict[Path, list[tuple[list[ReviewHunk], list[str]]]] = defaultdict(list)
        """Hunks that came while an edit of their file was on its way, and the text they are of: they join after it."""
        self._locks: defaultdict[Path, asyncio.Lock] = defaultdict(asyncio.Lock)
        """Decisions about one file are carried out one after another."""
        self.saving: set[Path] = set()
        """Files that we are having saved: such a save is not the person's."""
        self._decision: asyncio.Future[None] | None = None
        documents.listen(self._follow)

    def add(self, turn_id: str, edits: Sequence[tuple[ProposedEdit, Sequence[Hunk]]]) -> list[ReviewHunk]:
        """Hunks as proposed; beside each edit, those of its hunks that lie outside the selection."""
        added = []
        for edit, outside in edits:
            new = [ReviewHunk(turn_id, edit.path, hunk, hunk.start, hunk.new, hunk in outside) for hunk in edit.hunks]
            base = split_lines(edit.base.text)
            if edit.path in self._applying:  # whether their text has that edit in it already, nobody knows yet
                self._late[edit.path].append((new, base))
            else:
                self._join(edit.path, new, base)
            self._hunks.update({each.id: each for each in new})
            self._by_path[edit.path] += new
            self._changed(edit.path)
            added += new
        return added

    def get(self, hunk_id: str) -> ReviewHunk | None:
        return self._hunks.get(hunk_id)

    def find(self, path: Path | None = None, turn_id: str | None = None) -> list[ReviewHunk]:
        """In the order they stand in their files."""
        some = self._hunks.values() if path is None else self._by_path.get(path, ())
        found = [each for each in some if turn_id is None or each.turn_id == turn_id]
        if path is not None:
            return sorted(found, key=lambda each: each.start)
        return sorted(found, key=lambda each: (str(each.path), each.start))

    async def accept(self, hunks: Sequence[ReviewHunk], *, decide: bool = True) -> None:
        """Apply what is not applied yet. Without `decide` they stay to be decided (`editReview: after`)."""
        for path, some in by_path([each for each in hunks if each.open]).items():
            async with self._locks[path]:
                await self._apply(path, [each for each in some if not each.applied], applied=True)
                for each in some:
                    if decide and each.applied and each.open:
                        each.state = "accepted"
            self._settled(path)

    async def reject(self, hunks: Sequence[ReviewHunk], reason: str = "") -> None:
        """Take back what is applied already."""
        for path, some in by_path([each for each in hunks if each.state in ("pending", "conflict")]).items():
            later = [each for each in some if each.applied or each.applying]
            _reject([each for each in some if each not in later], reason)  # at once: nothing has to be written for it
            if later:
                async with self._locks[path]:
                    await self._apply(path, [each for each in later if each.applied and each.open], applied=False)
                    _reject([each for each in later if each.open and not each.applied], reason)
            self._settled(path)

    async def decided(self, hunks: Sequence[ReviewHunk]) -> None:
        """Returns once none of `hunks` is to be decided any more, whoever decided it."""
        while any(each.state == "pending" for each in hunks):
            self._decision = self._decision or asyncio.get_running_loop().create_future()
            await asyncio.shield(self._decision)

    def accept_saved(self, path: Path) -> None:
        """The person saved the file: what is applied in it is accepted."""
        saved = [each for each in self.find(path) if each.open and each.applied]
        for each in saved:
            each.state = "accepted"
        if saved:
            self._settled(path)

    @contextlib.asynccontextmanager
    async def still(self, paths: Iterable[Path]) -> AsyncIterator[None]:
        """Within it nothing is decided in these files: what was on its way has come to its end."""
        async with contextlib.AsyncExitStack() as locks:
            for path in sorted({*paths}):
                await locks.enter_async_context(self._locks[path])
            yield

    def landed(self, path: Path, found: Sequence[tuple[ReviewHunk, Hunk]], before: str) -> None:
        """The editor made these changes by itself, as the person ticked them in its preview.

        Beside each hunk how it stands in the text of now. `before`: that text without them.
        """
        now = self._read(path)
        for turn_id in by_turn(each for each, _ in found):
            self._checkpoints.settled(self._checkpoints.changing(turn_id, path, before, now.text), Applied(now))
        for each, standing in found:
            each.start, each.new, each.applied = standing.start, standing.new, True
            each.state, each.reason = "accepted", ""
        self._settled(path)

    def undone(self, turn_id: str, paths: Iterable[Path]) -> None:
        """The whole turn was taken back in these files, by other means."""
        for path in paths:
            self._sync(path)
            for each in self.find(path, turn_id):
                if each.applied and each.state in ("pending", "conflict"):
                    each.state, each.reason, each.applied = "rejected", "the turn was undone", False
            self._settled(path)

    async def _apply(self, path: Path, hunks: Sequence[ReviewHunk], *, applied: bool) -> None:
        """Bring `hunks` of one file to `applied`; each that cannot be gets its state and reason."""
        for some in by_turn(hunks).values():  # an edit for each turn, since undo is of turns
            await self._apply_turn(path, some, applied=applied)

    async def _apply_turn(self, path: Path, hunks: Sequence[ReviewHunk], *, applied: bool) -> None:
        reason = "other changes of it kept getting in the way"
        for _ in range(MOST_TRIES):
            try:
                self._sync(path)
                base = self._read(path)
            except WorkspaceError as error:
                reason = error.message
                break
            lines = split_lines(base.text)
            todo = apart([each for each in hunks if each.open and each.applied is not applied])
            for each in todo:
                if joins(each.towards(applied=applied), lines):
                    lose(each, CHANGED)
            todo = [each for each in todo if each.open]
            if not todo:
                return
            match await self._attempt(path, base, todo, applied=applied):
                case Applied():
                    # What stood on the same lines as another is in conflict now.
                    return
                case Refused(reason):
                    break
                case Stale(reason):
                    await self._pause()
        for each in hunks:
            if each.open and each.applied is not applied:
                each.state, each.reason = "stale", reason

    async def _pause(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._documents.quiet(PAUSE_SECONDS)

    async def _attempt(self, path: Path, base: Snapshot, todo: Sequence[ReviewHunk], *, applied: bool) -> Outcome:
        lines = split_lines(base.text)
        edit = ProposedEdit(path, base, tuple(fitted(each.towards(applied=applied), lines) for each in todo))
        document = self._documents.at(path)
        clean = document is not None and not document.dirty
        turn_id = todo[0].turn_id
        noted = self._checkpoints.changing(turn_id, path, self._before(base), edit.after)
        self._applying.add(path)
        for each in todo:
            each.applying = True
        verb = "apply" if applied else "take back"
        try:
            outcome = await self._workspace.apply(edit, f"Tark: {verb} {len(todo)} change{'s' * (len(todo) > 1)}")
            if isinstance(outcome, Applied):
                self._place(path, edit, todo, applied=applied)
        finally:
            self._applying.discard(path)
            for each in todo:
                each.applying = False
            self._sync(path)  # what came meanwhile was not followed
            for new, lines in self._late.pop(path, ()):
                self._join(path, new, lines)
        self._checkpoints.settled(noted, outcome)
        if isinstance(outcome, Applied):
            self._applied(path, clean)
        return outcome

    def _before(self, base: Snapshot) -> bytes | str | None:
        """What undo restores: the text of the buffer, else the file byte for byte."""
        if not base.exists:
            return None
        return base.text if self._documents.at(base.path) else self._workspace.read_bytes(base.path)

    def _read(self, path: Path) -> Snapshot:
        try:
            return self._workspace.read(path)
        except FileMissing:
            return Snapshot(path, "", exists=False)

    def _place(self, path: Path, edit: ProposedEdit, done: Sequence[ReviewHunk], *, applied: bool) -> None:
        """Move every hunk of the file to where it stands in `edit.after`."""
        changes = [(hunk.start, hunk.end, len(hunk.new) - len(hunk.old)) for hunk in edit.hunks]
        for each in self.find(path):
            if each not in done and not self._is_late(each):
                move(each, changes, "another change was made to these lines")
        grown = 0
        for each, hunk in zip(done, edit.hunks, strict=True):
            each.start, each.applied = hunk.start + grown, applied
            each.new = hunk.new if applied else each.new
            grown += len(hunk.new) - len(hunk.old)
        self._texts[path] = FollowedText(split_lines(edit.after))

    def _lines(self, path: Path) -> list[str] | None:
        """None: the file cannot be read, so nothing is known of its lines."""
        try:
            return split_lines(self._read(path).text)
        except WorkspaceError:
            return None

    def _join(self, path: Path, new: Sequence[ReviewHunk], base: Sequence[str]) -> None:
        """The others stand in the text of now, and the new ones come to it from the text they were made for."""
        self._sync(path)
        if path not in self._texts:
            self._texts[path] = FollowedText(self._lines(path) or [], self._documents.at(path))
        carry(new, base, self._texts[path].lines)

    def _is_late(self, hunk: ReviewHunk) -> bool:
        return any(hunk in new for new, _ in self._late.get(hunk.path, ()))

    def _sync(self, path: Path) -> None:
        """Carry the hunks of a file from its last known text to the text of now."""
        known, document = self._texts.get(path), self._documents.at(path)
        if known is not None and not known.is_of(document) and (now := self._lines(path)) is not None:
            known.become(self._followed(path), now, document)

    def _follow(self, event: DocumentEvent) -> None:
        path = event.document.path
        if path is None or path not in self._texts:
            return
        match event:
            case Saved() if path in self.saving:
                self.saving.discard(path)
            case Saved():
                self.accept_saved(path)
            case Change() if path not in self._applying:
                self._texts[path].follow(self._followed(path), event)
                self._moved(path)
            case Opened() | Closed() if path not in self._applying:
                self._sync(path)
                self._moved(path)
            case _:
                pass

    def _followed(self, path: Path) -> list[ReviewHunk]:
        return [each for each in self._by_path.get(path, ()) if each.open and not self._is_late(each)]

    def _settled(self, path: Path) -> None:
        if self._decision is not None:
            self._decision.set_result(None)
            self._decision = None
        if not self._followed(path):
            self._texts.pop(path, None)
        self._changed(path)


def _reject(hunks: Iterable[ReviewHunk], reason: str) -> None:
    for each in hunks:
        each.state, each.reason = "rejected", reason
