"""What is left of several edits of one file, once those that took each other back are set off; pure."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from tark_lsp.workspace.edits import ProposedEdit, rebase
from tark_lsp.workspace.lines import Hunk, line_changes, split_lines
from tark_lsp.workspace.snapshot import Snapshot


def taken_back(steps: Sequence[tuple[str, str]], current: Snapshot) -> tuple[ProposedEdit, int, int]:
    """The edit of the current text that takes back what is left of the steps; how many changes cannot be; of how many.

    `steps`: the texts before and after each edit, in their order. What was typed between them and since stays: where
    that changed lines of theirs, these are left as they are. Taking the steps back one by one would not do: where one
    took back another, and something was typed since, it would be done again and the other not be taken back.
    """
    hunks: tuple[Hunk, ...] = ()
    lost: list[Hunk] = []
    text = current.text
    for index, (before, after) in enumerate(steps):
        if index:
            hunks, conflicts = _carried(hunks, text, before)
            lost += conflicts
            before, lost = _set_off(before, after, lost)
            hunks, conflicts = _carried(hunks, steps[index][0], before)
            lost += conflicts
        hunks, text = tuple(_composed(hunks, before, after)), after
    carried, conflicts = rebase(ProposedEdit(current.path, Snapshot(current.path, text), hunks), current)
    return carried, len(lost) + len(conflicts), len(lost) + len(hunks)


def _carried(hunks: tuple[Hunk, ...], old: str, new: str) -> tuple[tuple[Hunk, ...], tuple[Hunk, ...]]:
    nowhere = Path()
    edit, conflicts = rebase(ProposedEdit(nowhere, Snapshot(nowhere, old), hunks), Snapshot(nowhere, new))
    return edit.hunks, conflicts


def _set_off(before: str, after: str, lost: Sequence[Hunk]) -> tuple[str, list[Hunk]]:
    """What a step took back that could no longer be followed is no change of its own: the text before it with that
    taken back already, and what is still lost."""
    left = list(lost)
    lines = split_lines(before)
    for change in reversed(line_changes(before, after)):
        same = next((each for each in left if _looks(each) == _looks(change)), None)
        if same is not None:
            left.remove(same)
            lines[change.start : change.end] = change.new
    return "".join(lines), left


def _looks(hunk: Hunk) -> tuple[list[str], list[str]]:
    """Two diffs of one change may begin it at another of several equal lines, and the last line may have no ending."""
    old, new = (sorted(line.rstrip("\r\n") for line in lines) for lines in (hunk.old, hunk.new))
    return old, new


def _composed(inverse: Sequence[Hunk], before: str, after: str) -> list[Hunk]:
    """`inverse` takes something back in `before`: what takes that and the change to `after` back there."""
    lines, made = split_lines(before), split_lines(after)
    changes = line_changes(before, after)
    found: list[Hunk] = []
    for start, end in _regions([*inverse, *changes]):
        inside = [change for change in changes if start <= change.start and change.end <= end]
        grown = sum(
            len(change.new) - len(change.old) for change in changes if change.end <= start and change not in inside
        )
        first = start + grown
        last = first + end - start + sum(len(change.new) - len(change.old) for change in inside)
        wanted = lines[start:end]
        for hunk in reversed([each for each in inverse if start <= each.start and each.end <= end]):
            wanted[hunk.start - start : hunk.end - start] = hunk.new
        # Single changes, not joined as for people to read: typing near one is then no conflict.
        found += [
            Hunk(first + hunk.start, hunk.old, hunk.new)
            for hunk in line_changes("".join(made[first:last]), "".join(wanted))
        ]
    return found


def _regions(hunks: Iterable[Hunk]) -> list[tuple[int, int]]:
    """The lines they cover, those that touch as one."""
    found: list[tuple[int, int]] = []
    for hunk in sorted(hunks, key=lambda each: (each.start, each.end)):
        if found and hunk.start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], hunk.end)
        else:
            found.append((hunk.start, hunk.end))
    return found
