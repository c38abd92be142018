"""The edit that undoes several edits of one file, without redoing what one of them undid of another; pure."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tark_lsp.workspace.edits import ProposedEdit, rebase
from tark_lsp.workspace.lines import Hunk, fit_ending, line_changes, split_lines, sure_changes, telling_lines
from tark_lsp.workspace.snapshot import Snapshot


def inverse_edit(steps: Sequence[tuple[str, str]], current: Snapshot) -> tuple[ProposedEdit, int, int]:
    """Returns the edit of the current text, the number of changes that it cannot undo, and the number of all changes.

    `steps` are the texts before and after each edit, in order. What the user typed between the edits and since stays:
    if that changed lines of the edits, these lines are left as they are. Undoing the steps one by one would be wrong:
    if one had undone another and the user typed since, it would be done again, and the other would not be undone.
    """
    hunks: tuple[Hunk, ...] = ()
    lost: list[_Lost] = []
    undone = 0
    text = current.text
    first = steps[0][0] if steps else text
    for index, (before, after) in enumerate(steps):
        if index and text != before:
            hunks, lost = _carried(hunks, lost, text, before)
        inverse, kept = _without_parted(_edit(before, hunks), lost, first)
        if index and inverse.after == after:  # an earlier undo
            undone, hunks, lost = undone + len(inverse.hunks), (), [*lost, *kept]
        else:
            before, hunks, lost = _undo_lost(before, after, hunks, lost)
            hunks = tuple(_compose(hunks, before, after))
        lost = [change.carried(line_changes(before, after)) for change in lost]
        text = after
    total = undone + len(lost) + len(hunks)
    carried, added = _rebased(hunks, text, current)
    carried, kept = _without_parted(carried, [*lost, *added], first)
    return carried, len(lost) + len(added) + len(kept), total


@dataclass(frozen=True, slots=True)
class _Lost:
    """A change whose lines the user changed: its inverse, and the lines of the text at which it can be."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    start: int
    end: int

    @classmethod
    def of(cls, hunk: Hunk, lines: Sequence[str]) -> "_Lost":
        return cls(hunk.old, hunk.new, _moved(hunk, lines)[-1].start, hunk.end)

    def among(self, changes: Iterable[Hunk]) -> "_Lost":
        """The same, but it can also be beside any of these changes."""
        starts, ends = zip(*((change.start, change.end) for change in changes), strict=True)
        return replace(self, start=min(self.start, *starts), end=max(self.end, *ends))

    def carried(self, changes: Iterable[Hunk]) -> "_Lost":
        """The same after these changes. A change at its lines widens the range."""
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
        return _Lost(self.old, self.new, start + above, end + grown)

    def inverses(self, lines: Sequence[str], changes: Iterable[Hunk]) -> Iterator[Hunk]:
        """The hunks that undo it, at each place where one of these changes of the lines can be."""
        near = [change for change in changes if self.start <= change.end and change.start <= self.end]
        for place in sorted({at for change in near for at in _places(change, lines)}):
            old = tuple(lines[place : place + len(self.old)])
            if self.start <= place and place + len(old) <= self.end and _bare(old) == _bare(self.old):
                yield fit_ending(Hunk(place, old, self.new), lines)


def _edit(text: str, hunks: tuple[Hunk, ...]) -> ProposedEdit:
    return ProposedEdit(Path(), Snapshot(Path(), text), hunks)


def _rebased(hunks: tuple[Hunk, ...], text: str, current: Snapshot) -> tuple[ProposedEdit, list[_Lost]]:
    """Like `rebase`. Hunks that only add lines are also lost if the place of their lines is unknown."""
    changes, lines, telling = line_changes(text, current.text), split_lines(text), telling_lines(text, current.text)
    lost: list[_Lost] = []
    sure: list[Hunk] = []
    for hunk in hunks:
        near = [change for change in changes if _hides(change, hunk, lines, telling)]
        if near:
            lost.append(_Lost.of(hunk, lines).among(near))
        else:
            sure.append(hunk)
    edit, conflicts = rebase(replace(_edit(text, tuple(sure)), path=current.path), current)
    return edit, [*lost, *(_Lost.of(hunk, lines) for hunk in conflicts)]


def _without_parted(edit: ProposedEdit, lost: Sequence[_Lost], first: str) -> tuple[ProposedEdit, list[_Lost]]:
    """Leaves moved lines where they are if they cannot be restored at their old place, or removed from the new place.

    Otherwise they would be gone, or there twice. `first` is the text before all edits. Also returns these changes.
    """
    if not lost:
        return edit, []
    after, original = _bare(split_lines(edit.after)), _bare(split_lines(first))
    gone = {line for change in lost for line in _bare(change.new) if line.strip()} - {*after}
    there = {line for change in lost for line in _bare(change.old) if _words(line)}
    again = {line for line in there if original.count(line) == 1 < after.count(line)}

    def parted(hunk: Hunk) -> bool:
        old, new = {*_bare(hunk.old)}, {*_bare(hunk.new)}
        return bool(gone & old or again & (new - old))

    kept = [_Lost(hunk.old, hunk.new, hunk.start, hunk.end) for hunk in edit.hunks if parted(hunk)]
    if not kept:
        return edit, []
    left = edit.only(hunk for hunk in edit.hunks if not parted(hunk))
    left, more = _without_parted(left, [*lost, *kept], first)
    return left, [*kept, *more]


