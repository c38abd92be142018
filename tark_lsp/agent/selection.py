"""Tracks the selection of a turn through changes, and checks whether an edit stays inside it. Pure.

The user and the agent can both change the text around and inside the selection while the turn runs. Offsets are in code
points, with `start` included and `end` excluded.
"""

from collections.abc import Iterator
from dataclasses import replace

from tark_lsp.tools.tool import Selection
from tark_lsp.workspace.edits import MOVED, ProposedEdit, map_range
from tark_lsp.workspace.lines import Hunk, common_prefix, common_suffix, count_lines, split_lines
from tark_lsp.workspace.snapshot import Snapshot


def locate_selection(selection: Selection, text: str) -> tuple[int, int] | None:
    """The selection in a newer `text` of its file; None if the user changed the selected text."""
    return map_range(selection.snapshot.text, text, selection.start, selection.end)


def divide_at_selection(edit: ProposedEdit, selection: Selection | None) -> ProposedEdit:
    """The same edit, divided into hunks that can be decided independently of each other.

    No hunk crosses a border of the selection. Between equal lines, hunks that together change only the selection can
    change more when applied alone: one removes a line that is partly selected, and another adds its rest again. Such
    hunks are joined into one.
    """
    borders = borders_in(edit, selection)
    if not borders:
        return edit
    parted = replace(edit, hunks=ProposedEdit.between(edit.base, edit.after, borders).hunks)
    return joined(parted) if is_decided_together(parted, selection) else parted


def borders_in(edit: ProposedEdit, selection: Selection | None) -> tuple[int, ...]:
    """The lines of the edit's base where the selection begins and ends; empty if it is not in this text."""
    if selection is None or edit.removes or edit.path != selection.snapshot.path:
        return ()
    text = edit.base.text
    place = locate_selection(selection, text)
    if place is None:
        return ()
    start, end = place
    first, last = count_lines(text[:start]), count_lines(text[:end])
    if end == start or not text[:end].endswith(("\n", "\r")):  # the selection ends inside this line
        last += 1
    return first, last


def is_decided_together(parted: ProposedEdit, selection: Selection | None) -> bool:
    """Whether the hunks together change only the selection, but change more when applied alone."""
    if len(parted.hunks) < 2 or parted.operation or not borders_in(parted, selection) or selection is None:
        return False
    place = locate_selection(selection, parted.base.text)
    inside = place is not None and changes_only_between(parted.base.text, parted.after, *place)
    return inside and bool(hunks_outside_selection(parted, selection))


def joined(edit: ProposedEdit) -> ProposedEdit:
    """The same edit as one hunk."""
    lines, after = edit.base.lines, split_lines(edit.after)
    start, end = edit.hunks[0].start, edit.hunks[-1].end
    new = tuple(after[start : len(after) - (len(lines) - end)])
    return replace(edit, hunks=(Hunk(start, tuple(lines[start:end]), new),))


def hunks_outside_selection(edit: ProposedEdit, selection: Selection | None) -> tuple[Hunk, ...]:
    """The hunks that change a character outside the selection; empty if the turn has no selection.

    Every hunk is checked by its own text, so each of the others can be applied alone (see `divide_at_selection`). A
    removal or move of the file counts as outside. A move is represented by a hunk without lines.
    """
    if selection is None:
        return ()
    if edit.operation:
        return edit.hunks if edit.removes else (*edit.hunks, MOVED)
    if edit.path != selection.snapshot.path:
        return edit.hunks
    place = locate_selection(selection, edit.base.text)
    if place is None:
        return edit.hunks
    if len(edit.hunks) == 1 and changes_only_between(edit.base.text, edit.after, *place):
        return ()  # between equal lines, a hunk beside the selection can still change only the selection
    start, end = place
    beyond = []
    for hunk, offset in with_offsets(edit):
        old = hunk.old_text
        touches = offset <= end and start <= offset + len(old)
        if not touches or not changes_only_between(old, hunk.new_text, max(0, start - offset), max(0, end - offset)):
            beyond.append(hunk)
    return tuple(beyond)


def changes_only_between(old: str, new: str, start: int, end: int) -> bool:
    """Whether `old` can become `new` by changing only `old[start:end]`."""
    kept = len(old[:start]) + len(old[end:])
    return len(new) >= kept and new.startswith(old[:start]) and new.endswith(old[end:])


def follow_selection(selection: Selection, edit: ProposedEdit, now: Snapshot) -> Selection:
    """The selection after the agent's `edit` was applied and the file became `now`.

    Text that the agent wrote inside or across the selection belongs to the selection. If the selection cannot be found
    any more, it stays unchanged, and further edits of it are refused as conflicts.
    """
    if edit.path != selection.snapshot.path:
        return selection
    place = locate_selection(selection, edit.base.text)
    if place is None:
        return selection
    start, end = place
    after = edit.after
    if changes_only_between(edit.base.text, after, start, end):
        end += len(after) - len(edit.base.text)
    else:
        start, end = carried(start, end, edit)
    carried_on = locate_selection(Selection(edit.drafted, start, end), now.text)
    return selection if carried_on is None else Selection(now, *carried_on)


def carried(start: int, end: int, edit: ProposedEdit) -> tuple[int, int]:
    """`start` and `end` of the edit's base in the resulting text. Text that was written across them is included."""
    before = inside = 0
    first, last = start, end
    for hunk, offset in with_offsets(edit):
        begin, stop = changed_characters(hunk, offset)
        grown = len(hunk.new_text) - len(hunk.old_text)
        if stop < start or (stop == start and begin < start):
            before += grown
        elif begin <= end:
            first, last = min(first, begin), max(last, stop)
            inside += grown
    return first + before, last + before + inside


def changed_characters(hunk: Hunk, offset: int) -> tuple[int, int]:
    """The part of a hunk's old text that changes, as offsets in the file. `offset` is the start of the hunk."""
    old, new = hunk.old_text, hunk.new_text
    head = common_prefix(old, new)
    tail = common_suffix(old, new, min(len(old), len(new)) - head)
    return offset + head, offset + len(old) - tail


def with_offsets(edit: ProposedEdit) -> Iterator[tuple[Hunk, int]]:
    """Every hunk with the offset of its start in the base."""
    lines = edit.base.lines
    at = line = 0
    for hunk in edit.hunks:
        at += sum(map(len, lines[line : hunk.start]))
        line = hunk.start
        yield hunk, at
