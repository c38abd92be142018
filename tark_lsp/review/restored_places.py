"""Finds the hunks of an earlier server in the current text, and which of them can still be decided. Pure.

Each hunk was in an earlier text with its old lines or, after it was applied, its new lines. If the current text has
either of them, the hunk is pending. If this is uncertain, the hunk is stale, and nothing is written for it.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tark_lsp.review.following import follow_hunks
from tark_lsp.review.hunk import ReviewHunk
from tark_lsp.review.life import Event
from tark_lsp.review.text_change import Switch, TextChange
from tark_lsp.workspace.ambiguous_hunks import ambiguous_hunks
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.lines import split_lines
from tark_lsp.workspace.snapshot import Snapshot

LINES_CHANGED = "its lines were changed since it was made"
FILE_EXISTS = "a file with this name exists now"


def find_places(hunks: Sequence[ReviewHunk], then: str, now: str, *, exists: bool) -> list[ReviewHunk]:
    """Find hunks of one file's lines, and removals of the file. `exists`: the file exists, and `now` is its text."""
    unplaceable = _unplaceable(hunks, then, now) if then != now else set()
    change = TextChange.of_text(split_lines(then), split_lines(now))
    starts = change.find_switched(map(_switch, (hunk for hunk in hunks if hunk.pending and not hunk.operation)))
    followed = follow_hunks(hunks, change)
    found = []
    for hunk, after in zip(hunks, followed, strict=True):
        if then != now and not hunk.operation:
            certain = hunk.id not in unplaceable
            hunk = _found_lines(hunk, after, change, starts.get(hunk.id), certain=certain)
        if hunk.pending and hunk.operation == "remove":
            hunk = _found_removal(hunk, then, now, exists=exists)
        elif hunk.pending and not hunk.had_file and not hunk.applied and now:
            hunk = hunk.apply(Event.FAILED, reason=FILE_EXISTS)
        found.append(hunk)
    return found


def _switch(hunk: ReviewHunk) -> Switch:
    return Switch(hunk, hunk.new, hunk.old) if hunk.applied else Switch(hunk, hunk.old, hunk.new)


def _found_lines(
    hunk: ReviewHunk, followed: ReviewHunk, change: TextChange, start: int | None, *, certain: bool
) -> ReviewHunk:
    """`start`: where its lines are if it was applied or undone since. `certain`: its place is certain."""
    if not hunk.pending:
        return followed
    other = hunk.old if hunk.applied else hunk.new
    switched = Event.FOUND_TAKEN_BACK if hunk.applied else Event.FOUND_WRITTEN
    if start is None:
        if followed.blocked and other and tuple(change.new[followed.start : followed.end]) == other:
            start = followed.start
        hunk = followed
    if start is not None:
        hunk = hunk.apply(switched, start=start)
        return replace(hunk, created=hunk.applied and not hunk.had_file)
    return hunk if certain and hunk.pending else hunk.apply(Event.FAILED, reason=LINES_CHANGED)


def _unplaceable(hunks: Sequence[ReviewHunk], then: str, now: str) -> set[str]:
    """The ids of the hunks whose place in the current text is uncertain."""
    lines = [hunk for hunk in hunks if hunk.pending and not hunk.operation]
    edits = {hunk.id: hunk.edit_to(applied=not hunk.applied) for hunk in lines}
    path = Path()
    ordered = tuple(sorted(edits.values(), key=lambda hunk: (hunk.start, hunk.end)))
    lost = ambiguous_hunks(ProposedEdit(path, Snapshot(path, then), ordered), Snapshot(path, now))
    return {hunk_id for hunk_id, edit in edits.items() if edit in lost}


def _found_removal(hunk: ReviewHunk, then: str, now: str, *, exists: bool) -> ReviewHunk:
    """A removal applies only to the file as it was shown."""
    if hunk.applied and exists:
        if now == hunk.old_text:
            return hunk.apply(Event.TAKEN_BACK, start=0)
        return hunk.apply(Event.FAILED, reason=FILE_EXISTS)
    if not hunk.applied and now != then:
        return hunk.apply(Event.FAILED, reason=LINES_CHANGED)
    return hunk
