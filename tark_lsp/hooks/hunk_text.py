"""Keeps what a formatter changed to the lines of an edit. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.lines import Hunk, ending_of, line_changes, split_lines

MOST_NAMED = 3
MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class KeptText:
    """`text`: with the changes inside the lines of the edit. `dropped`: the lines (from 1) of those outside."""

    text: str
    dropped: tuple[int, ...] = ()

    @property
    def describe_dropped(self) -> str:
        shown = ", ".join(map(str, self.dropped[:MOST_NAMED]))
        more = f" and {len(self.dropped) - MOST_NAMED} more" if len(self.dropped) > MOST_NAMED else ""
        return f"line{'s' * (len(self.dropped) > 1)} {shown}{more}"


def keep_to_hunks(own: ProposedEdit, answered: str) -> KeptText:
    """`own`: the edit on top of the text it was made for. `answered`: what a hook wants in place of `own.after`."""
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
    """With the line ending of the file, if it has one kind, and no byte order mark that it does not have. Programs
    that read text as Python does make every ending a line feed."""
    if not proposed.startswith(MARK):
        answered = answered.removeprefix(MARK)
    endings = {ending_of(line) for line in split_lines(proposed)} - {""}
    if len(endings) != 1:
        return answered
    return answered.replace("\r\n", "\n").replace("\r", "\n").replace("\n", endings.pop())


def _new_places(hunks: Sequence[Hunk]) -> Iterator[tuple[int, int]]:
    """The lines of the new text that the hunks wrote. What only removes lines wrote none."""
    grown = 0
    for hunk in hunks:
        first = hunk.start + grown
        grown += len(hunk.new) - len(hunk.old)
        if hunk.new:
            yield first, first + len(hunk.new)


def _single_lines(changes: Sequence[Hunk]) -> Iterator[Hunk]:
    """Changes of as many lines as before line by line: one of them can be inside, and the next one outside."""
    for change in changes:
        if len(change.old) != len(change.new):
            yield change
            continue
        for index, (old, new) in enumerate(zip(change.old, change.new, strict=True)):
            yield Hunk(change.start + index, (old,), (new,))


def _fits(change: Hunk, lines: Sequence[str]) -> bool:
    """Whether no line would lose its ending in the middle of the text."""
    if not change.new:
        return True
    ends = change.new[-1].endswith(("\n", "\r")) or change.end == len(lines)
    before = change.start == 0 or lines[change.start - 1].endswith(("\n", "\r"))
    return ends and before
