"""The chain: each entry has a hash of its text and of the previous hash. Pure.

So a changed, removed, added or moved entry is found, except if entries are cut off at the end: the rest is still a
valid chain. To detect this, too, compare with a hash that was noted elsewhere.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from tark_lsp.receipts.receipt import Receipt

START = "0" * 64
"""The hash before the first entry."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A stored row. Numbers begin at 1 and have no gaps. `text`: the receipt as JSON."""

    number: int
    text: str
    hash: str

    @property
    def receipt(self) -> Receipt:
        """Raises ValueError if the text is not a receipt."""
        return Receipt.from_json(json.loads(self.text))


@dataclass(frozen=True, slots=True)
class Fault:
    """The first position at which the chain is broken. `what`: a sentence for the user."""

    number: int
    what: str


def hash_of(previous: str, number: int, text: str) -> str:
    return sha256(f"{previous}\n{number}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()


def next_entries(last: Entry | None, receipts: Iterable[Receipt]) -> list[Entry]:
    """The entries that follow `last`, which is None for an empty chain."""
    number, previous = (last.number, last.hash) if last is not None else (0, START)
    entries = []
    for receipt in receipts:
        number += 1
        text = json.dumps(receipt.to_json(), sort_keys=True, separators=(",", ":"))
        previous = hash_of(previous, number, text)
        entries.append(Entry(number, text, previous))
    return entries


def find_fault(entries: Sequence[Entry], noted: str = "") -> Fault | None:
    """The first fault of a whole chain, from its first entry. `noted`: a hash that must be one of its hashes."""
    previous, found = START, not noted
    for number, entry in enumerate(entries, 1):
        if entry.number != number:
            return Fault(number, f"Entry {number} is missing: entry {entry.number} follows {number - 1}.")
        if hash_of(previous, number, entry.text) != entry.hash:
            return Fault(number, f"Entry {number} or the one before it was changed: the hash does not match the text.")
        try:
            entry.receipt  # noqa: B018  # raises ValueError if it is not a receipt
        except ValueError as error:
            return Fault(number, f"Entry {number} is not a receipt: {error}.")
        previous = entry.hash
        found = found or previous == noted
    if not found:
        return Fault(len(entries) + 1, "No entry has the hash that you gave: the end of the chain was cut or replaced.")
    return None
