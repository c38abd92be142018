"""Changes of receipts are detected, and verification is fast."""

import time
from dataclasses import replace
from random import Random

from tark_lsp.receipts.chain import Entry, find_fault, next_entries
from tark_lsp.receipts.receipt import Receipt, Step
from tark_lsp.receipts.store import ReceiptStore, read_entries
from tark_lsp.trust_report.promise import Ground, Outcome, Promise

ENTRIES = 10_000
CHANGES = 30
"""The number of changes of each kind."""
SECONDS = 1.0


def _receipt(number: int) -> Receipt:
    call = f"call-{number}"
    return Receipt(1.7e9 + number, "session-1", "turn-1", call, "run_command", Step.APPROVED, "0" * 64, call, "you")


def _changed(entries: list[Entry], kind: str, random: Random) -> list[Entry]:
    at = random.randrange(len(entries) - 1)
    entry = entries[at]
    if kind == "a letter":
        place = random.randrange(len(entry.text))
        letter = random.choice([one for one in "abc012" if one != entry.text[place]])
        text = entry.text[:place] + letter + entry.text[place + 1 :]
        return [*entries[:at], replace(entry, text=text), *entries[at + 1 :]]
    if kind == "removed":
        return [*entries[:at], *entries[at + 1 :]]
    if kind == "added":
        added = next_entries(entry, [_receipt(0)])
        return [*entries[: at + 1], *added, *(replace(one, number=one.number + 1) for one in entries[at + 1 :])]
    swapped = [*entries[:at], entries[at + 1], entry, *entries[at + 2 :]]
    return [replace(one, number=number) for number, one in enumerate(swapped, 1)]


async def measure(ground: Ground) -> Outcome:
    path = ground.folder / "receipts.sqlite3"
    store = ReceiptStore(lambda: path)
    store.append([_receipt(number) for number in range(ENTRIES)])
    store.close()
    entries = read_entries(path)
    started = time.process_time()  # CPU time, so that other programs on the machine do not count
    whole = find_fault(entries) is None and len(entries) == ENTRIES
    seconds = time.process_time() - started
    failures = [] if whole else ["an unchanged chain is reported as broken"]
    if seconds > SECONDS:
        failures.append(f"verifying {ENTRIES:,} entries takes {seconds:.2f} s")
    random = Random(ground.seed)
    short = entries[: ENTRIES // 50]
    kinds = ("a letter", "removed", "added", "swapped")
    for kind in kinds:
        missed = sum(find_fault(_changed(short, kind, random)) is None for _ in range(CHANGES))
        failures += [f"not found: {kind}"] * missed
    tried = f"{ENTRIES:,} entries verified, and changed, removed, added and moved ones looked for"
    note = f"verified in {seconds:.2f} s"
    return Outcome(tried, 2 + len(kinds) * CHANGES, tuple(failures), note=note)


PROMISE = Promise(80, "A changed receipt is found, and 10,000 are verified in under a second", measure)
