"""One hunk that the user decides on, as an immutable value: each event creates a new value. Pure.

Only `ReviewHunk.apply` changes the state; `dataclasses.replace` changes other facts.
"""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tark_lsp.review.life import CLEARS_REASON, ENDS_ALARM, Event, Life, State, next_life
from tark_lsp.tools.editor import Diagnostic
from tark_lsp.workspace.edits import MOVED, Operation, ProposedEdit
from tark_lsp.workspace.lines import Hunk, ending_of, split_lines
from tark_lsp.workspace.outcomes import MISPLACED

CHANGED = "the person changed these lines"
UNDONE = "the person undid it"
ANOTHER_CHANGE = "another change was made to these lines"
EDITED = "the person changed the text before accepting it"
TOO_LATE = "it was already accepted when the person sent their own text for it"
TURN_UNDONE = "the turn was undone"
GONE = "the file is not there any more"


@dataclass(frozen=True, slots=True)
class Alarm:
    """What the hunks of one edit share while the server watches the edit. The edit brought `errors` into the editor."""

    id: str
    errors: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewHunk:
    """An immutable value. `HunkStore` has the current value for each id."""

    id: str = field(default_factory=lambda: f"hunk-{secrets.token_hex(6)}")
    turn_id: str
    proposed: Hunk
    """The change as the agent made it, in the text that the model knew."""
    base: str = ""
    """The digest of that text; "" if it is not known."""
    origin: Path
    """Where its file was then."""
    path: Path
    """Where its file is now."""
    source: Path
    """Where an applied move took the file from."""
    operation: Operation = ""
    """What happens to the file itself. A removal has all lines of the file as its old lines, a move has no lines."""
    target: Path | None = None
    """Where a move puts the file."""
    group: str = ""
    """The hunks of a group are applied all or not at all. "": the hunk is in no group."""
    had_file: bool = True
    """The file existed when the hunk was proposed."""
    outside_selection: bool = False
    start: int
    size: int
    """How many lines are at its place now: the old lines, or the new lines if it is applied. At the place of a blocked
    hunk there can be any lines, or none."""
    old: tuple[str, ...]
    """The lines that the hunk replaces."""
    new: tuple[str, ...]
    """The new lines, possibly edited by the user."""
    life: Life = Life.PROPOSED
    reason: str = ""
    """Why the hunk is in its state, worded for the model (`wording.for_user`)."""
    alarm: Alarm | None = None
    created: bool = False
    """The file did not exist before the hunk was applied."""

    @property
    def state(self) -> State:
        return self.life.state

    @property
    def applied(self) -> bool:
        return self.life.applied

    @property
    def pending(self) -> bool:
        """Not decided, and nothing prevents a decision."""
        return self.life.pending

    @property
    def blocked(self) -> bool:
        """Its lines were changed by somebody else, or it could not be written."""
        return self.life.blocked

    @property
    def misplaced(self) -> bool:
        """Not applied, but the editor put its lines somewhere, and they may still be there."""
        return self.blocked and not self.applied and self.reason == MISPLACED

    @property
    def undecided(self) -> bool:
        return self.life.pending or self.life.blocked

    @property
    def followed(self) -> bool:
        """Is its place kept up to date?"""
        life = self.life
        watched = life is Life.ACCEPTED and self.alarm is not None
        return life.pending or life.blocked or life is Life.UNDONE or watched

    @property
    def end(self) -> int:
        return self.start + self.size

    @property
    def place(self) -> tuple[int, ...]:
        """A sort key for the hunks of one file: the current lines, then the lines that the hunk was proposed for."""
        return self.start, self.end, *self._proposed_place

    @property
    def _proposed_place(self) -> tuple[int, ...]:
        return self.proposed.start, self.proposed.order, self.proposed.end

    def is_below(self, other: "ReviewHunk") -> bool | None:
        """Do its lines belong below the other hunk's lines? None: unknown, because the hunks are of different texts."""
        if not self.base or self.base != other.base or self._proposed_place == other._proposed_place:
            return None
        return self._proposed_place > other._proposed_place

    @property
    def standing(self) -> tuple[str, ...]:
        """The lines that the text has at the hunk's place, unless the hunk is blocked."""
        return self.new if self.applied else self.old

    @property
    def old_text(self) -> str:
        return "".join(self.old)

    @property
    def new_text(self) -> str:
        return "".join(self.new)

    def edit_to(self, *, applied: bool) -> Hunk:
        """The edit that applies or undoes the hunk."""
        old, new = (self.old, self.new) if applied else (self.new, self.old)
        return Hunk(self.start, old, new)

    def apply(self, event: Event, *, reason: str | None = None, start: int | None = None) -> "ReviewHunk":
        """The hunk after the event. `start`: where its lines are then. Without a `reason`, the hunk keeps its reason.

        Raises ImpossibleTransition.
        """
        if reason is None:
            reason = "" if event in CLEARS_REASON else self.reason
        alarm = None if event in ENDS_ALARM else self.alarm
        hunk = replace(self, life=next_life(self.life, event), reason=reason, alarm=alarm)
        return hunk if start is None else hunk.place_at(start)

    def touch(self, reason: str) -> "ReviewHunk":
        """The hunk after somebody changed its lines. Only a pending hunk gets the reason."""
        return self.apply(Event.TOUCHED, reason=reason if self.pending else None)

    def place_at(self, start: int) -> "ReviewHunk":
        """The hunk with its lines, unchanged, at `start`."""
        return replace(self, start=start, size=len(self.standing))

    def stretch(self, start: int, end: int) -> "ReviewHunk":
        """The hunk with these lines at its place, whatever they are."""
        return replace(self, start=start, size=max(0, end - start))


