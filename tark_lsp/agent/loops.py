"""Detects a model that repeats itself: the same call with the same result. Pure.

Three in a row, or four of the last eight, are a loop. Then the result of the call becomes an error, and the user is
asked before the same call runs again. After a change, it is useful to read again, so earlier reads do not count any
more.
"""

from collections import deque
from dataclasses import dataclass, field
from hashlib import sha256

IN_A_ROW = 3
OF_THE_LAST = (4, 8)


@dataclass(frozen=True, slots=True)
class Entry:
    """The digests of a call and of its result."""

    call: str
    result: str
    changed: bool


FORGOTTEN = Entry("", "", changed=False)
"""Replaces an entry among the last calls. It equals no call."""


@dataclass(slots=True)
class LoopDetector:
    recent: deque[Entry] = field(default_factory=lambda: deque(maxlen=OF_THE_LAST[1]))
    looping: set[str] = field(default_factory=set)

    def is_looping(self, name: str, arguments: str) -> bool:
        """Whether this call was reported as a loop before, so the user must decide."""
        return _key(name, arguments) in self.looping

    def forgive_call(self, name: str, arguments: str) -> None:
        """Forgets the loop, because the user allowed the call."""
        self.looping.discard(_key(name, arguments))
        self.recent.clear()

    def record_call(self, name: str, arguments: str, result: str, *, changed: bool = False) -> bool:
        """Record a call; `changed` says whether it changed something. Returns whether it is now a loop."""
        if changed:
            self.recent = deque((past if past.changed else FORGOTTEN for past in self.recent), self.recent.maxlen)
        entry = Entry(_key(name, arguments), _key(result), changed)
        self.recent.append(entry)
        row = list(self.recent)[-IN_A_ROW:]
        if self.recent.count(entry) >= OF_THE_LAST[0] or (len(row) == IN_A_ROW and set(row) == {entry}):
            self.looping.add(entry.call)
            return True
        return False


def _key(*texts: str) -> str:
    return sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
