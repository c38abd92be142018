"""The hunks people decide on: their ids and states, where they are now, and what happens when one is decided.

A hunk's place follows the text: exactly by the editor's change events while the person types around it, by a line diff
of the changed region where a change touches its lines (editors report several edits as one), and by a diff against the
last known text for a file that was not open. What the person changed themselves is never written over: then the hunk
is in conflict and keeps what it wanted to say.
"""

import asyncio
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from tark_lsp.errors import FileMissing
from tark_lsp.server.documents import Change, Closed, DocumentEvent, Documents, Opened, Saved
from tark_lsp.server.positions import line_length
from tark_lsp.workspace.checkpoints import Checkpoints
from tark_lsp.workspace.edits import Hunk, ProposedEdit, rebase, split_lines
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.outcomes import Applied, Outcome, Refused, Stale
from tark_lsp.workspace.snapshot import Snapshot

State: TypeAlias = Literal["pending", "accepted", "rejected", "conflict", "stale"]
APPLY_TRIES = 3


@dataclass(slots=True, eq=False)
class ReviewHunk:
    """`hunk` is how it was proposed; `start` is where its lines are now: the old ones, or once applied the new ones."""

    turn_id: str
    path: Path
    hunk: Hunk
    start: int
    new: tuple[str, ...]
    outside_selection: bool = False
    applied: bool = False
    applying: bool = False
    """An edit of it is on its way to the editor."""
    state: State = "pending"
    reason: str = ""
    id: str = field(default_factory=lambda: f"hunk-{secrets.token_hex(6)}")

    @property
    def standing(self) -> tuple[str, ...]:
        """The lines that stand in the text now."""
        return self.new if self.applied else self.hunk.old

    @property
    def end(self) -> int:
        return self.start + len(self.standing)

    @property
    def open(self) -> bool:
        """Still to be decided."""
        return self.state == "pending"

    def towards(self, *, applied: bool) -> Hunk:
        """The edit that applies it, or takes it back."""
        old, new = (self.hunk.old, self.new) if applied else (self.new, self.hunk.old)
        return Hunk(self.start, old, new)


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
        self._texts: dict[Path, list[str]] = {}
        """The text that the hunks' places refer to, of files with hunks that are followed."""
        self._applying: set[Path] = set()
        self._decision: asyncio.Future[None] | None = None
        documents.listen(self._follow)

    def add(self, turn_id: str, edits: Sequence[tuple[ProposedEdit, Sequence[Hunk]]]) -> list[ReviewHunk]:
        """Hunks as proposed; beside each edit, those of its hunks that lie outside the selection."""
        added = []
        for edit, outside in edits:
            base = split_lines(edit.base.text)
            if (known := self._texts.get(edit.path)) is not None and known != base:
                self._carry(edit.path, known, base)
            self._texts[edit.path] = base
            new = [ReviewHunk(turn_id, edit.path, hunk, hunk.start, hunk.new, hunk in outside) for hunk in edit.hunks]
            self._hunks.update({each.id: each for each in new})
            self._sync(edit.path)
            self._changed(edit.path)
            added += new
        return added

    def get(self, hunk_id: str) -> ReviewHunk | None:
        return self._hunks.get(hunk_id)

    def find(self, path: Path | None = None, turn_id: str | None = None) -> list[ReviewHunk]:
        """In the order they stand in their files."""
        found = [
            each
            for each in self._hunks.values()
            if (path is None or each.path == path) and (turn_id is None or each.turn_id == turn_id)
        ]
        return sorted(found, key=lambda each: (str(each.path), each.start))

    async def accept(self, hunks: Sequence[ReviewHunk], *, decide: bool = True) -> None:
        """Apply what is not applied yet. Without `decide` they stay to be decided (`editReview: after`)."""
        for path, some in by_path([each for each in hunks if each.open]).items():
            await self._apply(path, [each for each in some if not each.applied], applied=True)
            for each in some:
                if decide and each.applied and each.open:
                    each.state = "accepted"
            self._settled(path)

    async def reject(self, hunks: Sequence[ReviewHunk], reason: str = "") -> None:
        """Take back what is applied already."""
        for path, some in by_path([each for each in hunks if each.state in ("pending", "conflict")]).items():
            await self._apply(path, [each for each in some if each.applied and each.open], applied=False)
            for each in some:
                if not each.applied:
                    each.state, each.reason = "rejected", reason
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

    async def _apply(self, path: Path, hunks: Sequence[ReviewHunk], *, applied: bool) -> None:
        """Bring `hunks` of one file to `applied`; each that cannot be gets its state and reason."""
        reason = ""
        for _ in range(APPLY_TRIES):
            self._sync(path)
            base = self._read(path)
            todo = in_order(each for each in hunks if each.open and each.applied is not applied)
            if not todo:
                return
            outcome = await self._attempt(path, base, todo, applied=applied)
            match outcome:
                case Applied():
                    return
                case Refused(reason):
                    break
                case Stale(reason):
                    pass
        for each in hunks:
            if each.open and each.applied is not applied:
                each.state, each.reason = "stale", reason

    async def _attempt(self, path: Path, base: Snapshot, todo: Sequence[ReviewHunk], *, applied: bool) -> Outcome:
        edit = ProposedEdit(path, base, tuple(each.towards(applied=applied) for each in todo))
        document = self._documents.at(path)
        clean = document is not None and not document.dirty
        turn_id = todo[0].turn_id
        self._checkpoints.before(turn_id, path, self._before(base))
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
        if isinstance(outcome, Applied):
            self._checkpoints.after(turn_id, path, edit.after)
            self._sync(path)
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
        for each in self.find(path):
            if each in done:
                continue
            each.start += grown_before(edit.hunks, each.start)
        grown = 0
        for each, hunk in zip(done, edit.hunks, strict=True):
            each.start, each.applied = hunk.start + grown, applied
            grown += len(hunk.new) - len(hunk.old)
        self._texts[path] = split_lines(edit.after)

    def _sync(self, path: Path) -> None:
        """Carry the hunks of a file from its last known text to the text of now."""
        known = self._texts.get(path)
        if known is None:
            return
        now = split_lines(self._read(path).text)
        if now != known:
            self._carry(path, known, now)
            self._texts[path] = now

    def _follow(self, event: DocumentEvent) -> None:
        path = event.document.path
        if path is None or path not in self._texts:
            return
        match event:
            case Saved():
                self.accept_saved(path)
            case Change() if path not in self._applying:
                self._follow_change(path, event)
                self._moved(path)
            case Opened() | Closed():
                self._moved(path)
            case _:
                pass

    def _follow_change(self, path: Path, change: Change) -> None:
        known, lines = self._texts[path], change.document.lines
        now = lines if lines[-1] else lines[:-1]
        first, last = touched_lines(change, known)
        shift = len(now) - len(known)
        for each in self._followed(path):
            if each.start >= last and not (each.start == each.end == first):
                each.start += shift
            elif each.end > first:
                self._carry_one(each, known, now)
        self._texts[path] = list(now)

    def _carry(self, path: Path, known: Sequence[str], now: Sequence[str]) -> None:
        for each in self._followed(path):
            self._carry_one(each, known, now)

    def _carry_one(self, each: ReviewHunk, old: Sequence[str], new: Sequence[str]) -> None:
        """The lines `old` of its file became `new`: where is the hunk now, if it is still there?"""
        before = Snapshot(each.path, "".join(old))
        if tuple(old[each.start : each.end]) != each.standing:
            self._lose(each)
            return
        # A line no text has, so that what the person typed is never taken for the hunk's own new text.
        probe = Hunk(each.start, each.standing, (*each.standing, "\0\n"))
        carried, _ = rebase(ProposedEdit(each.path, before, (probe,)), Snapshot(each.path, "".join(new)))
        if carried.hunks:
            each.start = carried.hunks[0].start
        else:
            self._lose(each)

    def _lose(self, each: ReviewHunk) -> None:
        if each.open:
            each.state = "conflict"
            each.reason = "the person changed these lines"

    def _followed(self, path: Path) -> list[ReviewHunk]:
        return [each for each in self._hunks.values() if each.path == path and each.open]

    def _settled(self, path: Path) -> None:
        if self._decision is not None:
            self._decision.set_result(None)
            self._decision = None
        if not self._followed(path):
            self._texts.pop(path, None)
        self._changed(path)


