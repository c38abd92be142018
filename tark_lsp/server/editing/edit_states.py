"""The texts that an edit can lead to in an editor that applies it by line numbers, at once or line by line. Pure."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from tark_lsp.server.editing.text_edits import Position, TextEdit
from tark_lsp.workspace.edits import ProposedEdit, rebase
from tark_lsp.workspace.lines import Hunk, ending_of, line_changes, split_lines
from tark_lsp.workspace.positions import from_client
from tark_lsp.workspace.snapshot import Snapshot


def removes_nothing(edit: ProposedEdit, before: list[str]) -> bool:
    """Does the edit at its old places remove only empty lines of this text?"""
    return not any(line.strip() for hunk in edit.hunks for line in before[hunk.start : hunk.end])


def makes(sent: Sequence[TextEdit], encoding: str, before: list[str], now: list[str]) -> bool:
    """Do the edits, at their old places, turn the text `before` into `now`?"""
    (start, character), new = sent[0].start, sent[0].lines
    whole = character == 0 and len(before) > start and new and new[0] != "\n" and new[-1].endswith("\n")
    if whole and now[start : start + len(new)] != new:
        return False  # a quick check that does not look at the whole text
    return at_old_places(sent, encoding, before) == now != before


def is_in_progress(edit: ProposedEdit, *texts: str) -> bool:
    """Are these texts states of this edit, made line by line and not complete? Neovim reports each replaced line.

    Typed text is not mistaken for such a state: inside the hunks there are only lines of the edit, and outside nothing
    changed, except for an empty last line, which Neovim adds for an edit at the end of the text and then removes.
    """
    endings = ("\r\n" if text.endswith("\r\n") else "\n" for text in texts)
    return all(
        _is_of(edit, text) or _is_of(edit, text.removesuffix(ending))
        for text, ending in zip(texts, endings, strict=True)
    )


def _is_of(edit: ProposedEdit, text: str) -> bool:
    return all(
        any(
            hunk.start <= change.start
            and change.end <= hunk.end
            and _bodies(change.new) <= _bodies((*hunk.old, *hunk.new))
            for hunk in edit.hunks
        )
        for change in line_changes(edit.base.text, text)
    )


def is_made_of(sent: Sequence[TextEdit], encoding: str, old: Sequence[str], now: Sequence[str]) -> bool:
    """Is `now` a state of these edits at their old places in `old`, made one by one or line by line?

    Such a text was not typed. An edit first replaces lines with lines, and then adds or removes the surplus lines.
    """
    hunks = [_whole_lines(edit, encoding, old) for edit in sent]
    if any(hunk.start < before.end for before, hunk in pairwise(hunks)):  # past the end of `old`: all in its last line
        parts = (part for at in range(len(sent)) for part in (sent[:at], sent[at:]))
        return any(at_old_places(part, encoding, old) == now for part in parts)
    at, growths = 0, {0}
    for hunk in hunks:
        growths = {
            grown + size - len(hunk.old)
            for grown in growths
            if old[at : hunk.start] == now[at + grown : hunk.start + grown]
            for size in {len(hunk.old), len(hunk.new)}
            if _is_mixed(now[hunk.start + grown : hunk.start + grown + size], hunk.old, hunk.new)
        }
        if not growths:
            return False
        at = hunk.end
    return any(old[at:] == now[at + grown :] for grown in growths)


def _whole_lines(edit: TextEdit, encoding: str, lines: Sequence[str]) -> Hunk:
    """What the edit does to these lines, which can differ from the lines that it was made for."""
    (first, head), (last, tail) = (_place_in(lines, place, encoding) for place in (edit.start, edit.end))
    new = edit.lines
    if head or tail or (new and not ending_of(new[-1]) and last < len(lines)):
        before, after = (lines[first][:head] if head else ""), (lines[last][tail:] if last < len(lines) else "")
        new, last = split_lines(before + edit.text + after), last + 1
    return Hunk(first, tuple(lines[first:last]), tuple(new))


def _place_in(lines: Sequence[str], place: Position, encoding: str) -> Position:
    """The place in code points. A place past the end of a line or the text becomes that end."""
    line, character = place
    if line < len(lines):
        return line, from_client(lines[line], character, encoding)
    return (len(lines) - 1, len(lines[-1])) if lines and not ending_of(lines[-1]) else (len(lines), 0)


def is_in(edit: ProposedEdit, current: Snapshot) -> bool:
    if current.text == edit.base.text:
        return False
    remaining, conflicts = rebase(edit, current)
    return not remaining.hunks and not conflicts


def at_old_places(sent: Sequence[TextEdit], encoding: str, lines: Sequence[str]) -> list[str]:
    """The lines of a newer text after an editor applied the edits to it by their positions alone."""
    made: list[str] = []
    at = (0, 0)
    for edit in sent:
        _add(made, _between(lines, at, edit.start, encoding))
        _add(made, edit.lines)
        at = edit.end
    _add(made, _between(lines, at, (len(lines), 0), encoding))
    return made


def _between(lines: Sequence[str], start: Position, end: Position, encoding: str) -> list[str]:
    """The lines from one position to another. The first and the last can be parts of lines."""
    found = [*lines[start[0] : end[0] + (end[1] > 0)]]
    if end[1] and found and end[0] < len(lines):
        found[-1] = found[-1][: from_client(found[-1], end[1], encoding)]
    if start[1] and found and start[0] < len(lines):
        found[0] = found[0][from_client(lines[start[0]], start[1], encoding) :]
    return [*filter(None, found)]


def _add(lines: list[str], more: Sequence[str]) -> None:
    """Add lines of a text. A line without a line ending, or with half of one, is joined with the next line."""
    if lines and more and (not ending_of(lines[-1]) or (lines[-1].endswith("\r") and more[0] == "\n")):
        lines[-1:] = split_lines(lines[-1] + more[0])
        more = more[1:]
    lines += more


def _is_mixed(lines: Sequence[str], old: Sequence[str], new: Sequence[str]) -> bool:
    """Is each line the line of `old` or of `new` at its place?

    The remaining lines are those of `old`. If they are those of `new`, the lines before are those of `new`, too.
    """
    both = min(len(old), len(new))
    rest, old_rest, new_rest = ([*map(_body, some[both:])] for some in (lines, old, new))
    if rest == new_rest != old_rest:
        return [*map(_body, lines)] == [*map(_body, new)]
    return rest == old_rest and all(
        _body(line) in (_body(one), _body(other)) for line, one, other in zip(lines[:both], old, new, strict=False)
    )


def _body(line: str) -> str:
    """The line without its ending. A last line has no ending until other lines follow it."""
    return line.rstrip("\r\n")


def _bodies(lines: Iterable[str]) -> set[str]:
    return {*map(_body, lines)}
