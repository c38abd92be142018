"""The outcome of a change that was sent to the editor or the disk: `Applied`, `Stale` or `Refused`."""

from dataclasses import dataclass
from typing import TypeAlias

from tark_lsp.workspace.snapshot import Snapshot

MISPLACED = "the editor applied the edit to newer text, in the wrong place; look at it, one undo takes it back"
"""The reason of the only kind of refusal after which the edit can be in the text."""


@dataclass(frozen=True, slots=True)
class Applied:
    """The text is now what the edit leads to. This was checked in the buffer or the file."""

    snapshot: Snapshot
    note: str = ""
    """What could not be kept, for the user. Usually empty; otherwise other hard links or another owner."""


@dataclass(frozen=True, slots=True)
class Stale:
    """The text is no longer the text that the edit was made for. Nothing was written."""

    reason: str
    taken_back: bool = False
    """The editor applied the edit nevertheless, and another edit undid it."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The editor or the file system refused the edit; nothing was written, unless the reason is `MISPLACED`."""

    reason: str


Outcome: TypeAlias = Applied | Stale | Refused


def was_in_text(outcome: Outcome) -> bool:
    """Did the editor report changes that were not the user's, although the edit was not applied?"""
    return (isinstance(outcome, Stale) and outcome.taken_back) or outcome == Refused(MISPLACED)
