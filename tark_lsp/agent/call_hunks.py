"""Divides the changes of an answer into hunks, each of which belongs to one call if possible. Pure.

Each call changes the text that the earlier calls left. Its changes are mapped back to the text before the answer.

If a change overlaps an earlier one, the two cannot be decided separately. They become one hunk, which belongs to both
calls. A change overlaps if it changes lines that an earlier call wrote, adds lines between them, or replaces lines
around a place where an earlier call removed some. All other changes are hunks of one call, even if they are close to
each other.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from tark_lsp.workspace.edits import NEAR, ProposedEdit, rebase
from tark_lsp.workspace.lines import Hunk, ending_of, line_changes, split_lines

Calls: TypeAlias = frozenset[int]
"""The numbers of the calls that a change belongs to."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change that belongs to these calls."""

    hunk: Hunk
    calls: Calls


@dataclass(frozen=True, slots=True)
class Span:
    """Lines [start, end) of the text between two calls. `earlier`: an earlier `Change` wrote them. If not, the later
    call changes them."""

    start: int
    end: int
    change: Change
    earlier: bool


@dataclass(frozen=True, slots=True)
class CallHunks:
    """The edit of one file with all changes of the answer. `calls`: for each hunk, the calls that it belongs to."""

    edit: ProposedEdit
    calls: tuple[Calls, ...]


def divide_by_call(edits: Iterable[tuple[int, ProposedEdit]], borders: Sequence[int] = ()) -> CallHunks:
    """`edits` of one file: the number of each call, and the edit that this call and the earlier calls make together.

    Changes of the same calls that are close to each other are joined, unless one of the `borders` (lines of the base)
    is between them.
    """
    changes: list[Change] = []
    before: ProposedEdit | None = None
    everyone: Calls = frozenset()
    for call, edit in edits:
        everyone |= {call}
        if before is None or _is_one_change(before) or _is_one_change(edit):
            fine = line_changes(edit.base.text, edit.after)
            changes = [Change(hunk, everyone) for hunk in fine]
        else:
            changes = [*_on_top(_rebased(changes, before, edit), edit, call)]
        before = edit
    assert before is not None, "a file of a proposal has an edit"
    if _is_one_change(before):
        return CallHunks(before, tuple(everyone for _ in before.hunks))
    joined = [*_numbered(_join_near(_join_unended(changes, before), before, borders))]
    hunks = tuple(change.hunk for change in joined)
    return CallHunks(replace(before, hunks=hunks), tuple(change.calls for change in joined))


def _is_one_change(edit: ProposedEdit) -> bool:
    """Whether the file is created or removed. Then the changes of one call depend on those of the others."""
    return edit.removes or not edit.base.exists


def _rebased(changes: list[Change], before: ProposedEdit, edit: ProposedEdit) -> list[Change]:
    """The changes, moved to the base of `edit`, in which the user can have typed since `before`."""
    if before.base.text == edit.base.text:
        return changes
    return [
        replace(change, hunk=hunk)
        for change in changes
        for hunk in rebase(before.only([change.hunk]), edit.base)[0].hunks
    ]


def _on_top(changes: list[Change], edit: ProposedEdit, call: int) -> Iterator[Change]:
    """The changes of the base by this call and all earlier ones."""
    base = edit.base.lines
    between = replace(edit, hunks=tuple(change.hunk for change in changes)).after
    lines = split_lines(between)
    spans = _spans_of(changes)
    for own in line_changes(between, edit.after):
        hunk = _slide_out(own, spans, lines)
        spans.append(Span(hunk.start, hunk.end, Change(hunk, frozenset({call})), earlier=False))
    spans.sort(key=lambda span: (span.start, span.end, not span.earlier))
    grown = 0  # how many lines longer than the base the text between the calls is so far
    for group in _overlapping(spans):
        start, end = group[0].start, max(span.end for span in group)
        earlier = sum(_growth(span.change.hunk) for span in group if span.earlier)
        old = tuple(base[start - grown : end - grown - earlier])
        new = [*lines[start:end]]
        for span in reversed(group):
            if not span.earlier:
                new[span.start - start : span.end - start] = span.change.hunk.new
        calls = frozenset[int]().union(*(span.change.calls for span in group))
        whole = Hunk(start - grown, old, tuple(new))
        yield from (Change(hunk, calls) for hunk in (_parts(whole) if len(group) > 1 else [whole]))
        grown += earlier


