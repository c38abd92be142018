"""Notices a model that goes round in circles: the same call with the same result, again and again. Pure.

Three in a row, or four of the last eight, is a loop: that call's result becomes an error, and the same call after that
asks the person (safety.md, "Loops"). What was read before a change is worth reading after it, and forgotten.
"""

from collections import deque
from dataclasses import dataclass, field
from hashlib import sha256

IN_A_ROW = 3
OF_THE_LAST = (4, 8)


@dataclass(frozen=True, slots=True)
class Entry:
    """Digests of a call and its result."""

    call: str
    result: str
    changed: bool


FORGOTTEN = Entry("", "", changed=False)
"""It keeps its place among the last, but is like no call."""


@dataclass(slots=True)
class Repetition:
    recent: deque[Entry] = field(default_factory=lambda: deque(maxlen=OF_THE_LAST[1]))
    looping: set[str] = field(default_factory=set)

    def asks_first(self, name: str, arguments: str) -> bool:
        """True: this call was told to stop already, so the person decides."""
        return _key(name, arguments) in self.looping

    def forgive(self, name: str, arguments: str) -> None:
        """The person wants it to go on."""
        self.looping.discard(_key(name, arguments))
        self.recent.clear()

    def record(self, name: str, arguments: str, result: str, *, changed: bool = False) -> bool:
        """True: with this result the call is a loop. `changed`: the call changed something."""
        if changed:
            self.recent = deque((each if each.changed else FORGOTTEN for each in self.recent), self.recent.maxlen)
        entry = Entry(_key(name, arguments), _key(result), changed)
        self.recent.append(entry)
        row = list(self.recent)[-IN_A_ROW:]
        if self.recent.count(entry) >= OF_THE_LAST[0] or (len(row) == IN_A_ROW and set(row) == {entry}):
            self.looping.add(entry.call)
            return True
        return False


def _key(*texts: str) -> str:
    return sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
