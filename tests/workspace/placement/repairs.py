"""Kinds of cases for edits that once went wrong, or were refused although their result is certain."""

from collections.abc import Mapping
from random import Random

from tests.workspace.placement.case import Case
from tests.workspace.placement.making import Spot, fresh, indentation, some_spot
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


REPAIRS: Mapping[str, Maker] = {
    "one_line_to_several": one_line_to_several,
    "one_line_to_a_block": one_line_to_a_block,
    "one_line_to_a_dedent": one_line_to_a_dedent,
}
