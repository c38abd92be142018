"""Placing edits in a file of 10,000 lines, and carrying 40 of them to a newer text: against what others do, in one run.

    uv run --group benchmarks python -m tests.benchmarks.bench_placing [EDITS]

Placing: exact quotes against `str.replace`, the least there can be; quotes with one line changed, which ours refuses
with the nearest lines, against the best window by difflib (a few edits, it takes seconds each), rapidfuzz's and
diff-match-patch's. Carrying: `line_changes` of 40 scattered changes, and `rebase` over them, against difflib.

CPU time, medians. Goals: an exact quote in 10 times what `str.replace` takes, which knows nothing; one that is not
exact in 1/20 of difflib's windows; the changes in 1/10 of difflib's time.
"""

import importlib
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from pathlib import Path
from random import Random

from tark_lsp.errors import ToolError
from tark_lsp.workspace.edits import ProposedEdit, rebase
from tark_lsp.workspace.lines import line_changes
from tark_lsp.workspace.placing.placing import place_edit
from tark_lsp.workspace.snapshot import Snapshot

LINES = 10_000
SCATTERED = 40
SLOW = 3
"""Edits given to peers that take seconds for each."""


def text_of(random: Random) -> list[str]:
    """Code as it is: many short lines that repeat, and some that do not."""
    common = ["", "}", "    return None", "    else:", "    try:", "        pass"]
    return [
        f"    value_{random.randrange(LINES)} = call_{number % 700}({random.randrange(90)})"
        if random.random() < 0.7
        else random.choice(common)
        for number in range(LINES)
    ]


def blocks(random: Random, lines: Sequence[str], count: int) -> list[str]:
    starts = [random.randrange(LINES - 6) for _ in range(count)]
    return ["\n".join(lines[at : at + 6]) for at in starts]


def inexact(block: str) -> str:
    first, *rest = block.split("\n")
    return "\n".join([first, *rest[:2], f"{rest[2]} and more", *rest[3:]])


def ours(text: str, old: str) -> None:
    with suppress(ToolError):  # Refused with the nearest lines, which is what is measured.
        place_edit(text, old, "new\n")


def replace(text: str, old: str) -> None:
    text.replace(old, "new\n", 1)


def windows(text: str, old: str) -> None:
    lines, size = text.splitlines(), old.count("\n") + 1
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(old)
    best = 0.0
    for at in range(len(lines) - size + 1):
        matcher.set_seq1("\n".join(lines[at : at + size]))
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best:
            best = max(best, matcher.ratio())


def rapidfuzz(text: str, old: str) -> None:
    importlib.import_module("rapidfuzz.fuzz").partial_ratio_alignment(old, text)


def match_patch(text: str, old: str) -> None:
    """Its own way for long patterns: patches made of the quote, applied to the text, with no idea of the place."""
    engine = importlib.import_module("diff_match_patch").diff_match_patch()
    engine.Match_Distance = len(text)
    engine.patch_apply(engine.patch_make(old, "new\n" + old), text)


def milliseconds(work: Callable[[str, str], None], text: str, olds: Sequence[str]) -> float:
    spent = []
    for old in olds:
        began = time.process_time()
        work(text, old)
        spent.append(time.process_time() - began)
    return statistics.median(spent) * 1e3


def placing(random: Random, lines: Sequence[str], count: int) -> None:
    text = "\n".join(lines) + "\n"
    exact = blocks(random, lines, count)
    changed = [inexact(block) for block in exact]
    indented = ["\n".join(line[4:] if line[:4] == "    " else line for line in one.split("\n")) for one in exact]
    base = milliseconds(ours, text, exact)
    print(f"{count} edits in {LINES} lines, ms of CPU each (median)")
    least = milliseconds(replace, text, exact)
    print(f"  exact        ours {base:8.3f}   str.replace {least:.3f}, ours is {base / least:.1f} of it")
    print(f"  re-indented  ours {milliseconds(ours, text, indented[: count // 5]):8.3f}")
    peers = {"difflib windows": windows, "rapidfuzz": rapidfuzz, "diff-match-patch": match_patch}
    mine = milliseconds(ours, text, changed[: count // 5])
    print(f"  not exact    ours {mine:8.3f}")
    for name, peer in peers.items():
        try:
            theirs = milliseconds(peer, text, changed[:SLOW])
        except ModuleNotFoundError:
            print(f"    {name}: not installed")
            continue
        print(f"    {name} {theirs:.1f}, ours is {mine / theirs:.4f} of it")


def carrying(random: Random, lines: Sequence[str]) -> None:
    old = "\n".join(lines) + "\n"
    newer, mine = list(lines), list(lines)
    for k in range(SCATTERED):
        newer[k * LINES // SCATTERED + random.randrange(50)] = f"typed {k}"
        mine[k * LINES // SCATTERED + 100 + random.randrange(50)] = f"edited {k}"
    now = "\n".join(newer) + "\n"
    path = Path("a.py")
    edit = ProposedEdit.between(Snapshot(path, old), "\n".join(mine) + "\n")

    def by_difflib(old: str, now: str) -> None:
        SequenceMatcher(None, old.split("\n"), now.split("\n"), autojunk=False).get_opcodes()

    changes = milliseconds(lambda one, other: (line_changes(one, other), None)[1], now, [old] * 5)
    carried = milliseconds(lambda one, _: (rebase(edit, Snapshot(path, one)), None)[1], now, [old] * 5)
    peer = milliseconds(by_difflib, now, [old])
    print(
        f"{SCATTERED} scattered changes of {LINES} lines, ms: line_changes {changes:.1f}   difflib {peer:.1f}", end=""
    )
    print(f"   ratio {changes / peer:.4f};   rebase of {len(edit.hunks)} hunks over them {carried:.1f}")


def main(count: int) -> None:
    random = Random("placing")
    lines = text_of(random)
    placing(random, lines, count)
    carrying(random, lines)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
