"""Kinds of cases for edits that once went wrong, or were refused although their result is certain."""

from collections.abc import Mapping
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
    some_spot,
)
from tests.workspace.placement.quoting import Maker


def _one_line(random: Random, text: str) -> Spot | None:
    """A line whose words are nowhere else, not even in a longer line."""
    spot = some_spot(random, text, most=1)
    return spot if spot is not None and text.count(spot.block[0].strip()) == 1 else None


def one_line_to_several(random: Random, text: str) -> Case | None:
    """One indented line is quoted without its indentation; the later new lines are as in the text."""
    spot = _one_line(random, text)
    if spot is None or not indentation(spot.block[0]):
        return None
    white = indentation(spot.block[0])
    later = [f"{white}{fresh(random)}({k})" for k in range(random.randint(1, 4))]
    if len(later) > 1 and random.random() < 0.3:
        later.insert(1, "")
    new = [f"{fresh(random)} = {random.randrange(99)}", *later]
    end = random.choice(["", "\n"])
    expected = spot.put([white + new[0], *later])
    old = spot.block[0].lstrip(" \t") + end
    return Case("one line to several", spot.text, spot.text, old, "\n".join(new) + end, expected, True)


def one_line_to_a_block(random: Random, text: str) -> Case | None:
    """The same, but the new lines are indented relative to the first: a block, or lines without indentation."""
    spot = _one_line(random, text)
    if spot is None or not indentation(spot.block[0]):
        return None
    white, line = indentation(spot.block[0]), spot.block[0].lstrip(" \t")
    unit = "\t" if "\t" in white else "    "
    name = fresh(random)
    new = random.choice(
        [
            [f"if {name}:", unit + line],
            [f"if ({name}) {{", unit + line, "}"],
            [f"{name} = 1", line],
            [f"if {name}:", unit + line, "else:", f"{unit}{name}()"],
        ]
    )
    if len(white) < len(unit):
        return None
    expected = spot.put([white + one for one in new])
    return Case("one line to a block", spot.text, spot.text, line, "\n".join(new), expected, True)


