"""The hunks people decide on: what happens when they are accepted, rejected, edited, or can only come all together.

Longer than most, as the ways to decide share the locks, and what one of them leaves is what the next one meets.
"""

import asyncio
import contextlib
import secrets
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from pathlib import Path

from tark_lsp.errors import RequestError
from tark_lsp.server.documents.documents import Change, Closed, DocumentEvent, Documents, Opened, Saved
from tark_lsp.server.review.hunks import GONE, ReviewHunk, by_path, by_turn
from tark_lsp.server.review.places import HunkPlaces
from tark_lsp.server.review.writing import HunkWriter
from tark_lsp.workspace.checkpoints.checkpoints import Checkpoints
from tark_lsp.workspace.edits import MOVED, ProposedEdit
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.lines import Hunk
from tark_lsp.workspace.outcomes import Applied

EDITED = "the person changed the text before accepting it"


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
        self._checkpoints = checkpoints
        self._changed = changed
        self._moved = moved
        self._places = HunkPlaces(workspace, documents)
        self._writer = HunkWriter(workspace, documents, checkpoints, self._places, applied)
        self._locks: defaultdict[Path, asyncio.Lock] = defaultdict(asyncio.Lock)
        """Decisions about one file are carried out one after another."""
        self.saving: set[Path] = set()
        """Files that we are having saved: such a save is not the person's."""
        self.ending = False
        """The server is being shut down: what is undecided now is left to the next one."""
        self._decision: asyncio.Future[None] | None = None
        documents.listen(self._follow)

    def add(
        self, turn_id: str, edits: Sequence[tuple[ProposedEdit, Sequence[Hunk]]], *, whole: bool = False
    ) -> list[ReviewHunk]:
        """Hunks as proposed; beside each edit, those of its hunks that lie outside the selection.

        `whole`: those of all the edits are applied all or not at all.
        """
        together = secrets.token_hex(6) if whole else ""
        added = []
        for edit, outside in edits:
            new = [
                ReviewHunk(
                    turn_id,
                    edit.path,
                    hunk,
                    hunk.start,
                    hunk.new,
                    hunk in outside,
                    whole=together,
                    of_file=edit.base.exists,
                )
                for hunk in (*edit.hunks, *([MOVED] if edit.target is not None else []))
            ]
            if edit.operation:
                new[-1].operation, new[-1].target = edit.operation, edit.target
            self._places.add(edit.path, new, edit.base.text)
            self._changed(edit.path)
            added += new
        return added

    def bring_back(self, path: Path, hunks: Sequence[ReviewHunk], text: str) -> None:
        """Hunks of an earlier server, as they stand in `text`, which the file has now."""
        self._places.add(path, [each for each in hunks if self._places.get(each.id) is None], text)
        self._changed(path)

    def texts(self, path: Path) -> list[tuple[str, list[ReviewHunk]]]:
        """The texts that hunks of the file stand in, with those."""
        return self._places.texts(path)

    def get(self, hunk_id: str) -> ReviewHunk | None:
        return self._places.get(hunk_id)

    def is_gone(self, each: ReviewHunk) -> bool:
        """Is it of a file that is not there any more?"""
        return self._places.is_gone(each)

    def find(self, path: Path | None = None, turn_id: str | None = None) -> list[ReviewHunk]:
        """In the order they stand in their files."""
        return self._places.find(path, turn_id)

    async def accept(self, hunks: Sequence[ReviewHunk], *, decide: bool = True) -> None:
        """Apply what is not applied yet. Without `decide` they stay to be decided (`editReview: after`).

        What is applied all or not at all is accepted together, and taken back again where one of it cannot be. One
        that is applied and was typed over is settled as it stands; one that could not be applied is tried again.
        """
        kept = [each for each in hunks if each.lost and each.applied and decide]
        for each in kept:
            each.state = "accepted"
        self._settle(kept)
        together = self.together(hunks)
        # Not those that become so while this waits: the person has not seen how that went.
        again = [each for each in together if each.state == "stale" and not each.applied]
        hunks = [each for each in together if each.open or each in again]
        async with self._holding(together):
            for each in again:
                if each.state == "stale" and not each.applied:
                    self._places.reopen(each)
            lost = {each.whole: each for each in together[::-1] if each.whole and each.lost and not each.applied}
            for some in by_path(hunks).values():
                todo = [each for each in some if each.whole not in lost]
                await self._writer.bring([each for each in todo if not each.applied], applied=True)
                lost |= {each.whole: each for each in todo[::-1] if each.whole and each.lost}
                self._end([each for each in some if not each.whole], decide=decide)
            for each in lost.values():
                await self._take_back(each)
            self._end([each for each in hunks if each.whole], decide=decide)

    async def reject(self, hunks: Sequence[ReviewHunk], reason: str = "") -> None:
        """Take back what is applied already, and not undone by the person."""
        for path in by_path(hunks):
            self._places.sync(path)
        hunks = [each for each in self.together(hunks) if each.open or each.lost]
        busy = {each.whole for each in hunks if each.applied or each.applying} - {""}
        later = [each for each in hunks if each.applied or each.applying or each.whole in busy]
        now = [each for each in hunks if each not in later]
        _reject(now, reason)  # at once: nothing has to be written for it
        self._settle(now)
        if later:
            async with self._holding(later):
                for some in by_path(later).values():
                    await self._undo(some)
                    _reject([each for each in some if (each.open or each.lost) and not each.applied], reason)
                    self._settle(some)

    def together(self, hunks: Iterable[ReviewHunk]) -> list[ReviewHunk]:
        """These, and all that is decided only together with one of them, in the order they were proposed."""
        return self._places.together(hunks)

    def leave_out(self, hunks: Iterable[ReviewHunk]) -> None:
        """The person took these out of what is decided together; the rest still is."""
        for each in hunks:
            each.whole = ""

    def write(self, each: ReviewHunk, new_text: str) -> None:
        """The person's own new lines for one that is not applied: what cannot be any more at least shows them."""
        each.new = self._places.typed(each, new_text)
        each.reason = EDITED if each.open else each.reason

    async def edit(self, hunk_id: str, new_text: str) -> ReviewHunk:
        """The person writes the new lines themselves; one that was in conflict then stands for what is there now.

        Raises RequestError for what is decided, has no text, or cannot be changed.
        """
        each = self._places.get(hunk_id)
        if each is None:
            raise RequestError(f"hunkId: there is no hunk {hunk_id!r}")
        if each.operation:
            raise RequestError(f"hunkId: it is to {each.operation} a file, and has no lines to edit")
        async with self._holding([each]):
            if not each.open and not each.lost:
                raise RequestError(f"hunkId: it is {each.state} already")
            self._places.sync(each.path)
            if self._places.is_gone(each):
                raise RequestError(f"hunkId: {GONE}")
            new = self._places.typed(each, new_text)
            if each.open and each.applied:
                await self._writer.rewrite(each, new)
                self._settle([each])
                if not each.open:
                    raise RequestError(f"hunkId: it could not be changed: {each.reason}")
            else:
                standing = self._places.standing(each)
                if standing is None:
                    raise RequestError(f"hunkId: {self._workspace.display(each.path)} cannot be read")
                each.hunk, each.new = Hunk(each.start, standing, each.hunk.new), new
                each.applied, each.state = False, "pending"
            each.reason = EDITED
            self._settle([each])
        return each

    def reopen(self, hunks: Iterable[ReviewHunk]) -> None:
        """Accepted ones that an alarm is about can be rejected again."""
        for each in hunks:
            if each.state == "accepted" and each.applied and each.alarm is not None:
                each.state = "pending"

    async def decided(self, hunks: Sequence[ReviewHunk]) -> None:
        """Returns once none of `hunks` is to be decided any more, whoever decided it."""
        while any(each.state == "pending" for each in hunks):
            self._decision = self._decision or asyncio.get_running_loop().create_future()
            await asyncio.shield(self._decision)

    def accept_saved(self, path: Path) -> None:
        """The person saved the file: what is applied in it is accepted, with what they made of it.

        Not what is being taken back at that moment, as they said before.
        """
        self._places.sync(path)
        saved = [each for each in self.find(path) if each.applied and not each.applying and (each.open or each.lost)]
        for each in saved:
            each.state = "accepted"
        if saved:
            self._settled(path)

    def landed(self, path: Path, found: Sequence[tuple[ReviewHunk, Hunk]], before: str) -> None:
        """The editor made these changes by itself, as the person ticked them in its preview.

        Beside each hunk how it stands in the text of now. `before`: that text without them.
        """
        now = self._places.read(path)
        for turn_id in by_turn(each for each, _ in found):
            self._checkpoints.settled(self._checkpoints.changing(turn_id, path, before, now.text), Applied(now))
        for each, standing in found:
            each.new = standing.new
            each.stand(standing.start, applied=True)
            each.state, each.reason = "accepted", ""
        self._settled(path)

    @contextlib.asynccontextmanager
    async def still(self, paths: Iterable[Path]) -> AsyncIterator[None]:
        """Within it nothing is decided in these files: what was on its way has come to its end.

        What is taken back in them meanwhile is not the person's own undo.
        """
        paths = sorted({*paths})
        async with contextlib.AsyncExitStack() as locks:
            for path in paths:
                await locks.enter_async_context(self._locks[path])
            applied = [each for path in paths for each in self.find(path) if each.applied]
            for each in applied:
                each.held = True
            try:
                yield
            finally:
                for each in applied:
                    each.held = False

    def undone(self, turn_id: str, paths: Iterable[Path]) -> None:
        """The whole turn was taken back in these files, by other means."""
        touched = {*paths}
        for each in self.find(turn_id=turn_id)[::-1]:
            # What the turn moved is where it was; the hunks of other turns went there with it.
            if each.operation == "move" and each.applied and each.path in touched and not each.path.exists():
                touched.add(each.source)
                self._places.relocate(each.path, each.source)
                each.applied = each.state == "accepted"
        for path in touched:
            self._places.sync(path)
            for each in self.find(path, turn_id):
                each.alarm, each.undone = None, False
                if each.applied and (each.open or each.lost):
                    each.state, each.reason, each.applied = "rejected", "the turn was undone", False
            self._settled(path)

    def renamed(self, source: Path, target: Path) -> None:
        """The editor moved a file, or a folder: the hunks of what is in it went there, too."""
        for path in self._below(source):
            there = target / path.relative_to(source)
            self._places.relocate(path, there)
            for each in self.find(there):  # it was closed at the old place before we were told of the new one
                if each.state == "stale" and each.reason == GONE:
                    self._places.reopen(each)
            self._changed(path)
            self._changed(there)

    def deleted(self, path: Path) -> None:
        """The editor removed a file, or a folder."""
        for each in self._below(path):
            self._places.sync(each)
            self._settled(each)

    def _below(self, path: Path) -> set[Path]:
        """Files with hunks, but for those that we are moving or removing ourselves."""
        found = {each.path for each in self.find() if each.path.is_relative_to(path)}
        return found - {*self._writer.operating}

    def redraw(self, path: Path) -> None:
        """What is said of its hunks is something else now."""
        self._places.forget(path)
        self._changed(path)

    async def _undo(self, hunks: Sequence[ReviewHunk]) -> None:
        """Of one file. What could not be taken back before is tried again."""
        for each in hunks:
            if each.applied and each.state == "stale" and each.operation:
                each.state = "pending"
            elif each.applied and each.state == "stale":
                self._places.reopen(each)
        await self._writer.bring([each for each in hunks if each.applied], applied=False)

    async def _take_back(self, lost: ReviewHunk) -> None:
        """Nothing is left half, but for what the person changed since, which is theirs."""
        name = self._workspace.display(lost.path)
        reason = f"{name} could not be changed ({lost.reason}), and all of these changes are made or none"
        together = [each for each in self.together([lost]) if each is not lost]
        for some in list(by_path(each for each in together if each.applied).values())[::-1]:
            for each in some:
                each.state = "pending" if each.state == "accepted" else each.state
            await self._undo(some)
            for each in some:
                if each.applied:
                    each.reason = f"{reason}; it is still there, since {each.reason}"
        for each in together:
            if each.open:
                each.state, each.reason = "stale", reason

    @contextlib.asynccontextmanager
    async def _holding(self, hunks: Sequence[ReviewHunk]) -> AsyncIterator[None]:
        """As `still`, wherever their files are moved while it is waited for."""
        while True:
            held = places_of(hunks)
            async with self.still(held):
                if held == places_of(hunks):
                    yield
                    return

    def _follow(self, event: DocumentEvent) -> None:
        path = event.document.path
        if path is None or not self._places.are_in(path) or path in self._writer.operating:
            return
        match event:
            case Saved() if path in self.saving:
                self.saving.discard(path)
            case Saved(by_hand=True):
                self.accept_saved(path)
            case Change():
                self._places.follow(path, event)
                self._moved(path)
            case Opened() | Closed() if path not in self._places.unsure:
                self._places.sync(path)
                self._moved(path)
            case _:
                pass

    def _end(self, hunks: Sequence[ReviewHunk], *, decide: bool) -> None:
        for each in hunks:
            if decide and each.applied and each.open:
                each.state = "accepted"
        self._settle(hunks)

    def _settle(self, hunks: Iterable[ReviewHunk]) -> None:
        for path in dict.fromkeys(path for each in hunks for path in (each.source, each.path)):
            self._settled(path)

    def _settled(self, path: Path) -> None:
        if self._decision is not None:
            self._decision.set_result(None)
            self._decision = None
        self.redraw(path)


def places_of(hunks: Iterable[ReviewHunk]) -> set[Path]:
    return {path for each in hunks for path in (each.path, each.source, each.target) if path is not None}


def _reject(hunks: Iterable[ReviewHunk], reason: str) -> None:
    for each in hunks:
        each.state, each.reason = "rejected", reason
