"""What became of an edit that was sent to the editor or the disk: `Applied`, `Stale` or `Refused`."""

from dataclasses import dataclass
from typing import TypeAlias

from tark_lsp.workspace.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Applied:
    """The text is now what the edit promised; this was seen in the buffer or the file, not taken on trust."""

    snapshot: Snapshot
    note: str = ""
    """What could not be kept, for people; empty in all but rare cases (other hard links, a foreign owner)."""


@dataclass(frozen=True, slots=True)
class Stale:
    """The text is no longer what the edit was made for; nothing was written."""

    reason: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The editor or the file system would not take the edit; nothing was written."""

    reason: str


Outcome: TypeAlias = Applied | Stale | Refused