def one_line_to_a_dedent(random: Random, text: str) -> Case | None:
    """The same, but a later line is indented less than the text: refused, because nobody knows what it belongs to."""
    spot = _one_line(random, text)
    if spot is None or len(indentation(spot.block[0])) < 2:
        return None
    white, name = indentation(spot.block[0]), fresh(random)
    less = white[: len(white) // 2] if random.random() < 0.7 else ""
    new = [f"{name}()", f"{less}else:", f"{white}{name}(1)"]
    expected = spot.put([white + new[0], *new[1:]])
    old = spot.block[0].lstrip(" \t")
    return Case("one line to a dedent", spot.text, spot.text, old, "\n".join(new), expected, False)


def twin_near_hint(random: Random, text: str) -> Case | None:
    """The model drops the indentation, and exactly what it sends is also within ten lines of the hint."""
    spot = some_spot(random, text, most=3)
    if spot is None or not all(line[:1] in (" ", "\t") for line in spot.block) or len(spot.after) < 12:
        return None
    least = min((indentation(line) for line in spot.block), key=len)
    bare = [line.removeprefix(least) for line in spot.block]
    apart = random.randint(0, 8 - len(bare))
    made = Spot(spot.before, spot.block, [*spot.after[:apart], *bare, *spot.after[apart:]])
    new = changed(random, spot.block)
    new_text = joined([line.removeprefix(least) for line in new])
    return Case(
        "unindented, a twin near the hint",
        made.text,
        made.text,
        joined(bare),
        new_text,
        made.put(new),
        False,
        made.line,
    )


def leading_newline(random: Random, text: str) -> Case | None:
    """The quote begins with a line break, and its last line goes on in the text."""
    spot = some_spot(random, text, least=2)
    if spot is None or not spot.before or len(spot.block[-1].strip()) < 3:
        return None
    last = spot.block[-1]
    cut = random.randint(len(indentation(last)) + 1, len(last) - 1)
    old = "\n" + "\n".join([*spot.block[:-1], last[:cut]])
    new = "\n" + "\n".join([*spot.block[:-1], indentation(last) + fresh(random)])
    if old == new or spot.text.count(old) != 1 or not last[cut:].strip():
        return None
    return Case("leading newline, last line goes on", spot.text, spot.text, old, new, None, False)


def last_line_in_part(random: Random, text: str) -> Case | None:
    """The last line is quoted in part, and the model does not change that part."""
    spot = some_spot(random, text, least=2)
    if spot is None or len(spot.block[-1].strip()) < 3:
        return None
    last = spot.block[-1]
    cut = random.randint(len(indentation(last)) + 1, len(last) - 1)
    above = changed(random, spot.block[:-1])
    old, new = ("\n".join([*some, last[:cut]]) for some in (spot.block[:-1], above))
    if spot.text.count(old) != 1 or not last[cut:].strip() or not any(line.strip() for line in above):
        return None
    return Case("last line quoted in part", spot.text, spot.text, old, new, spot.put([*above, last]), True)


def newlines_at_end(random: Random, text: str) -> Case | None:
    """One or two newlines too many after the last lines of the file."""
    lines = text.rstrip("\n").split("\n")
    size = random.randint(1, 6)
    spot = Spot(lines[:-size], lines[-size:], [])
    if not spot.block[0].strip() or places(lines, spot.block) != 1:
        return None
    new = changed(random, spot.block)
    more = "\n" * random.randint(1, 2)
    if joined(spot.block) + more in text or not new[-1].strip():
        return None
    end = random.choice(["", more])
    return Case(
        "newlines too many", spot.text, spot.text, joined(spot.block) + more, joined(new) + end, spot.put(new), True
    )


MARKERS = ("// existing code", "# rest of the code remains the same", "# (unchanged)", "...[truncated]",
           "(rest of methods ...)", "// rest of the function unchanged", "/* existing code */", "# remaining methods",
           "<!-- rest of the file unchanged -->", "# ... existing code ...", "// omitted for brevity")  # fmt: skip


def marker(random: Random, text: str) -> Case | None:
    """Words that stand for lines, in all wordings; applied literally, the lines would be lost."""
    spot = some_spot(random, text, least=4)
    if spot is None:
        return None
    new = change_line(random, spot.block, 0)
    words = indentation(spot.block[1]) + random.choice(MARKERS)
    new_text = joined([new[0], words, spot.block[-1]])
    return Case("words for lines in new_text", spot.text, spot.text, joined(spot.block), new_text, spot.put(new), False)


def fenced(random: Random, text: str) -> Case | None:
    spot = some_spot(random, text)
    if spot is None:
        return None
    new = changed(random, spot.block)
    fence = random.choice(["```", "```python", "~~~"])
    new_text = joined([fence, *new, fence[:3]])
    return Case("code fence", spot.text, spot.text, joined(spot.block), new_text, spot.put(new), False)


def numbered_new(random: Random, text: str) -> Case | None:
    """Only the new lines have line numbers, and none of them is a quoted one."""
    spot = some_spot(random, text)
    if spot is None:
        return None
    form = random.choice(["{n}: {line}", "{n:5} | {line}", "{n:6}\t{line}", "{n}|{line}"])
    new = [f"{indentation(line)}{fresh(random)}()" for line in spot.block]
    new_text = joined([form.format(n=spot.line + k, line=line) for k, line in enumerate(new)])
    return Case("line numbers in new_text", spot.text, spot.text, joined(spot.block), new_text, spot.put(new), False)


def numbered_old(random: Random, text: str) -> Case | None:
    """The quoted lines have line numbers; the new ones have them too, or not."""
    spot = some_spot(random, text)
    if spot is None:
        return None
    form = random.choice(["{n}: {line}", "{n:5} | {line}", "{n:6}\t{line}", "{n}|{line}"])
    new = changed(random, spot.block)
    old_text, new_text = (
        joined([form.format(n=spot.line + k, line=line) for k, line in enumerate(some)]) for some in (spot.block, new)
    )
    if random.random() < 0.5:
        new_text = joined(new)
    return Case("line numbers in old_text", spot.text, spot.text, old_text, new_text, spot.put(new), True)


def applied_already(random: Random, text: str) -> Case | None:
    """The new text contains the old one, and is in the file: the edit is made a second time."""
    spot = some_spot(random, text, most=3)
    if spot is None or text.count("\n".join(spot.block)) != 1:
        return None
    name = fresh(random)
    first = spot.block[0]
    bare = first.lstrip(" \t")
    new = random.choice(
        [
            [*spot.block, f"{indentation(first)}{name}()"],
            [f"{indentation(first)}{name}()", *spot.block],
            [f"{indentation(first)}{name} {bare}", *spot.block[1:]],
        ]
    )
    old_text, new_text = "\n".join([bare, *spot.block[1:]]), "\n".join([new[0].lstrip(" \t"), *new[1:]])
    if new[0] == first:
        old_text, new_text = "\n".join(spot.block), "\n".join(new)
    after = spot.put(new)
    if indentation(first) and new[1:] == spot.block:
        return None
    return Case("applied already", after, after, old_text, new_text, after, True)


def deleted_without_indentation(random: Random, text: str) -> Case | None:
    """Lines are removed; the first is quoted without its indentation."""
    spot = some_spot(random, text)
    if spot is None or not indentation(spot.block[0]):
        return None
    old_text = joined(spot.block).lstrip(" \t")
    if text.count(old_text) != 1:
        return None
    return Case("removed, first line unindented", spot.text, spot.text, old_text, "", spot.put([]), True)


def other_width(random: Random, text: str) -> Case | None:
    """All indentation in another width, or in tabs, where the quoted lines are at two levels."""
    spot = some_spot(random, text, least=2)
    if spot is None or any(len(indentation(line)) % 4 or "\t" in indentation(line) for line in spot.block):
        return None
    levels = {indentation(line) for line in spot.block if line.strip()}
    if len(levels) < 2:
        return None
    unit = random.choice(["  ", "\t", "   "])

    def as_sent(lines: Lines) -> Lines:
        return [indentation(line).replace("    ", unit) + line.lstrip(" ") for line in lines]

    new = changed(random, spot.block)
    old_text, new_text = joined(as_sent(spot.block)), joined(as_sent(new))
    return Case("another width of indentation", spot.text, spot.text, old_text, new_text, spot.put(new), True)


def other_blank_lines(random: Random, text: str) -> Case | None:
    """More or fewer blank lines in the quote than in the text, within lines that stay."""
    spot = some_spot(random, text, least=3)
    runs = [at for at, line in enumerate(spot.block) if not line.strip()] if spot else []
    if spot is None or not runs:
        return None
    at = random.choice(runs)
    new = change_line(random, spot.block, 0)

    def as_sent(lines: Lines) -> Lines:
        return [*lines[:at], "", *lines[at:]] if more else [*lines[:at], *lines[at + 1 :]]

    more = random.random() < 0.5
    old_text, new_text = joined(as_sent(spot.block)), joined(as_sent(new))
    return Case("number of blank lines", spot.text, spot.text, old_text, new_text, spot.put(new), True)


REPAIRS: Mapping[str, Maker] = {
    "one_line_to_several": one_line_to_several,
    "one_line_to_a_block": one_line_to_a_block,
    "one_line_to_a_dedent": one_line_to_a_dedent,
    "twin_near_hint": twin_near_hint,
    "leading_newline": leading_newline,
    "last_line_in_part": last_line_in_part,
    "newlines_at_end": newlines_at_end,
    "marker": marker,
    "fenced": fenced,
    "numbered_new": numbered_new,
    "numbered_old": numbered_old,
    "applied_already": applied_already,
    "deleted_without_indentation": deleted_without_indentation,
    "other_width": other_width,
    "other_blank_lines": other_blank_lines,
}
