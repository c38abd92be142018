"""Limits the changes of a formatter to the lines of an edit. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.lines import Hunk, ending_of, line_changes, split_lines

MOST_NAMED = 3
MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class KeptText:
    """`text`: the text with only the changes inside the lines of the edit. `dropped`: the lines (from 1) of the changes
    outside, which are left out."""

    text: str
    dropped: tuple[int, ...] = ()

    @property
    def describe_dropped(self) -> str:
        shown = ", ".join(map(str, self.dropped[:MOST_NAMED]))
        more = f" and {len(self.dropped) - MOST_NAMED} more" if len(self.dropped) > MOST_NAMED else ""
        return f"line{'s' * (len(self.dropped) > 1)} {shown}{more}"


def keep_to_hunks(own: ProposedEdit, answered: str) -> KeptText:
    """`own`: the proposed edit, on the text it was made for. `answered`: a hook's replacement for `own.after`."""
    proposed = own.after
    answered = _in_its_form(answered, proposed) if own.base.text else answered
    if proposed == answered:
        return KeptText(proposed)
    places = list(_new_places(own.hunks))
    lines = split_lines(proposed)
    kept: list[str] = []
    dropped: list[int] = []
    at = 0
    for change in _single_lines(line_changes(proposed, answered)):
        inside = any(first <= change.start and change.end <= last for first, last in places)
        if not inside or not _fits(change, lines):
            dropped.append(change.start + 1)
            continue
        kept += [*lines[at : change.start], *change.new]
        at = change.end
    return KeptText("".join([*kept, *lines[at:]]), tuple(dropped))


def _in_its_form(answered: str, proposed: str) -> str:
    """`answered` with the line ending of the file, if the file has only one kind, and without a byte order mark if the
    file has none. Many programs convert every line ending to a line feed."""
    if not proposed.startswith(MARK):
        answered = answered.removeprefix(MARK)
    endings = {ending_of(line) for line in split_lines(proposed)} - {""}
    if len(endings) != 1:
        return answered
    return answered.replace("\r\n", "\n").replace("\r", "\n").replace("\n", endings.pop())


def _new_places(hunks: Sequence[Hunk]) -> Iterator[tuple[int, int]]:
    """The ranges of lines of the new text that the hunks wrote. A hunk that only removes lines has none."""
    grown = 0
    for hunk in hunks:
        first = hunk.start + grown
        grown += len(hunk.new) - len(hunk.old)
        if hunk.new:
            yield first, first + len(hunk.new)


def _single_lines(changes: Sequence[Hunk]) -> Iterator[Hunk]:
    """Splits changes that keep the number of lines into single lines, because one line can be inside the edit and the
    next one outside."""
    for change in changes:
        if len(change.old) != len(change.new):
            yield change
            continue
        for index, (old, new) in enumerate(zip(change.old, change.new, strict=True)):
            yield Hunk(change.start + index, (old,), (new,))


def _fits(change: Hunk, lines: Sequence[str]) -> bool:
    """Whether every line in the middle of the text would keep its line ending."""
    if not change.new:
        return True
    ends = change.new[-1].endswith(("\n", "\r")) or change.end == len(lines)
    before = change.start == 0 or lines[change.start - 1].endswith(("\n", "\r"))
    return ends and before
