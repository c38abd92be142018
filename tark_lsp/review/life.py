"""The states of a hunk, its events, and the table of all transitions. Pure."""

from enum import Enum
from typing import Literal, TypeAlias

from tark_lsp.agent.user_interface import HunkState

State: TypeAlias = Literal["pending", "accepted", "rejected", "conflict", "stale"]
"""The states of docs/protocol.md."""


class Life(Enum):
    """Every state of a hunk, and its names in the protocol and for the agent.

    A hunk that is applied and not decided (`editReview: after`) has the outcome `applied`, so the model can rely on it.
    """

    PROPOSED = "proposed", "pending", False, HunkState.PENDING
    """Not decided; the text does not have its new lines."""
    APPLYING = "being applied", "pending", False, HunkState.PENDING
    """Not decided; an edit that writes its new lines is on its way."""
    APPLIED = "applied", "pending", True, HunkState.APPLIED
    """Not decided; the text has its new lines."""
    CHANGING = "being changed", "pending", True, HunkState.APPLIED
    """Not decided; an edit that undoes it, or rewrites its new lines, is on its way."""
    ACCEPTED = "accepted", "accepted", True, HunkState.APPLIED
    REJECTED = "rejected", "rejected", False, HunkState.REJECTED
    UNDONE = "undone", "rejected", False, HunkState.REJECTED
    """Rejected by the editor's own undo after it was applied; the editor's redo can bring it back."""
    CONFLICT = "in conflict", "conflict", False, HunkState.CONFLICT
    """Not applied; the lines that it replaces were changed."""
    TYPED_OVER = "typed over", "conflict", True, HunkState.APPLIED
    """Applied; its new lines were changed."""
    FAILED = "failed", "stale", False, HunkState.FAILED
    """It could not be applied."""
    STUCK = "stuck", "stale", True, HunkState.APPLIED
    """Applied; it could not be undone."""

    def __init__(self, label: str, state: State, applied: bool, outcome: HunkState) -> None:
        self.label = label
        self.state: State = state
        """In docs/protocol.md."""
        self.applied = applied
        self.outcome = outcome
        """What the agent knows about it."""
        self.pending = state == "pending"
        """Not decided, and nothing prevents a decision."""
        self.blocked = state in ("conflict", "stale")
        """Its lines were changed by somebody else, or it could not be written."""
        self.in_flight = label in ("being applied", "being changed")
        """An edit of it is on its way."""


class Event(Enum):
    """What can happen to a hunk."""

    SENT = "sent"
    """An edit of it is on its way to the editor, or to the disk."""
    NOT_WRITTEN = "not written"
    """The edit that was on its way was not made."""
    WRITTEN = "written"
    """The text has its new lines."""
    TAKEN_BACK = "taken back"
    """The text has its old lines again."""
    TOUCHED = "touched"
    """Somebody changed its lines."""
    UNDONE = "undone by the editor"
    REDONE = "redone by the editor"
    RESTORED = "restored"
    """Its lines were changed, and now are as they were before."""
    FAILED = "failed"
    """It could not be applied or undone."""
    GONE = "gone"
    """Its file does not exist any more."""
    RETRIED = "retried"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    FORMATTED = "formatted"
    """A formatter changed its new lines when the file was saved."""
    REOPENED = "reopened"
    """The user can decide again on an accepted hunk."""
    EDITED = "edited"
    """The user wrote other new lines for the lines that are at its place now."""
    CONFIRMED = "confirmed"
    """The user ticked it in the editor's own preview, and the editor made the change."""
    TURN_UNDONE = "undone with its turn"
    FOUND_WRITTEN = "found written"
    """A restarted server found its new lines in the text."""
    FOUND_TAKEN_BACK = "found taken back"
    """A restarted server found its old lines in the text."""


def _transitions() -> dict[tuple[Life, Event], Life]:
    proposed, applying, applied, changing = Life.PROPOSED, Life.APPLYING, Life.APPLIED, Life.CHANGING
    accepted, rejected, undone = Life.ACCEPTED, Life.REJECTED, Life.UNDONE
    conflict, typed_over, failed, stuck = Life.CONFLICT, Life.TYPED_OVER, Life.FAILED, Life.STUCK
    # A file can be renamed in the editor while an edit of it is on its way. Its hunks then follow the text of the new
    # place at once, so a hunk can be touched, failed or undone before it is written or undone.
    table: dict[Event, dict[Life, Life]] = {
        Event.SENT: {proposed: applying, applied: changing},
        Event.NOT_WRITTEN: {applying: proposed, changing: applied},
        Event.WRITTEN: {
            **dict.fromkeys((proposed, applying, applied, changing, undone), applied),
            **dict.fromkeys((conflict, typed_over), typed_over),
            **dict.fromkeys((failed, stuck), stuck),
        },
        Event.TAKEN_BACK: {
            **dict.fromkeys((applied, changing), proposed),
            **dict.fromkeys((conflict, typed_over), conflict),
            **dict.fromkeys((failed, stuck), failed),
            undone: undone,
        },
        Event.TOUCHED: {
            **dict.fromkeys((proposed, applying, conflict), conflict),
            **dict.fromkeys((applied, changing, typed_over), typed_over),
            **{life: life for life in (accepted, rejected, undone, failed, stuck)},
        },
        Event.UNDONE: dict.fromkeys((applied, changing, typed_over, stuck), undone),
        Event.REDONE: {undone: applied},
        Event.RESTORED: {conflict: proposed, typed_over: applied},
        Event.FAILED: {
            **dict.fromkeys((proposed, applying, conflict, failed), failed),
            **dict.fromkeys((applied, changing, typed_over, stuck), stuck),
        },
        Event.RETRIED: {failed: proposed, stuck: applied},
        Event.ACCEPTED: dict.fromkeys((applied, typed_over, stuck), accepted),
        Event.REJECTED: dict.fromkeys((proposed, conflict, failed), rejected),
        Event.FORMATTED: {typed_over: applied},
        Event.REOPENED: {accepted: applied},
        Event.EDITED: dict.fromkeys((proposed, undone, conflict, typed_over, failed, stuck), proposed),
        Event.CONFIRMED: dict.fromkeys((proposed, conflict, failed, rejected, undone), accepted),
        Event.TURN_UNDONE: dict.fromkeys((applied, typed_over, stuck, undone), rejected),
        Event.FOUND_WRITTEN: dict.fromkeys((proposed, conflict), applied),
        Event.FOUND_TAKEN_BACK: dict.fromkeys((applied, typed_over), proposed),
    }
    table[Event.GONE] = table[Event.FAILED]
    return {(before, event): after for event, row in table.items() for before, after in row.items()}


TRANSITIONS = _transitions()
"""The next state for each state and event. A pair that is not here is impossible."""

ENDS_ALARM = frozenset({Event.TOUCHED, Event.UNDONE, Event.GONE, Event.TURN_UNDONE})
CLEARS_REASON = frozenset(
    {
        Event.REDONE,
        Event.RESTORED,
        Event.RETRIED,
        Event.FORMATTED,
        Event.CONFIRMED,
        Event.FOUND_WRITTEN,
        Event.FOUND_TAKEN_BACK,
    }
)


class ImpossibleTransition(RuntimeError):
    """A bug in Tark: an event that cannot happen to a hunk in its state."""


def next_life(life: Life, event: Event) -> Life:
    """Raises ImpossibleTransition."""
    following = TRANSITIONS.get((life, event))
    if following is None:
        raise ImpossibleTransition(f"a hunk that is {life.label} cannot be {event.value}")
    return following
