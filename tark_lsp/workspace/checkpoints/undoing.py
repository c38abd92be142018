"""Takes a turn's changes back, the last first: exactly where nothing was changed since, else line by line.

A file's edits are taken back as one edit, and so one undo step in an editor. Moves, removals and creations are taken
back one by one, in an order in which each found its places free when it was made.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from tark_lsp.errors import FileMissing, FileTooLarge, NotText, OutsideWorkspace, WorkspaceError
from tark_lsp.workspace.checkpoints.file_histories import FileHistory, Step, histories_of, steps_of
from tark_lsp.workspace.checkpoints.imagined import Files
from tark_lsp.workspace.checkpoints.net_changes import taken_back
from tark_lsp.workspace.checkpoints.store import LoggedChange
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.encoding import decode
from tark_lsp.workspace.outcomes import Applied, Outcome, Refused, Stale
from tark_lsp.workspace.snapshot import Snapshot

LABEL = "Undo Tark"
TRIES = 50
"""How often a file is tried again because the person typed in it meanwhile, or another server wrote it."""
NOT_OURS = "the agent created it, and it was changed since"
DELETED = "it was deleted since"
TAKEN = "there is another file where it was"
LINKED = "there is a link where it was, to a file the agent did not change"


@dataclass(frozen=True, slots=True)
class Undone:
    """`kept` are files left as they are, wholly or (those also in `restored`) in part, each with the reason.

    A file that was moved is named by where it is now; `left` are places where moved files no longer are.
    """

    restored: tuple[Path, ...]
    kept: tuple[tuple[Path, str], ...]
    left: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What undo would do now, as edits of the files as they are, and what it would say then."""

    edits: tuple[ProposedEdit, ...]
    undone: Undone


@dataclass(slots=True, eq=False)
class _Work:
    """One file on its way back."""

    history: FileHistory
    begun: bool = False
    over: bool = False
    """Nothing is left to be tried."""
    restored: bool = False
    reason: str = ""
    not_moved: str = ""
    """Why the last try to move it failed."""


