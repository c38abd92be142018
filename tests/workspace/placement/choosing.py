"""Kinds of cases that differ in the place of the block: several places, text that changed since, earlier edits."""

from collections.abc import Mapping
from itertools import pairwise
from random import Random

from tests.workspace.placement.case import Case
from tests.workspace.placement.making import (
    Lines,
    Spot,
    change_line,
    changed,
    fresh,
    indentation,
    joined,
    places,
    sent,
    some_spot,
    typed,
    typed_around,
)
from tests.workspace.placement.quoting import Maker

FAR = 40
"""Lines between copies that a hint must distinguish."""


def _copied(random: Random, text: str, apart: int = FAR) -> Spot | None:
    """A block with one to three copies of it, each at least `apart` lines away from the next."""
    spot = some_spot(random, text)
    if spot is None:
        return None
    before, after = spot.before, spot.after
    for _ in range(random.randint(1, 3)):
        above = random.random() < 0.5
        if above and len(before) > apart:
            at = random.randrange(len(before) - apart)
            before = [*before[:at], *spot.block, *before[at:]]
        elif len(after) > apart:
            at = random.randrange(apart, len(after))
            after = [*after[:at], *spot.block, *after[at:]]
    made = Spot(before, spot.block, after)
    starts = _starts(made)
    if len(starts) < 2 or any(b - a < apart for a, b in pairwise(starts)):
        return None
    return made


def _starts(spot: Spot) -> list[int]:
    """The lines, from 1, at which the block and its copies begin."""
    lines, size = spot.lines, len(spot.block)
    return [at + 1 for at in range(len(lines)) if lines[at : at + size] == spot.block]


def _sent(random: Random, spot: Spot) -> tuple[str, str, Lines]:
    new = changed(random, spot.block)
    return *sent(random, spot.block, new), new


def ambiguous(random: Random, text: str) -> Case | None:
    spot = _copied(random, text, apart=1)
    if spot is None:
        return None
    old, new, _ = _sent(random, spot)
    return Case("ambiguous", spot.text, spot.text, old, new, None, False)


def repeated_line(random: Random, text: str) -> Case | None:
    """A line that occurs several times in the real file."""
    lines = text.split("\n")[:-1]
    line = random.choice(lines)
    if not line.strip() or lines.count(line) < 2:
        return None
    name = f"{indentation(line)}{fresh(random)}()"
    old, new = sent(random, [line], [name])
    at = random.choice([at for at, other in enumerate(lines) if other == line])
    hint, expected = None, None
    if random.random() < 0.5:
        hint, expected = at + 1, joined([*lines[:at], name, *lines[at + 1 :]])
    return Case("repeated line" + (", right hint" if hint else ""), text, text, old, new, expected, bool(hint), hint)


def hint_right(random: Random, text: str) -> Case | None:
    spot = _copied(random, text)
    if spot is None:
        return None
    now = typed_around(random, spot) if random.random() < 0.5 else spot
    old, new, lines = _sent(random, spot)
    kind = "ambiguous, right hint" + (", shifted" if now is not spot else "")
    return Case(kind, spot.text, now.text, old, new, now.put(lines), True, spot.line)


def hint_slightly_off(random: Random, text: str) -> Case | None:
    spot = _copied(random, text)
    if spot is None:
        return None
    old, new, lines = _sent(random, spot)
    hint = max(1, spot.line + random.choice([-8, -5, -2, -1, 1, 2, 5, 8]))
    return Case("ambiguous, hint off by 1 to 8", spot.text, spot.text, old, new, spot.put(lines), True, hint)


