"""ProposedEdit: the hunks of an edit of one file, the text it leads to, and how it is rebased to newer text; pure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Literal, TypeAlias

from tark_lsp.workspace.lines import (
    Hunk,
    common_prefix,
    common_suffix,
    ending_of,
    line_changes,
    split_lines,
    sure_changes,
)
from tark_lsp.workspace.made_hunks import ChangesInOrder, as_one, collide, made_hunks, runs_of_touching
from tark_lsp.workspace.snapshot import Snapshot

NEAR = 3
"""Hunks with at most this many common lines between them are shown and decided as one hunk."""
CONTEXT = 3
"""Common lines shown around a hunk in a diff."""

Operation: TypeAlias = Literal["", "remove", "move"]
"""What an edit does to the file itself."""
MOVED = Hunk(0, (), ())
"""Stands for the move of a file where its hunks are decided or shown."""


@dataclass(frozen=True, slots=True)
class ProposedEdit:
    """`hunks` refer to `base`, in order, and do not overlap. If the file does not exist yet, `base.exists` is False.

    Hunks can touch, and several hunks can insert lines at the same place. Then `Hunk.order` says which one is above.
    """

    path: Path
    base: Snapshot
    hunks: tuple[Hunk, ...]
    removes: bool = False
    """The file itself is removed. Its one hunk has all its lines, even if there are none."""
    target: Path | None = None
    """The path the file is moved to, with its hunks applied."""
    _drafted: list[Snapshot] = field(default_factory=list, init=False, repr=False, compare=False)
    """The cached value of `drafted`, so that a long text is joined only once."""

    @property
    def operation(self) -> Operation:
        if self.removes:
            return "remove"
        return "" if self.target is None else "move"

    @property
    def paths(self) -> tuple[Path, ...]:
        """Every path that the edit changes: the path of the file, and the path it is moved to."""
        return (self.path,) if self.target is None else (self.path, self.target)

    @property
    def after(self) -> str:
        """The text with all hunks applied. Raises ValueError if the hunks are not of this base."""
        return self.drafted.text

    def _applied(self) -> str:
        lines = self.base.lines
        parts: list[str] = []
        at = 0
        for hunk in self.hunks:
            if hunk.start < at or tuple(lines[hunk.start : hunk.end]) != hunk.old:
                raise ValueError(f"hunk at line {hunk.start + 1} of {self.path} is not of its base text")
            parts.extend(lines[at : hunk.start])
            parts.extend(hunk.new)
            at = hunk.end
        parts.extend(lines[at:])
        return "".join(parts)

    @property
    def place(self) -> Path:
        """Where the file is after the edit."""
        return self.target or self.path

    @property
    def drafted(self) -> Snapshot:
        """The file as the edit would leave it. A moved file is not open at its new path."""
        if not self._drafted:
            self._keep(self._applied())
        return self._drafted[0]

    def _keep(self, after: str) -> None:
        if self.target is not None:
            self._drafted.append(Snapshot(self.target, after))
            return
        exists = not self.removes and (self.base.exists or bool(self.hunks))
        self._drafted.append(Snapshot(self.path, after, self.base.version, exists))

    def moved_to(self, base: Snapshot) -> "ProposedEdit":
        """The same edit of another snapshot of the same text."""
        same = replace(self, base=base)
        if self._drafted:
            same._keep(self.after)
        return same

    @classmethod
    def between(cls, base: Snapshot, after: str, borders: Sequence[int] = ()) -> "ProposedEdit":
        """The smallest edit of whole lines from `base` to `after`. Hunks that are near each other are joined.

        `borders` are lines of the base. Hunks on different sides of a border are not joined.
        """
        edit = cls(base.path, base, _join_near(line_changes(base.text, after), base, borders))
        edit._keep(after)
        return edit

    @classmethod
    def removal(cls, base: Snapshot) -> "ProposedEdit":
        return cls(base.path, base, (Hunk(0, tuple(base.lines), ()),), removes=True)

    def only(self, hunks: Iterable[Hunk]) -> "ProposedEdit":
        """The same edit with only these hunks, put in order."""
        chosen = tuple(sorted(hunks, key=lambda hunk: (hunk.start, hunk.order, hunk.end)))
        return self if chosen == self.hunks else replace(self, hunks=chosen)

    def diff(self, shown: Callable[[Path], str] = Path.as_posix) -> str:
        """A unified diff for display. `shown` returns the name of a file in one line.

        Line endings are shown only if the edit has several kinds of them.
        """
        if not self.hunks and self.target is None:
            return ""
        lines = self.base.lines
        endings = {ending_of(line) for hunk in self.hunks for line in (*hunk.old, *hunk.new)} - {""}
        before = shown(self.path) if self.base.exists else "/dev/null"
        left = "/dev/null" if self.removes else shown(self.target or self.path)
        out = [f"--- {before}", f"+++ {left}"]
        shift = 0
        for group in _grouped(self.hunks):
            start, end = max(0, group[0].start - CONTEXT), min(len(lines), group[-1].end + CONTEXT)
            grown = sum(len(hunk.new) - len(hunk.old) for hunk in group)
            out.append(f"@@ -{_span(start, end - start)} +{_span(start + shift, end - start + grown)} @@")
            at = start
            for hunk in group:
                for sign, some in ((" ", lines[at : hunk.start]), ("-", hunk.old), ("+", hunk.new)):
                    out.extend(_shown(sign, line, len(endings) > 1) for line in some)
                at = hunk.end
            out.extend(_shown(" ", line, len(endings) > 1) for line in lines[at:end])
            shift += grown
        return "\n".join(out) + "\n"


def _join_near(hunks: list[Hunk], base: Snapshot, borders: Sequence[int] = ()) -> tuple[Hunk, ...]:
    if all(after.start - before.end > NEAR for before, after in pairwise(hunks)):
        return tuple(hunks)
    lines = base.lines
    joined = hunks[:1]
    for hunk in hunks[1:]:
        last = joined[-1]
        if hunk.start - last.end > NEAR or any(last.end <= border <= hunk.start for border in borders):
            joined.append(hunk)
            continue
        between = tuple(lines[last.end : hunk.start])
        joined[-1] = Hunk(last.start, last.old + between + hunk.old, last.new + between + hunk.new)
    return tuple(joined)


def _grouped(hunks: tuple[Hunk, ...]) -> list[list[Hunk]]:
    """Groups of hunks whose context lines touch."""
    groups: list[list[Hunk]] = []
    for hunk in hunks:
        if groups and hunk.start - groups[-1][-1].end <= 2 * CONTEXT:
            groups[-1].append(hunk)
        else:
            groups.append([hunk])
    return groups


def _span(start: int, size: int) -> str:
    """A range in the format of GNU diff: lines count from 1, and an empty range is at the line before it."""
    return f"{start + 1 if size else start},{size}"


def _shown(sign: str, line: str, endings: bool) -> str:
    ending = ending_of(line)
    text = sign + (line.removesuffix("\n") if endings and ending != "\r" else line.removesuffix(ending))
    return text if ending else text + "\n\\ No newline at end of file"


def rebase(edit: ProposedEdit, current: Snapshot) -> tuple[ProposedEdit, tuple[Hunk, ...]]:
    """Move the hunks to the current text. Returns the edit of `current`, and the hunks (of the old base) in conflict.

    A hunk is in conflict if lines that it replaces were changed since, or if both inserted at the same place. A hunk
    that the current text already has is in neither result. Lines typed since are never replaced. A removal conflicts
    with any change, because the user was shown a different file.
    """
    if edit.base.exists and not current.exists:
        return replace(edit, base=current, hunks=()), edit.hunks
    changes = line_changes(edit.base.text, current.text)
    if not changes:
        return edit.moved_to(current), ()
    if edit.removes:
        return replace(edit, base=current, hunks=()), edit.hunks
    sure = sure_changes(changes, edit.base.text, current.text)
    lines = current.lines
    known = ChangesInOrder.of(sure)
    found = made_hunks(edit.hunks, changes, sure, lines)
    carried: list[Hunk] = []
    conflicts: list[Hunk] = []
    for hunk in edit.hunks:
        if hunk in found:
            continue
        moved = replace(hunk, start=hunk.start + known.growth_above(hunk.start))
        if any(collide(change, hunk) for change in known.touching(hunk)) or not _fits(moved, lines):
            conflicts.append(hunk)
        else:
            carried.append(moved)
    return replace(edit, base=current, hunks=tuple(carried)), tuple(conflicts)


def hunks_in_text(edit: ProposedEdit, current: Snapshot) -> set[Hunk]:
    """The hunks that the current text already has."""
    changes = line_changes(edit.base.text, current.text)
    sure = sure_changes(changes, edit.base.text, current.text)
    return made_hunks(edit.hunks, changes, sure, current.lines)


def changed_lines(edit: ProposedEdit) -> ProposedEdit:
    """The same change with hunks that have changed lines only, and do not touch."""
    hunks: list[Hunk] = []
    for run in runs_of_touching(edit.hunks):
        whole = as_one(run)
        changes = line_changes(whole.old_text, whole.new_text)
        hunks += (replace(change, start=whole.start + change.start) for change in changes)
    return replace(edit, hunks=tuple(hunks)) if hunks else edit


def _fits(hunk: Hunk, lines: Sequence[str]) -> bool:
    """Whether no line without a line ending would be followed by another line."""
    if not hunk.new:
        return True
    before_ends = hunk.start == 0 or ending_of(lines[hunk.start - 1]) != ""
    return before_ends and (ending_of(hunk.new[-1]) != "" or hunk.end == len(lines))


def map_range(old: str, new: str, start: int, end: int) -> tuple[int, int] | None:
    """The range of `old[start:end]` in `new`, in code points; None if something inside it was changed.

    Text typed right before or after the range does not become part of it.
    """
    changes = line_changes(old, new)
    lines = split_lines(old) if changes else []
    shift = at = line = 0
    for hunk in changes:
        at += sum(map(len, lines[line : hunk.start]))
        line = hunk.start
        before, after = hunk.old_text, hunk.new_text
        head = common_prefix(before, after)
        tail = common_suffix(before, after, min(len(before), len(after)) - head)
        first, last = at + head, at + len(before) - tail
        if last <= start:
            shift += len(after) - len(before)
        elif first < end:
            return None
    return start + shift, end + shift
