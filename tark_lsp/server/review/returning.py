"""Where the hunks of an earlier server stand in the text of now, and which of them can still be decided. Pure.

Each stood in a text of then, as its old lines or, once applied, its new ones. Where either of the two stands now, it is
to be decided; where nobody can tell, it is stale, and nothing is written for it.
"""

from collections.abc import Sequence
from pathlib import Path

from tark_lsp.server.review.hunks import ReviewHunk, carry
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.lines import split_lines
from tark_lsp.workspace.mooring import unmoored
from tark_lsp.workspace.snapshot import Snapshot

AWAY = "its lines were changed since it was made"
THERE = "there is such a file by now"


def bring_to(hunks: Sequence[ReviewHunk], then: str, now: str, *, exists: bool) -> None:
    """Hunks of lines of one file, and removals of it. `exists`: there is a file, `now` its text."""
    if then != now:
        _carry([each for each in hunks if not each.operation], then, now)
    for each in hunks:
        if not each.open:
            continue
        if each.operation == "remove":
            _look_at_removal(each, then, now, exists=exists)
        elif not each.of_file and not each.applied and now:
            fade(each, THERE)


def fade(each: ReviewHunk, reason: str) -> None:
    each.state, each.reason = "stale", reason


def _carry(hunks: Sequence[ReviewHunk], then: str, now: str) -> None:
    before, after = split_lines(then), split_lines(now)
    doubtful = _doubtful(hunks, then, now)
    waiting = {each: each.start for each in hunks if each.open}
    was_applied = {each for each in waiting if each.applied}
    untouched = [each for each in waiting if each not in was_applied]
    for each in untouched:  # looked at as one that redo may bring again: its new lines may stand there
        each.state, each.undone = "rejected", True
    carry(hunks, before, after)
    again = [each for each in untouched if each.undone]
    for each in again:
        each.state, each.undone = "pending", False
        each.stand(waiting[each], applied=False)
    carry(again, before, after)
    for each in waiting:
        switched = each.applied is not (each in was_applied)
        if not switched and each.lost:
            other = each.hunk.old if each.applied else each.new
            switched = bool(other) and tuple(after[each.start : each.end]) == other
            if switched:
                each.stand(each.start, applied=not each.applied)
        if switched:
            each.state, each.reason, each.undone = "pending", "", False
            each.created = each.applied and not each.of_file
        elif each.lost or each in doubtful:
            fade(each, AWAY)


def _doubtful(hunks: Sequence[ReviewHunk], then: str, now: str) -> set[ReviewHunk]:
    """Those whose place in the text of now nobody can tell."""
    edits = {each: each.towards(applied=not each.applied) for each in hunks if each.open}
    path = Path()
    ordered = tuple(sorted(edits.values(), key=lambda hunk: (hunk.start, hunk.end)))
    lost = unmoored(ProposedEdit(path, Snapshot(path, then), ordered), Snapshot(path, now))
    return {each for each, edit in edits.items() if edit in lost}


def _look_at_removal(each: ReviewHunk, then: str, now: str, *, exists: bool) -> None:
    """It is of the file as it was shown, and of no other."""
    if each.applied and exists:
        if now != each.hunk.old_text:
            fade(each, THERE)
        else:
            each.stand(0, applied=False)
    elif not each.applied and now != then:
        fade(each, AWAY)
