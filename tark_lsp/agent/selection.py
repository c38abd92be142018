"""Where the selection of a turn is now, and whether an edit stays inside it. Pure.

The person and the agent both change the text around and inside the selection while the turn runs; offsets are code
points, `start` included, `end` excluded.
"""

from collections.abc import Iterator
from dataclasses import replace

from tark_lsp.tools.tool import Selection
from tark_lsp.workspace.edits import MOVED, ProposedEdit, map_range
from tark_lsp.workspace.lines import Hunk, common_prefix, common_suffix, count_lines, split_lines
from tark_lsp.workspace.snapshot import Snapshot


def locate(selection: Selection, text: str) -> tuple[int, int] | None:
    """The selection in a newer `text` of its file; None where the person changed what was selected."""
    return map_range(selection.snapshot.text, text, selection.start, selection.end)


def divided(edit: ProposedEdit, selection: Selection | None) -> ProposedEdit:
    """The same edit in hunks of which each can be decided alone.

    None is joined across a border of the selection. Among equal lines, hunks that together change only the selection
    may change more than that alone (one takes a line of which a part is selected, another brings the rest of it back):
    they are made one.
    """
    if selection is None or edit.removes or edit.path != selection.snapshot.path:
        return edit
    place = locate(selection, edit.base.text)
    if place is None:
        return edit
    start, end = place
    text = edit.base.text
    first, last = count_lines(text[:start]), count_lines(text[:end])
    if end == start or not text[:end].endswith(("\n", "\r")):  # the selection ends inside this line
        last += 1
    parted = replace(edit, hunks=ProposedEdit.between(edit.base, edit.after, (first, last)).hunks)
    together = len(parted.hunks) > 1 and not edit.operation and only_between(text, edit.after, start, end)
    return joined(parted) if together and outside(parted, selection) else parted


def joined(edit: ProposedEdit) -> ProposedEdit:
    """The same edit as one hunk."""
    lines, after = split_lines(edit.base.text), split_lines(edit.after)
    start, end = edit.hunks[0].start, edit.hunks[-1].end
    new = tuple(after[start : len(after) - (len(lines) - end)])
    return replace(edit, hunks=(Hunk(start, tuple(lines[start:end]), new),))


def outside(edit: ProposedEdit, selection: Selection | None) -> tuple[Hunk, ...]:
    """The hunks that change a character outside the selection; none where the turn has no selection.

    Any of the others may be applied without the rest: each is judged by its own text, see `divided`. What removes or
    moves the file does so to all of it; a move's hunk without lines is among them.
    """
    if selection is None:
        return ()
    if edit.operation:
        return edit.hunks if edit.removes else (*edit.hunks, MOVED)
    if edit.path != selection.snapshot.path:
        return edit.hunks
    place = locate(selection, edit.base.text)
    if place is None:
        return edit.hunks
    if len(edit.hunks) == 1 and only_between(edit.base.text, edit.after, *place):
        return ()  # among equal lines, a hunk may stand beside the selection and yet change nothing there
    start, end = place
    beyond = []
    for hunk, offset in with_offsets(edit):
        old = hunk.old_text
        touches = offset <= end and start <= offset + len(old)
        if not touches or not only_between(old, hunk.new_text, max(0, start - offset), max(0, end - offset)):
            beyond.append(hunk)
    return tuple(beyond)


def only_between(old: str, new: str, start: int, end: int) -> bool:
    """Whether `old` can become `new` by changing nothing but `old[start:end]`."""
    kept = len(old[:start]) + len(old[end:])
    return len(new) >= kept and new.startswith(old[:start]) and new.endswith(old[end:])


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
    after = edit.after
    if only_between(edit.base.text, after, start, end):
        end += len(after) - len(edit.base.text)
    else:
        start, end = carried(start, end, edit)
    carried_on = locate(Selection(edit.drafted, start, end), now.text)
    return selection if carried_on is None else Selection(now, *carried_on)


def carried(start: int, end: int, edit: ProposedEdit) -> tuple[int, int]:
    """`start` and `end` of the edit's base in the text it leads to; what is written across them is taken in."""
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
    """The part of a hunk's old text that really differs, as offsets in the file; `offset`: where the hunk begins."""
    old, new = hunk.old_text, hunk.new_text
    head = common_prefix(old, new)
    tail = common_suffix(old, new, min(len(old), len(new)) - head)
    return offset + head, offset + len(old) - tail


def with_offsets(edit: ProposedEdit) -> Iterator[tuple[Hunk, int]]:
    """Each hunk with the offset in the base where it begins."""
    lines = split_lines(edit.base.text)
    at = line = 0
    for hunk in edit.hunks:
        at += sum(map(len, lines[line : hunk.start]))
        line = hunk.start
        yield hunk, at