def hint_between(random: Random, text: str) -> Case | None:
    spot = _copied(random, text, apart=4)
    if spot is None:
        return None
    starts = _starts(spot)
    at = starts.index(spot.line)
    other = starts[at + 1] if at + 1 < len(starts) else starts[at - 1]
    old, new, _ = _sent(random, spot)
    return Case("ambiguous, hint between", spot.text, spot.text, old, new, None, False, (spot.line + other) // 2)


def hint_far_off(random: Random, text: str) -> Case | None:
    """The hint is not near any place."""
    spot = _copied(random, text)
    if spot is None:
        return None
    hint = random.randint(1, 2 * len(spot.lines))
    if any(abs(start - hint) <= 15 for start in _starts(spot)):
        return None
    old, new, _ = _sent(random, spot)
    return Case("ambiguous, hint far off", spot.text, spot.text, old, new, None, False, hint)


def unindented_twin(random: Random, text: str) -> Case | None:
    """The model drops the indentation, and the same lines are elsewhere; the hint is right."""
    spot = some_spot(random, text)
    if spot is None or not all(line[:1] == " " for line in spot.block) or len(spot.before) <= FAR:
        return None
    least = min((indentation(line) for line in spot.block), key=len)
    bare = [line.removeprefix(least) for line in spot.block]
    at = random.randrange(len(spot.before) - FAR)
    made = Spot([*spot.before[:at], *bare, *spot.before[at:]], spot.block, spot.after)
    new = changed(random, spot.block)
    new_text = joined([line.removeprefix(least) for line in new])
    return Case(
        "unindented, a twin elsewhere", made.text, made.text, joined(bare), new_text, made.put(new), False, made.line
    )


def shifted(random: Random, text: str) -> Case | None:
    spot = some_spot(random, text)
    if spot is None:
        return None
    now = typed_around(random, spot)
    old, new, lines = _sent(random, spot)
    return Case("shifted", spot.text, now.text, old, new, now.put(lines), True)


def changed_nearby(random: Random, text: str) -> Case | None:
    """The user changed the lines right above or below the quoted ones."""
    spot = some_spot(random, text, least=2)
    if spot is None or not spot.before or not spot.after:
        return None
    at = random.choice([at for at, line in enumerate(spot.block) if line.strip()])
    new = change_line(random, spot.block, at)
    above, below = spot.before, spot.after
    if random.random() < 0.5:
        above = [*above[:-1], *typed(random, above[-1:], 1)]
    else:
        below = [*typed(random, below[:1], 1), *below[1:]]
    now = Spot(above, spot.block, below)
    # If equal lines follow each other, nobody knows which of them the user changed.
    safe = above[-1:] != spot.block[:1] and below[:1] != spot.block[-1:]
    return Case("changed nearby", spot.text, now.text, joined(spot.block), joined(new), now.put(new), safe)


def changed_inside(random: Random, text: str) -> Case | None:
    """The user changed or removed the same line that the model changes."""
    spot = some_spot(random, text)
    if spot is None:
        return None
    at = random.choice([at for at, line in enumerate(spot.block) if line.strip()])
    new = change_line(random, spot.block, at)
    stands = change_line(random, spot.block, at) if random.random() < 0.6 else spot.block[:at] + spot.block[at + 1 :]
    elsewhere = typed_around(random, spot) if random.random() < 0.5 else spot
    return Case("changed inside", spot.text, elsewhere.put(stands), *sent(random, spot.block, new), None, False)


def another_line_changed_inside(random: Random, text: str) -> Case | None:
    """The user changed a line that the model quotes but does not change."""
    spot = some_spot(random, text, least=3)
    if spot is None:
        return None
    full = [at for at, line in enumerate(spot.block) if line.strip()]
    ours, theirs = random.sample(full, 2)
    new = change_line(random, spot.block, ours)
    stands = change_line(random, spot.block, theirs)
    both = [*stands[:ours], new[ours], *stands[ours + 1 :]]
    return Case(
        "another line changed inside",
        spot.text,
        spot.put(stands),
        joined(spot.block),
        joined(new),
        spot.put(both),
        False,
    )


def deleted(random: Random, text: str) -> Case | None:
    """The user deleted the block; a similar one is elsewhere: the same, re-indented, or different in one line."""
    spot = some_spot(random, text, least=2)
    if spot is None or len(spot.after) <= FAR:
        return None
    way = random.choice(["same", "re-indented", "one line other", "none"])
    twin = {
        "same": spot.block,
        "re-indented": [f"    {line}" if line else line for line in spot.block],
        "one line other": change_line(random, spot.block, len(spot.block) - 1),
        "none": [],
    }[way]
    at = random.randrange(FAR, len(spot.after))
    after = [*spot.after[:at], *twin, *spot.after[at:]]
    made = Spot(spot.before, spot.block, after)
    old, new, _ = _sent(random, made)
    hint = made.line if way == "same" else random.choice([None, made.line])
    return Case("deleted, a look-alike elsewhere", made.text, made.put([]), old, new, None, False, hint)


def moved(random: Random, text: str) -> Case | None:
    """The user moved the block somewhere else."""
    spot = some_spot(random, text, least=2)
    if spot is None or len(spot.after) <= FAR:
        return None
    at = random.randrange(FAR, len(spot.after))
    now = Spot([*spot.before, *spot.after[:at]], spot.block, spot.after[at:])
    old, new, lines = _sent(random, spot)
    return Case("moved", spot.text, now.text, old, new, now.put(lines), False, random.choice([None, spot.line]))


def stale_read(random: Random, text: str) -> Case | None:
    """The model quotes from an older read than its last one: the lines changed in between, or only others did."""
    spot = some_spot(random, text, least=2)
    if spot is None:
        return None
    now = typed_around(random, spot)
    old, new, lines = _sent(random, spot)
    seen = random.choice([None, "now"])
    if random.random() < 0.4:
        return Case("stale read, same lines", seen and now.text, now.text, old, new, now.put(lines), True)
    stands = _grown(random, spot.block)
    after = now.after
    if random.random() < 0.3:  # Similar lines: as they were, except for one.
        after = [*after, "", *change_line(random, spot.block, 0)]
    made = Spot(now.before, stands, after)
    if places(made.lines, spot.block, str.strip):
        return None
    expected = _with_grown_end(made, spot.block, lines)
    return Case("stale read, changed lines", seen and made.text, made.text, old, new, expected, False)


def _with_grown_end(now: Spot, quoted: Lines, new: Lines) -> str | None:
    """The text with the new lines if `now` differs from the quote only by what follows its last line, and the model
    does not change that line: the rest of it stays. Otherwise no text is right."""
    only_longer = now.block[:-1] == quoted[:-1] and now.block[-1].startswith(quoted[-1])
    return now.put([*new[:-1], now.block[-1]]) if only_longer and new[-1] == quoted[-1] else None


def _grown(random: Random, block: Lines) -> Lines:
    """What the user does to lines: extends one, adds one, removes one, changes one."""
    at = random.choice([at for at, line in enumerate(block) if line.strip()])
    last = len(block) - 1
    return random.choice(
        [
            [*block[:last], f"{block[last]} + {fresh(random)}"],
            [*block[:at], f"{block[at]}  # {fresh(random)}", *block[at + 1 :]],
            [*block[:1], f"{indentation(block[0])}{fresh(random)}()", *block[1:]],
            block[:at] + block[at + 1 :],
            change_line(random, block, at),
        ]
    )


def earlier_edit(random: Random, text: str) -> Case | None:
    """A second edit of one answer: of other lines, or of those that the first one changed, before or after that."""
    spot = some_spot(random, text, least=2)
    if spot is None or len(spot.before) < 8:
        return None
    if random.random() < 0.4:
        first = typed_around(random, spot)
        old, new, lines = _sent(random, spot)
        return Case("earlier edit elsewhere", spot.text, spot.text, old, new, first.put(lines), True, draft=first.text)
    at = random.choice([at for at, line in enumerate(spot.block) if line.strip()])
    drafted = change_line(random, spot.block, at)
    if random.random() < 0.5:
        new_lines = changed(random, drafted)
        return Case(
            "earlier edit built upon",
            spot.text,
            spot.text,
            joined(drafted),
            joined(new_lines),
            spot.put(new_lines),
            True,
            draft=spot.put(drafted),
        )
    old, new, lines = _sent(random, spot)
    expected = _with_grown_end(Spot(spot.before, drafted, spot.after), spot.block, lines)
    return Case("earlier edit overlapped", spot.text, spot.text, old, new, expected, False, draft=spot.put(drafted))


def earlier_edit_above(random: Random, text: str) -> Case | None:
    """The hint is right for the file that the model read, but an earlier edit of the answer added lines above."""
    spot = _copied(random, text, apart=12)
    if spot is None:
        return None
    starts = _starts(spot)
    at = starts.index(spot.line)
    apart = spot.line - starts[at - 1] if at else 12
    more = [f"{fresh(random)} = {k}" for k in range(random.choice([2, apart]))]
    drafted = Spot([*more, *spot.before], spot.block, spot.after)
    old, new, lines = _sent(random, spot)
    return Case(
        "earlier edit above, hint as read",
        spot.text,
        spot.text,
        old,
        new,
        drafted.put(lines),
        False,
        spot.line,
        draft=drafted.text,
    )


def replace_all(random: Random, text: str) -> Case | None:
    spot = _copied(random, text, apart=LONGEST_APART)
    if spot is None:
        return None
    size, lines, out, at = len(spot.block), spot.lines, [], 0
    new = changed(random, spot.block)
    while at < len(lines):
        here = lines[at : at + size] == spot.block
        out += new if here else lines[at : at + 1]
        at += size if here else 1
    return Case(
        "replace all", spot.text, spot.text, joined(spot.block), joined(new), joined(out), True, replace_all=True
    )


LONGEST_APART = 9

CHOOSING: Mapping[str, Maker] = {
    "ambiguous": ambiguous,
    "repeated_line": repeated_line,
    "hint_right": hint_right,
    "hint_slightly_off": hint_slightly_off,
    "hint_between": hint_between,
    "hint_far_off": hint_far_off,
    "unindented_twin": unindented_twin,
    "shifted": shifted,
    "changed_nearby": changed_nearby,
    "changed_inside": changed_inside,
    "another_line_changed_inside": another_line_changed_inside,
    "deleted": deleted,
    "moved": moved,
    "stale_read": stale_read,
    "earlier_edit": earlier_edit,
    "earlier_edit_above": earlier_edit_above,
    "replace_all": replace_all,
}
