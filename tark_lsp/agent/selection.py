"""Where the selection of a turn is now, and whether an edit stays inside it. Pure.

The person and the agent both change the text around and inside the selection while the turn runs; offsets are code
points, `start` included, `end` excluded.
"""

from dataclasses import replace

from tark_lsp.tools.tool import Selection
from tark_lsp.workspace.edits import Hunk, ProposedEdit, map_range, split_lines
from tark_lsp.workspace.snapshot import Snapshot


def locate(selection: Selection, text: str) -> tuple[int, int] | None:
    """The selection in a newer `text` of its file; None where the person changed what was selected."""
    return map_range(selection.snapshot.text, text, selection.start, selection.end)


def outside(edit: ProposedEdit, selection: Selection | None) -> tuple[Hunk, ...]:
    """The hunks that change a character outside the selection; none where the turn has no selection."""
    if selection is None:
        return ()
    if edit.path != selection.snapshot.path:
        return edit.hunks
    place = locate(selection, edit.base.text)
    if place is None:
        return edit.hunks
    start, end = place
    lengths = [len(line) for line in split_lines(edit.base.text)]
    beyond = []
    for hunk in edit.hunks:
        first, last = changed_characters(hunk, sum(lengths[: hunk.start]))
        if first < start or last > end:
            beyond.append(hunk)
    return tuple(beyond)


def changed_characters(hunk: Hunk, offset: int) -> tuple[int, int]:
    """The part of a hunk's old text that really differs, as offsets in the file; `offset`: where the hunk begins."""
    old, new = hunk.old_text, hunk.new_text
    shorter = min(len(old), len(new))
    head = next((index for index in range(shorter) if old[index] != new[index]), shorter)
    tail = next((index for index in range(shorter - head) if old[-1 - index] != new[-1 - index]), shorter - head)
    return offset + head, offset + len(old) - tail


def follow(selection: Selection, edit: ProposedEdit, now: Snapshot) -> Selection:
    """The selection after the agent's `edit` was applied and the file became `now`.

    What the agent wrote inside or across the selection belongs to it from then on. Where it can no longer be found the
    selection stays as it was, and further edits of it are refused as conflicts.
    """
    if edit.path != selection.snapshot.path:
        return selection
    place = locate(selection, edit.base.text)
    if place is None:
        return selection
    start, end = place
    lengths = [len(line) for line in split_lines(edit.base.text)]
    shift_start = shift_end = 0
    for hunk in edit.hunks:
        first, last = changed_characters(hunk, sum(lengths[: hunk.start]))
        grown = len(hunk.new_text) - len(hunk.old_text)
        if last < start or (last == start and first < start):
            shift_start += grown
            shift_end += grown
        elif first <= end:
            shift_end += grown
    drafted = Selection(edit.drafted, start + shift_start, end + shift_end)
    carried = locate(drafted, now.text)
    return selection if carried is None else replace(drafted, snapshot=now, start=carried[0], end=carried[1])