def propose(turn_id: str, edit: ProposedEdit, outside: Sequence[Hunk] = (), group: str = "") -> list[ReviewHunk]:
    """The hunks of one edit. `outside`: its changes that are outside the selection."""
    hunks = [*edit.hunks, *([MOVED] if edit.target is not None else [])]
    return [
        ReviewHunk(
            turn_id=turn_id,
            proposed=hunk,
            base=edit.base.digest,
            origin=edit.path,
            path=edit.path,
            source=edit.path,
            operation=edit.operation if hunk is hunks[-1] else "",
            target=edit.target if hunk is hunks[-1] else None,
            group=group,
            had_file=edit.base.exists,
            outside_selection=hunk in outside,
            start=hunk.start,
            size=len(hunk.old),
            old=hunk.old,
            new=hunk.new,
        )
        for hunk in hunks
    ]


def typed_lines(text: str, *known: Sequence[str]) -> tuple[str, ...]:
    """The lines that the user wrote for a hunk, with the first line ending found in `known`, else unchanged.

    An editor uses one kind of line ending in a document, also for edits that it gets. So an edit with other endings
    would not be recognised in the editor's text.
    """
    ending = next((ending for lines in known for line in lines if (ending := ending_of(line))), None)
    return tuple(
        line if ending is None else line.removesuffix(ending_of(line)) + ending * bool(ending_of(line))
        for line in split_lines(text)
    )


def would_join(hunk: Hunk, lines: Sequence[str]) -> bool:
    """Would the hunk's first line be joined to the last line, whose line ending was removed?"""
    return bool(hunk.new) and 0 < hunk.start == len(lines) and not ending_of(lines[-1])


def without_overlaps(hunks: Iterable[ReviewHunk]) -> list[ReviewHunk]:
    """The hunks in the order of their lines; only the first of hunks on the same lines."""
    chosen: list[ReviewHunk] = []
    for hunk in sorted(hunks, key=lambda hunk: hunk.place):
        if not chosen or chosen[-1].end <= hunk.start:
            chosen.append(hunk)
    return chosen


def by_path(hunks: Iterable[ReviewHunk]) -> dict[Path, list[ReviewHunk]]:
    grouped: dict[Path, list[ReviewHunk]] = {}
    for hunk in hunks:
        grouped.setdefault(hunk.path, []).append(hunk)
    return grouped


def by_turn(hunks: Iterable[ReviewHunk]) -> dict[str, list[ReviewHunk]]:
    grouped: dict[str, list[ReviewHunk]] = {}
    for hunk in hunks:
        grouped.setdefault(hunk.turn_id, []).append(hunk)
    return grouped