def _hides(change: Hunk, hunk: Hunk, lines: Sequence[str], telling: Collection[str]) -> bool:
    """Whether a change makes it uncertain where the hunk adds its lines, because no line between them shows it.

    Right beside them, what looks like a changed line can also be a removed line, and a new line beyond the place.
    """
    between = [*lines[change.end : hunk.start], *lines[hunk.end : change.start]]
    if not between and not hunk.old and change.old and change.new:
        beside = -1 if change.end <= hunk.start else 0
        return len(change.old) < len(change.new) or not _is_same_line(change.old[beside], change.new[beside])
    if hunk.old or not between:
        return False
    return len(between) < min(hunk.size, change.size) and not any(line in telling for line in between)


def _is_same_line(old: str, new: str) -> bool:
    """Can the line have been edited into the other, rather than replaced by it?"""
    return not _words(old) or not _words(old).isdisjoint(_words(new))


def _words(line: str) -> set[str]:
    return {*re.findall(r"\w+", line)}


def _carried(
    hunks: tuple[Hunk, ...], lost: Sequence[_Lost], old: str, new: str
) -> tuple[tuple[Hunk, ...], list[_Lost]]:
    """The hunks in the new text, and all hunks that are lost by then."""
    edit, added = _rebased(hunks, old, Snapshot(Path(), new))
    changes = line_changes(old, new)
    return edit.hunks, [change.carried(changes) for change in (*lost, *added)]


def _undo_lost(
    before: str, after: str, hunks: tuple[Hunk, ...], lost: Sequence[_Lost]
) -> tuple[str, tuple[Hunk, ...], list[_Lost]]:
    """A step can undo a lost change, alone or together with other changes. Then it shows the place of the lost change.

    Returns the text before the step with such changes already undone, the hunks in it, and what is still lost.
    """
    left: list[_Lost] = []
    todo = [*lost]
    while todo:
        change, *todo = todo
        texts: dict[Hunk, str] = {}
        if all(hunk.end < change.start or change.end < hunk.start for hunk in hunks):  # else their order is unknown
            places = change.inverses(split_lines(before), line_changes(before, after))
            texts = {place: _edit(before, (place,)).after for place in places}
        inverse = min(texts, key=lambda place: _distance(texts[place], after), default=None)
        if inverse is None or _distance(texts[inverse], after) > _distance(before, after):
            left.append(change)
            continue
        growth = len(inverse.new) - len(inverse.old)
        hunks = tuple(replace(hunk, start=hunk.start + growth * (hunk.start >= inverse.end)) for hunk in hunks)
        left, todo = ([some.carried([inverse]) for some in changes] for changes in (left, todo))
        before = texts[inverse]
    return before, hunks, left


def _distance(one: str, other: str) -> int:
    return sum(len(change.old) + len(change.new) for change in line_changes(one, other))


def _moved(hunk: Hunk, lines: Sequence[str]) -> list[Hunk]:
    """The hunk, and other hunks with the same result: an insertion or removal beside equal lines has several places."""
    found = [hunk]
    if not hunk.old or not hunk.new:
        while hunk.start > 0 and lines[hunk.start - 1] == (hunk.old or hunk.new)[-1]:
            hunk = Hunk(hunk.start - 1, _rotated(hunk.old), _rotated(hunk.new))
            found.append(hunk)
    return found


def _places(hunk: Hunk, lines: Sequence[str]) -> list[int]:
    return [*(moved.start for moved in _moved(hunk, lines)), hunk.end]


def _bare(lines: Iterable[str]) -> list[str]:
    """The lines without their endings, because the last line of a text can have none."""
    return [line.rstrip("\r\n") for line in lines]


def _rotated(lines: tuple[str, ...]) -> tuple[str, ...]:
    return lines[-1:] + lines[:-1]


def _compose(inverse: Sequence[Hunk], before: str, after: str) -> list[Hunk]:
    """`inverse` undoes something in `before`. Returns what undoes that and also the change from `before` to `after`."""
    lines, made = split_lines(before), split_lines(after)
    changes = sure_changes(line_changes(before, after), before, after)
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
        old, new = "".join(made[first:last]), "".join(wanted)
        # Single changes, not joined as for display, so that typing near a change is not a conflict.
        found += [
            Hunk(first + hunk.start, hunk.old, hunk.new) for hunk in sure_changes(line_changes(old, new), old, new)
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