def touched_lines(change: Change, known: Sequence[str]) -> tuple[int, int]:
    """The lines [first, last) of the text before that the change really touches.

    Whole lines put before a line leave that line alone, and so does a new line begun at the end of one.
    """
    first, last = change.start_line, change.end_line + 1
    whole_lines = change.text.endswith(("\n", "\r")) or (not change.text and change.start_character == 0)
    if change.end_character == 0 and whole_lines:
        return first, max(first, change.end_line) if change.start_character == 0 else max(first + 1, change.end_line)
    at_end = first < len(known) and change.start_character == line_length(known[first])
    if (
        at_end
        and last == first + 1
        and change.text.startswith(("\n", "\r"))
        and change.end_character == change.start_character
    ):
        return first + 1, first + 1
    return first, last


def by_path(hunks: Iterable[ReviewHunk]) -> dict[Path, list[ReviewHunk]]:
    grouped: dict[Path, list[ReviewHunk]] = {}
    for each in hunks:
        grouped.setdefault(each.path, []).append(each)
    return grouped


def in_order(hunks: Iterable[ReviewHunk]) -> list[ReviewHunk]:
    return sorted(hunks, key=lambda each: (each.start, each.end))


def grown_before(hunks: Sequence[Hunk], line: int) -> int:
    return sum(len(hunk.new) - len(hunk.old) for hunk in hunks if hunk.end <= line)
