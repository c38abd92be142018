"""The edit that undoes several edits of one file, without doing again what one of them had undone of another; pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tark_lsp.workspace.edits import ProposedEdit, rebase
from tark_lsp.workspace.lines import Hunk, line_changes, split_lines
from tark_lsp.workspace.snapshot import Snapshot

_Form: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
"""The old and the new lines of a hunk, without their endings."""


def inverse_edit(steps: Sequence[tuple[str, str]], current: Snapshot) -> tuple[ProposedEdit, int, int]:
    """Returns the edit of the current text, the number of changes that it cannot undo, and the number of all changes.

    `steps` are the texts before and after each edit, in order. What the user typed between the edits and since stays:
    if that changed lines of the edits, these lines are left as they are. Undoing the steps one by one would be wrong:
    if one had undone another and the user typed since, it would be done again, and the other would not be undone.
    """
    hunks: tuple[Hunk, ...] = ()
    lost: list[_Lost] = []
    text = current.text
    for index, (before, after) in enumerate(steps):
        if index:
            hunks, lost = _carried(hunks, lost, text, before)
            before, lost = _cancel_out(before, after, lost)
            hunks, lost = _carried(hunks, lost, steps[index][0], before)
            lost = [change.carried(line_changes(before, after)) for change in lost]
        hunks, text = tuple(_compose(hunks, before, after)), after
    carried, conflicts = rebase(ProposedEdit(current.path, Snapshot(current.path, text), hunks), current)
    return carried, len(lost) + len(conflicts), len(lost) + len(hunks)


@dataclass(frozen=True, slots=True)
class _Lost:
    """A change that cannot be undone: the forms of its inverse, and the lines of the text that it can be at."""

    forms: frozenset[_Form]
    start: int
    end: int

    def carried(self, changes: Iterable[Hunk]) -> "_Lost":
        """The same after these changes. A change at its lines makes them wider."""
        start, end, above, grown = self.start, self.end, 0, 0
        for change in changes:
            if change.start > end:
                break
            growth = len(change.new) - len(change.old)
            grown += growth
            if change.end < start:
                above += growth
            else:
                start, end = min(start, change.start), max(end, change.end)
        return _Lost(self.forms, start + above, end + grown)

    def is_undone_by(self, change: Hunk, lines: Sequence[str], anywhere: bool) -> bool:
        """Does the change of these lines do what could not be done?"""
        moved = _moved(change, lines)
        near = [form for form in moved if anywhere or (self.start <= form.start and form.end <= self.end)]
        return any(_form(form) in self.forms for form in near)


def _carried(
    hunks: tuple[Hunk, ...], lost: Sequence[_Lost], old: str, new: str
) -> tuple[tuple[Hunk, ...], list[_Lost]]:
    """The hunks in the new text, and all that are lost by then."""
    nowhere = Path()
    edit, conflicts = rebase(ProposedEdit(nowhere, Snapshot(nowhere, old), hunks), Snapshot(nowhere, new))
    lines = split_lines(old)
    added = [_Lost(frozenset(map(_form, _moved(hunk, lines))), hunk.start, hunk.end) for hunk in conflicts]
    changes = line_changes(old, new)
    return edit.hunks, [change.carried(changes) for change in (*lost, *added)]


def _cancel_out(before: str, after: str, lost: Sequence[_Lost]) -> tuple[str, list[_Lost]]:
    """A step can undo a change whose place was lost: that is not a change of its own.

    Returns the text before the step with such changes undone already, and the changes that are still lost.
    """
    left = list(lost)
    old = split_lines(before)
    lines = [*old]
    for change in reversed(line_changes(before, after)):
        # Its lines first. Which lines these are can be wrong, if others look like them: then at any lines.
        found = (item for anywhere in (False, True) for item in left if item.is_undone_by(change, old, anywhere))
        same = next(found, None)
        if same is not None:
            left.remove(same)
            lines[change.start : change.end] = change.new
    return "".join(lines), left


def _moved(hunk: Hunk, lines: Sequence[str]) -> list[Hunk]:
    """The hunk, and the other hunks that make the same of these lines: an insertion or removal beside equal lines."""
    found = [hunk]
    if not hunk.old or not hunk.new:
        while hunk.start > 0 and lines[hunk.start - 1] == (hunk.old or hunk.new)[-1]:
            hunk = Hunk(hunk.start - 1, _rotated(hunk.old), _rotated(hunk.new))
            found.append(hunk)
    return found


def _rotated(lines: tuple[str, ...]) -> tuple[str, ...]:
    return lines[-1:] + lines[:-1]


def _form(hunk: Hunk) -> _Form:
    """What the hunk does, without its place. The last line of a text can lack its ending."""
    old, new = (tuple(line.rstrip("\r\n") for line in lines) for lines in (hunk.old, hunk.new))
    return old, new


def _compose(inverse: Sequence[Hunk], before: str, after: str) -> list[Hunk]:
    """`inverse` undoes something in `before`. Returns what undoes that and also the change from `before` to `after`."""
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
        for hunk in reversed([hunk for hunk in inverse if start <= hunk.start and hunk.end <= end]):
            wanted[hunk.start - start : hunk.end - start] = hunk.new
        # Single changes, not joined as for display: then typing near one is not a conflict.
        found += [
            Hunk(first + hunk.start, hunk.old, hunk.new)
            for hunk in line_changes("".join(made[first:last]), "".join(wanted))
        ]
    return found


def _regions(hunks: Iterable[Hunk]) -> list[tuple[int, int]]:
    """The ranges of lines that the hunks cover; ranges that touch are merged."""
    found: list[tuple[int, int]] = []
    for hunk in sorted(hunks, key=lambda hunk: (hunk.start, hunk.end)):
        if found and hunk.start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], hunk.end)
        else:
            found.append((hunk.start, hunk.end))
    return found