def _spans_of(changes: Iterable[Change]) -> list[Span]:
    """The lines of each change after all of them are made."""
    spans, grown = [], 0
    for change in changes:
        start = change.hunk.start + grown
        spans.append(Span(start, start + len(change.hunk.new), change, earlier=True))
        grown += _growth(change.hunk)
    return spans


def _overlapping(spans: Iterable[Span]) -> Iterator[list[Span]]:
    """Groups of spans that share a line, or that contain one another. Spans that only touch are in different groups."""
    group: list[Span] = []
    end = 0
    for span in spans:
        if group and span.start < end and group[0].start < span.end:
            group.append(span)
            end = max(end, span.end)
            continue
        if group:
            yield group
        group, end = [span], span.end
    if group:
        yield group


def _slide_out(hunk: Hunk, spans: Iterable[Span], lines: Sequence[str]) -> Hunk:
    """Moves a hunk out of an earlier change, if that gives the same text. Between equal lines, lines can be added or
    removed at several places with the same result. The nearest place above that is not inside a change is used."""
    if hunk.old and hunk.new:
        return hunk
    crossed = [span for span in spans if span.earlier and span.start < hunk.end and hunk.start < span.end]
    limit = min((span.start for span in crossed), default=hunk.start)
    at, some = hunk.start, [*(hunk.old or hunk.new)]
    while crossed and at > limit - len(hunk.old) and at > 0 and lines[at - 1] == some[-1]:
        at -= 1
        some = [some[-1], *some[:-1]]
        if not any(span.start < at + len(hunk.old) and at < span.end for span in crossed):
            return Hunk(at, tuple(some), ()) if hunk.old else Hunk(at, (), tuple(some))
    return hunk


def _parts(hunk: Hunk) -> list[Hunk]:
    """The hunk, split into its changed lines."""
    return [replace(part, start=part.start + hunk.start) for part in line_changes(hunk.old_text, hunk.new_text)]


def _join_unended(changes: Sequence[Change], edit: ProposedEdit) -> list[Change]:
    """Joins changes at the end of the file that together determine which line is the last and has no line ending."""
    lines = edit.base.lines
    open_end = bool(lines) and not ending_of(lines[-1])
    joined: list[Change] = []
    for change in changes:
        hunk = change.hunk
        appended = open_end and not hunk.old and hunk.start == len(lines)
        if joined and (appended or (joined[-1].hunk.new and not ending_of(joined[-1].hunk.new[-1]))):
            joined[-1] = _joined(joined[-1], change, lines)
        else:
            joined.append(change)
    return joined


def _join_near(changes: Iterable[Change], edit: ProposedEdit, borders: Sequence[int]) -> list[Change]:
    lines = edit.base.lines
    joined: list[Change] = []
    for change in changes:
        start = change.hunk.start
        if (
            joined
            and joined[-1].calls == change.calls
            and start - joined[-1].hunk.end <= NEAR
            and not any(joined[-1].hunk.end <= border <= start for border in borders)
        ):
            joined[-1] = _joined(joined[-1], change, lines)
        else:
            joined.append(change)
    return joined


def _joined(one: Change, other: Change, lines: Sequence[str]) -> Change:
    between = tuple(lines[one.hunk.end : other.hunk.start])
    old, new = (*one.hunk.old, *between, *other.hunk.old), (*one.hunk.new, *between, *other.hunk.new)
    return Change(Hunk(one.hunk.start, old, new), one.calls | other.calls)


def _numbered(changes: Iterable[Change]) -> Iterator[Change]:
    """The changes, numbered (`order`) among those that begin at the same line."""
    last: Hunk | None = None
    for change in changes:
        hunk = change.hunk
        if last is not None and last.start == hunk.start:
            hunk = replace(hunk, order=last.order + 1)
        last = hunk
        yield replace(change, hunk=hunk)


def _growth(hunk: Hunk) -> int:
    return len(hunk.new) - len(hunk.old)