class Undoing:
    """Of one turn, once; on the files, or on imagined ones to see what would be done."""

    def __init__(
        self,
        changes: Sequence[LoggedChange],
        content: Callable[[str], bytes],
        files: Files,
        done: Callable[[Sequence[LoggedChange]], None],
    ) -> None:
        """`content` gives the text or the bytes for a digest; `done` is called as soon as changes are taken back."""
        self._content = content
        self._files = files
        self._done = done
        self.absent = [change for change in changes if not self._came(change)]
        """Those that have not come to be, as far as can be seen: a server that still runs may be about to make one."""
        histories = histories_of([change for change in changes if change not in self.absent])
        self._works = [_Work(history) for history in histories if not history.undone]
        self._left: list[Path] = []

    async def undo(self) -> Undone:
        """What is kept can be tried again by another `Undoing`, which finds the rest done."""
        todo = [(change, work) for work in self._works for change in work.history.changes if not change.undone]
        for change, work in sorted(todo, key=lambda each: -each[0].number):
            try:
                if not work.begun:
                    work.begun = True
                    await self._begin(work)
                if change.kind == "move" and not work.over:
                    await self._move_back(work, change)
            except WorkspaceError as error:
                work.over = True
                work.reason = work.reason or error.message
        reasons = ((work.history.place, work.reason or work.not_moved) for work in self._works)
        return Undone(
            tuple(dict.fromkeys(work.history.place for work in self._works if work.restored)),
            tuple({place: reason for place, reason in reasons if reason}.items()),
            tuple(dict.fromkeys(self._left)),
        )

    async def _begin(self, work: _Work) -> None:
        """All but its moves."""
        history = work.history
        if history.created:
            work.over = True
            if history.removal is None:
                await self._remove(work)
            elif _is_ours(history, history.removal.before):
                self._mark(work, history.changes)  # it came and went
            else:
                await self._bring_back(work, history.removal)
        elif history.removal is not None:
            await self._bring_back(work, history.removal)
        elif history.edits:
            await self._take_back(work)

    async def _remove(self, work: _Work) -> None:
        history = work.history

        async def attempt() -> Outcome:
            try:
                current = self._read(history.place)
            except FileMissing:
                return Applied(Snapshot(history.place, "", exists=False))
            ours = _is_ours(history, current.digest)
            return await self._files.remove(current) if ours else Refused(NOT_OURS)

        work.reason = await _tried(attempt)
        if not work.reason:
            work.restored = True
            self._mark(work, history.changes)

    async def _bring_back(self, work: _Work, removal: LoggedChange) -> None:
        history = work.history
        data, conflicts = self._before_removal(history, removal)

        async def attempt() -> Outcome:
            try:
                there = self._files.read_bytes(history.place)
            except FileMissing:
                return await self._files.restore(history.place, data, removal.mode)
            return Applied(Snapshot(history.place, "")) if there == data else Refused(TAKEN)

        work.reason = await _tried(attempt)
        if work.reason:
            work.over = True
        else:
            work.restored, work.reason = True, conflicts
            done = ("remove",) if conflicts else ("remove", "edit")
            self._mark(work, [change for change in history.changes if change.kind in done])

    async def _take_back(self, work: _Work) -> None:
        history = work.history
        conflicts = ""
        changed = False

        async def attempt() -> Outcome:
            nonlocal conflicts, changed
            try:
                current = self._read(history.place)
            except FileMissing:
                return Refused(DELETED)
            edit, conflicts = self._inverse(history, current)
            changed = bool(edit.hunks)
            return await self._files.apply(edit, LABEL) if changed else Applied(current)

        work.reason = await _tried(attempt)
        if not work.reason:
            sure = any(change.sure for change in history.changes)
            work.restored, work.reason = changed or (sure and not conflicts), conflicts
            if not conflicts:
                self._mark(work, [change for change in history.changes if change.kind == "edit"])

    async def _move_back(self, work: _Work, move: LoggedChange) -> None:
        history = work.history
        place = history.place

        async def attempt() -> Outcome:
            try:
                current = self._read(place)
            except FileMissing:
                there = self._is_there(move.path)
                return Applied(Snapshot(move.path, "")) if there else Refused(DELETED)
            return await self._files.move(current, move.path)

        work.not_moved = await _tried(attempt)
        if not work.not_moved:
            work.restored = True
            self._left.append(place)
            # Where a place in between is taken, a file goes from the last to the first at once.
            later = [change for change in history.changes if change.number >= move.number and change.kind == "move"]
            self._mark(work, later)

    def _read(self, place: Path) -> Snapshot:
        """Raises FileMissing, and WorkspaceError also where a link leads from there to another file."""
        current = self._files.read(place)
        if current.path != place:
            raise WorkspaceError(LINKED)
        return current

    def _before_removal(self, history: FileHistory, removal: LoggedChange) -> tuple[bytes, str]:
        """The file as it is to come back, and what is kept in it."""
        data = self._content(removal.before or "")
        if history.created:
            return data, NOT_OURS
        if not history.edits:
            return data, ""
        text, encoding = decode(data)
        edit, conflicts = self._inverse(history, Snapshot(history.place, text))
        return encoding.encode(edit.after), conflicts

    def _inverse(self, history: FileHistory, current: Snapshot) -> tuple[ProposedEdit, str]:
        """The edit of the current text that takes back all steps, and what it leaves, and why."""
        steps = [(self._text(step.before), self._text(step.after)) for step in self._steps(history, current)]
        edit, lost, total = taken_back(steps, current)
        reason = f"{lost} of {total} changes were changed again since" if lost else ""
        return ProposedEdit.between(current, edit.after), reason

    def _steps(self, history: FileHistory, last: Snapshot) -> list[Step]:
        """Those of the edits that came to be; `last` is what they and the person left.

        A server that was killed may have noted one and not made it: then nothing of it is in the text that was noted
        next, or else in `last`. As a step it would hide what the edits before it left there.
        """
        came = []
        for edit, later in zip_longest(history.edits, history.edits[1:]):
            if not edit.sure and not self._has(last if later is None else self._noted(last.path, later), edit):
                continue
            came.append(edit)
        return steps_of(came)

    def _noted(self, place: Path, edit: LoggedChange) -> Snapshot:
        return Snapshot(place, self._text(edit.before))

    def _has(self, current: Snapshot, edit: LoggedChange) -> bool:
        """Whether the text has something of the edit, as it was made or changed since."""
        inverse, lost, _ = taken_back([(self._text(edit.before), self._text(edit.after))], current)
        return bool(inverse.hunks or lost)

    def _text(self, digest: str | None) -> str:
        return "" if digest is None else self._content(digest).decode("utf-8", "surrogatepass")

    def _came(self, change: LoggedChange) -> bool:
        """Of a move or removal that the server did not see the end of: whether it came to be. Of an edit its text says
        that, see `_steps`."""
        if change.sure or change.undone or change.kind == "edit":
            return True
        try:
            return not self._is_there(change.path) and (change.target is None or self._is_there(change.target))
        except OutsideWorkspace:
            return True  # nothing can be known of it here, and nothing will be done

    def _is_there(self, path: Path) -> bool:
        try:
            self._files.read_bytes(path)
        except FileMissing:
            return False
        except (NotText, FileTooLarge):
            pass
        return True

    def _mark(self, work: _Work, changes: Sequence[LoggedChange]) -> None:
        self._done(changes)
        work.history.changes = [
            replace(change, undone=change.undone or change in changes) for change in work.history.changes
        ]


def _is_ours(history: FileHistory, digest: str | None) -> bool:
    """Whether all of a created file's text is the agent's: nothing was typed between its edits, nor after the last."""
    texts: set[str | None] = {None}
    for edit in history.edits:
        if edit.before not in texts:
            return False
        # A server that was killed may have noted an edit and not made it.
        texts = {edit.after} if edit.sure else {edit.before, edit.after}
    return digest in texts


async def _tried(attempt: Callable[[], Awaitable[Outcome]]) -> str:
    """Why it was not done; empty: it was."""
    reason = "you kept typing in it"
    for _ in range(TRIES):
        match await attempt():
            case Applied():
                return ""
            case Refused(why):
                return why
            case Stale(why):
                reason = why
    return reason
