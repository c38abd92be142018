"""What must hold whatever was done when: nothing typed is lost, each hunk is where it belongs, the rest as it was."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tark_lsp.review.decisions import Reviews
from tark_lsp.review.hunk import ReviewHunk
from tark_lsp.workspace.outcomes import MISPLACED
from tests.editors.property.marked_text import Mark, MarkedText

PERSON, AGENT = 0xE000, 0xF0000
"""Characters of private use, each typed once: what the person types, and what the agent does."""
MOST = 6000


def typed_in(text: str) -> set[str]:
    return {item for item in text if PERSON <= ord(item) < PERSON + MOST}


def written_in(text: str) -> set[str]:
    return {item for item in text if AGENT <= ord(item) < AGENT + MOST}


def words_of(hunk: ReviewHunk, hunks: Sequence[ReviewHunk]) -> set[str]:
    """What the hunk writes, without the words of earlier turns, which a hunk of the same turn can remove elsewhere."""
    turn = [other for other in hunks if (other.turn_id, other.path) == (hunk.turn_id, hunk.path)]
    return written_in(hunk.new_text) - written_in("".join(other.old_text for other in turn))


class Wrong(AssertionError):
    """What must hold does not."""


@dataclass(slots=True)
class Oracle:
    reviews: Reviews
    typed: dict[str, Path] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    """Characters that the person took away again."""
    originals: dict[Path, list[tuple[Mark, str]]] = field(default_factory=dict)
    touched: set[Mark] = field(default_factory=set)
    """Lines that the person changed or took away."""
    bases: dict[tuple[str, Path], tuple[list[Mark], bool]] = field(default_factory=dict)
    """The lines a turn's hunks are of; False: carried to newer text before they were hunks, so looks decided."""
    inserted: dict[str, tuple[list[Mark], list[Mark]]] = field(default_factory=dict)
    """The lines that each applied hunk replaced, and those it put there."""
    blurred: set[Path] = field(default_factory=set)
    """Files where the editor wrote over newer text, so that lines lost their identity."""
    shown: set[Path] = field(default_factory=set)
    """Files where the person was told that an edit is in the wrong place, for them to look at."""
    kept: set[Path] = field(default_factory=set)
    """Files where undo kept a part, as it said: with the person's words in it, which may also stand where they were."""
    exempt: set[str] = field(default_factory=set)
    """Hunks that were taken back by other means: the turn undone, the file closed without saving it."""

    def forget(self, path: Path) -> None:
        """The text is not that of before, so of its lines and hunks nothing can be said; of what is typed, it can."""
        self.originals[path] = []
        self.blurred.add(path)
        self.exempt |= {hunk.id for hunk in self.reviews.hunks.find_hunks(path)}

    # Each edit that arrives

    def arrived(
        self, path: Path, text: MarkedText, spans: Sequence[tuple[int, int, list[str]]], label: str, *, newer: bool
    ) -> list[list[Mark]]:
        """Checks that each hunk's edit is about to be made where that hunk belongs; the marks of its new lines."""
        if newer:
            self.blurred.add(path)
        forward = label.startswith("Tark: apply")
        if newer or not label.startswith(("Tark: apply", "Tark: take back")):  # or an undo, or what puts an edit right
            return [self._restored(path, new, text.carried(start, end, new)) for start, end, new in spans]
        hunks = [item for item in self.reviews.hunks.find_hunks(path) if item.life.in_flight]
        lines, marks = [*text.lines], [*text.marks]
        for hunk in reversed(hunks):
            start, end = hunk.start, hunk.end
            new = [*(hunk.new if forward else hunk.old)]
            if new and end < len(text.lines) and not new[-1].endswith(("\n", "\r")):
                new[-1] += "\r\n" if text.lines[end].endswith("\r\n") else "\n"
            if path not in self.blurred:
                self._check_place(hunk, text, start, end, new, forward=forward)
            if forward:
                made = text.carried(start, end, new)
                self.inserted[hunk.id] = (text.marks[start:end], made)
            else:
                old, _ = self.inserted.pop(hunk.id, ([], []))
                carried = self._restored(path, new, text.carried(start, end, new))
                made = old if len(old) == len(new) else carried
            lines[start:end], marks[start:end] = new, made
        return self._sent(text, spans, lines, marks)

    def _sent(
        self, text: MarkedText, spans: Sequence[tuple[int, int, list[str]]], lines: list[str], marks: list[Mark]
    ) -> list[list[Mark]]:
        """Checks that `text` with the edit is `lines`; the marks of the new lines of each span."""
        sent: list[str] = []
        at, found = 0, []
        for first, end, new in spans:
            sent += text.lines[at:first]
            found.append(marks[len(sent) : len(sent) + len(new)])
            sent += new
            at = end
        if [*map(_body, sent), *map(_body, text.lines[at:])] != [*map(_body, lines)]:
            raise Wrong(f"the edit {spans} is not that of its hunks")
        return found

    def _restored(self, path: Path, lines: Sequence[str], marks: Sequence[Mark]) -> list[Mark]:
        """Lines of old that come back are the same lines."""
        known = {line.rstrip("\r\n"): mark for mark, line in self.originals[path] if line.startswith("line")}
        return [known.get(line.rstrip("\r\n"), mark) for line, mark in zip(lines, marks, strict=True)]

    def _check_place(
        self, hunk: ReviewHunk, text: MarkedText, start: int, end: int, new: list[str], *, forward: bool
    ) -> None:
        base, exact = self.bases[hunk.turn_id, hunk.path]
        known = {*base, *self._known_marks(hunk.path)}
        if not forward:
            if hunk.id not in self.inserted:
                return
            wanted = self._to_take_back(hunk, text, known)
        else:
            wanted = base[hunk.proposed.start : hunk.proposed.end]
            if not exact:
                return
        made = [*text.lines[:start], *new, *text.lines[end:]]
        if wanted:
            if self._same(text, start, end, wanted, known):
                return
            at = text.marks.index(wanted[0]) if wanted[0] in text.marks else -1
            if at < 0 and all(text.lines.count(line) > 1 or not line.strip() for line in text.lines[start:end]):
                return  # taken away and typed again
            if at < 0 or text.marks[at : at + len(wanted)] != wanted:
                raise Wrong(f"hunk {hunk.id} is made at line {start}, but its lines are not there any more")
            places = range(at, at + 1)
        elif not forward:
            return  # a removal taken back: where, nobody can say but by its neighbours
        else:
            above = [text.marks.index(item) for item in base[: hunk.proposed.start] if item in text.marks]
            below = [text.marks.index(item) for item in base[hunk.proposed.start :] if item in text.marks]
            places = range(max(above, default=-1) + 1, min(below, default=len(text.marks)) + 1)
        right = ([*text.lines[:at], *new, *text.lines[at + len(wanted) :]] for at in places)
        if made not in right and not any(_run(text.lines, start, at, len(wanted)) for at in places):
            raise Wrong(f"hunk {hunk.id} is made at line {start}, and belongs to {places}")

    def _known_marks(self, path: Path) -> set[Mark]:
        """Those of lines that the person did not type."""
        originals = {mark for mark, _ in self.originals[path]}
        return originals.union(*(made for _, made in self.inserted.values()))

    def _to_take_back(self, hunk: ReviewHunk, text: MarkedText, known: set[Mark]) -> list[Mark]:
        """The lines of an applied hunk. A save can have made blank lines that were typed between them part of it."""
        wanted = self.inserted[hunk.id][1]
        places = [at for at, mark in enumerate(text.marks) if mark in wanted]
        span = range(places[0], places[-1] + 1) if places else range(0)
        more = [at for at in span if text.marks[at] not in wanted]
        typed = all(not text.lines[at].strip() and text.marks[at] not in known for at in more)
        return [text.marks[at] for at in span] if more and typed else wanted

    def _same(self, text: MarkedText, start: int, end: int, wanted: list[Mark], known: set[Mark]) -> bool:
        """Lines that look like others count as the same beside one that does not: no diff can tell them apart.

        So does a line that was taken away and typed again: the undo of an editor does just that.
        """
        if len(text.marks[start:end]) != len(wanted):
            return False
        pairs = list(zip(text.marks[start:end], wanted, text.lines[start:end], strict=True))
        sure = [
            mark == other or (other not in text.marks and mark not in known)
            for mark, other, line in pairs
            if text.lines.count(line) == 1
        ]
        return all(sure) and (bool(sure) or text.marks[start:end] == wanted)

    # Once all is quiet

    def look(self) -> None:
        self.shown |= {hunk.path for hunk in self.reviews.hunks.find_hunks() if hunk.reason == MISPLACED}

    def check(self, texts: dict[Path, str]) -> None:
        hunks = self.reviews.hunks.find_hunks()
        self.look()
        for path, text in texts.items():
            self._check_typed(path, text, hunks)
            if path not in self.shown:
                self._check_originals(path, text, [item for item in hunks if item.path == path])
        for hunk in hunks:
            if hunk.path in texts and hunk.path not in self.shown and hunk.id not in self.exempt:
                self._check_hunk(hunk, texts[hunk.path], hunks)

    def _check_typed(self, path: Path, text: str, hunks: Sequence[ReviewHunk]) -> None:
        for item, home in self.typed.items():
            if home != path or item in self.gone:
                continue
            found, wanted = text.count(item), 1 + self._copies(item, path, hunks)
            removed = any(hunk.applied and item in hunk.old_text and item not in "".join(hunk.new) for hunk in hunks)
            shown = any(
                item in hunk.reason or (item in "".join(hunk.new) and (not hunk.applied or hunk.id in self.exempt))
                for hunk in hunks
            )
            if found > 1 and path in self.kept:
                continue
            if path in self.shown and (found > 1 or self._is_shown(item, hunks)):
                continue
            if found != wanted and not (found == 0 and (removed or shown)):
                raise Wrong(f"{item!a}, which the person typed, is in {path.name} {found} times, not {wanted}")

    def _copies(self, character: str, path: Path, hunks: Sequence[ReviewHunk]) -> int:
        """How often the agent wrote it elsewhere: one hunk writes a line again that another, in conflict, removes."""
        added = 0
        for hunk in hunks:
            if hunk.path == path and hunk.applied and hunk.id not in self.exempt:
                written = min(text.count(character) for text in ("".join(hunk.proposed.new), hunk.new_text))
                added += written - hunk.old_text.count(character)
        return max(0, added)

    def _is_shown(self, character: str, hunks: Sequence[ReviewHunk]) -> bool:
        """By a hunk that says it is in the wrong place, with both texts of it."""
        return any(hunk.reason == MISPLACED and character in hunk.old_text for hunk in hunks)

    def _check_originals(self, path: Path, text: str, hunks: Sequence[ReviewHunk]) -> None:
        lines = text.splitlines()
        last = -1
        for mark, whole in self.originals[path]:
            line = whole.rstrip("\r\n")  # a last line without an ending gets one where others follow it
            if mark in self.touched or not line.startswith("line") or written_in(line):
                continue
            if any(hunk.applied and line in _bodies(hunk.old) - _bodies(hunk.new) for hunk in hunks):
                continue
            if lines.count(line) != 1:
                raise Wrong(f"{line!r}, which nobody touched, is in {path.name} {lines.count(line)} times")
            if lines.index(line) < last:
                raise Wrong(f"{line!r} of {path.name} is out of order")
            last = lines.index(line)

    def _check_hunk(self, hunk: ReviewHunk, text: str, hunks: Sequence[ReviewHunk]) -> None:
        if hunk.state in ("accepted", "rejected") and hunk.applied is not (hunk.state == "accepted"):
            raise Wrong(f"hunk {hunk.id} is {hunk.state} and applied: {hunk.applied}")
        if hunk.state == "pending":
            lines = tuple(text.splitlines(keepends=True)[hunk.start : hunk.end])
            if lines != hunk.standing:
                raise Wrong(f"hunk {hunk.id} is pending and stands not at line {hunk.start} of {hunk.path.name}")
        if hunk.state not in ("pending", "accepted", "rejected"):
            return
        others = [item for item in hunks if item is not hunk and item.applied]
        for item in words_of(hunk, hunks):
            found = text.count(item)
            if hunk.applied:
                removed = item in self.gone or any(item in other.old_text for other in others)
                if found != 1 and not (found == 0 and removed):
                    raise Wrong(f"hunk {hunk.id} is applied, and {item!a} of it is there {found} times")
            elif found and not any(item in "".join(other.new) for other in others):
                raise Wrong(f"hunk {hunk.id} is {hunk.state}, not applied, and {item!a} of it is there")


def _bodies(lines: Sequence[str]) -> set[str]:
    """The lines without their endings: a last line gets one if others follow it."""
    return {*map(_body, lines)}


def _body(line: str) -> str:
    return line.rstrip("\r\n")


def _run(lines: Sequence[str], one: int, other: int, size: int) -> bool:
    """Are both places among lines that are all the same? Which of those was typed no diff can tell."""
    return len(set(lines[min(one, other) : max(one, other) + size])) <= 1
