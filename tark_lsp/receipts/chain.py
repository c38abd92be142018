"""The chain: each entry has a hash of its text and of the hash before it. Pure.

So a changed, removed, added or moved entry is found, except at the end: a chain that was cut there is a whole chain. A
hash that you noted elsewhere shows also that.
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
    """A row as it is stored. Numbers begin at 1 and have no gaps. `text` is the receipt as JSON."""

    number: int
    text: str
    hash: str

    @property
    def receipt(self) -> Receipt:
        """Raises ValueError if the text is no receipt."""
        return Receipt.from_json(json.loads(self.text))


@dataclass(frozen=True, slots=True)
class Fault:
    """The first place at which the chain is broken. `what` is a sentence for the user."""

    number: int
    what: str


def hash_of(previous: str, number: int, text: str) -> str:
    return sha256(f"{previous}\n{number}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()


def next_entries(last: Entry | None, receipts: Iterable[Receipt]) -> list[Entry]:
    """The entries that follow `last`; None: there is none yet."""
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
            return Fault(number, f"Entry {number} is missing: after {number - 1} comes {entry.number}.")
        if hash_of(previous, number, entry.text) != entry.hash:
            return Fault(number, f"Entry {number} or the one before it was changed: its hash is not that of its text.")
        try:
            entry.receipt  # noqa: B018  # it is read to see whether it can be
        except ValueError as error:
            return Fault(number, f"Entry {number} is no receipt: {error}.")
        previous = entry.hash
        found = found or previous == noted
    if not found:
        return Fault(len(entries) + 1, "No entry has the hash that you gave: the end of the chain was cut or replaced.")
    return None
