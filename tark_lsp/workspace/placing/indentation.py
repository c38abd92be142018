"""Gives new lines the indentation of the text if the model quotes lines with a different indentation; pure."""

from collections.abc import Collection, Sequence
from itertools import pairwise

OPENING = (":", "{", "(", "[", "=>", "->")
OPENING_WORDS = ("then", "do", "else", "begin", "try")
BLOCKS = """if elif elsif else unless while until for def class module try begin do with case match switch when function
struct enum interface impl trait namespace repeat foreach"""
BLOCK_WORDS = frozenset(BLOCKS.split())
"""A line that begins with one of these words can open a block without a sign at its end, as in Ruby and shell."""
CLOSING = ("}", ")", "]")
CLOSERS = "else elif elsif except finally catch rescue ensure end fi done esac until"
CLOSING_WORDS = frozenset(CLOSERS.split())
CONTINUED = (",", "\\", "=", "+", "-", "*", "/", "&&", "||", "and", "or", "?")
CONTINUING = (".", "?", "&&", "||", "|", "+", "and ", "or ", "->")
COMMENTS = (" #", "\t#", " //", "\t//", " --")


def indentation_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def least_indentation(lines: Sequence[str]) -> str | None:
    return min((indentation_of(line) for line in lines if line.strip()), key=len, default=None)


def common_shift(wanted: Sequence[str], here: Sequence[str]) -> tuple[str, str] | None:
    """`(less, more)`: the indentation to remove from and add to each line of `wanted` to get `here`; one is empty.

    None if no pair fits all lines: for example tabs instead of spaces, or lines indented unevenly.
    """
    pairs = [(indentation_of(a), indentation_of(b)) for a, b in zip(wanted, here, strict=True) if a.strip()]
    if not pairs:
        return None
    a, b = pairs[0]
    if b.endswith(a):
        less, more = "", b.removesuffix(a)
    elif a.endswith(b):
        less, more = a.removesuffix(b), ""
    else:
        return None
    same = all(a.startswith(less) and more + a.removeprefix(less) == b for a, b in pairs)
    return (less, more) if same else None


def indent_like(
    wanted: Sequence[str], here: Sequence[str], fresh: Sequence[str], shift: tuple[str, str]
) -> list[str] | None:
    """The new lines with the indentation that they need in the text. None if that is uncertain."""
    less, more = shift
    if shift == ("", ""):
        return list(fresh)
    quoted = [line for line in wanted if line.strip()]
    filled = [line for line in fresh if line.strip()]
    flat = len({indentation_of(line) for line in quoted}) == 1
    if more and flat and len(filled) > 1 and indentation_of(filled[0]) == indentation_of(quoted[0]):
        stands = more + indentation_of(quoted[0])
        known = {line.strip() for line in quoted}
        return follow_first_line(fresh, indentation_of(quoted[0]), stands, alone=len(quoted) == 1, known=known)
    if _can_be_indented_like_text(wanted, here, fresh, shift):
        return None
    return [more + line.removeprefix(less) if line.strip() else line for line in fresh]


def follow_first_line(
    fresh: Sequence[str], quoted: str, stands: str, *, alone: bool, known: Collection[str] = ()
) -> list[str] | None:
    """The new lines if the first is indented by `quoted` and must be indented by `stands`, which is more.

    The later lines can be indented like the first one, or as in the text. `alone`: one line is quoted, so the quote
    does not show which. `known`: the quoted lines, stripped. The first rule that fits decides:
    1. A later line is indented no more than the first: all lines get the indentation that the first one gets.
    2. The first line opens a block, and the next one is indented no more than the text: the same.
    3. All later lines are indented at least as in the text: they stay as they are, if `alone`.
    4. Otherwise it is uncertain.
    """
    filled = [line for line in fresh if line.strip()]
    opens = _opens_block(filled[0])
    later = [indentation_of(line) for line in filled[1:]]
    if any(len(white) <= len(quoted) for white in later):
        uncertain = _closes_what_is_not_open(filled, quoted, known) or _has_uneven_blocks(filled, quoted)
        return None if uncertain else shifted(fresh, quoted, stands)
    inside = later[0].removeprefix(quoted) if later[0].startswith(quoted) else later[0]
    other_kind = not stands.startswith(inside) and not inside.startswith(stands)
    if opens and (other_kind or stands.startswith(later[0])):
        return shifted(fresh, quoted, stands)
    if opens is None and (other_kind or stands.startswith(later[0])):
        return None
    if not all(white.startswith(stands) for white in later):
        return shifted(fresh, quoted, stands) if not alone and _goes_on(filled) else None
    if alone:
        first = fresh.index(filled[0])
        return [*fresh[:first], stands + fresh[first].removeprefix(quoted), *fresh[first + 1 :]]
    return shifted(fresh, quoted, stands) if _goes_on(filled) else None


def shifted(fresh: Sequence[str], quoted: str, stands: str) -> list[str] | None:
    """The lines with `stands` in place of `quoted`. Further indentation becomes tabs or spaces, as in `stands`."""
    added = stands.removesuffix(quoted) if stands.endswith(quoted) else stands
    inner = [indentation_of(line).removeprefix(quoted) for line in fresh if line.strip()]
    if not stands.strip("\t") and any(" " in white for white in inner):
        unit = min(len(white) for white in inner if white)
        if any("\t" in white or len(white) % unit for white in inner):
            return None
        return [
            stands + "\t" * ((len(indentation_of(line)) - len(quoted)) // unit) + line.lstrip(" \t")
            if line.strip()
            else line
            for line in fresh
        ]
    if not stands.strip(" ") and any("\t" in white for white in inner):
        if any(" " in white for white in inner):
            return None
        unit = 2 if len(stands) % 4 else 4
        return [
            stands + indentation_of(line).removeprefix(quoted).replace("\t", " " * unit) + line.lstrip(" \t")
            if line.strip()
            else line
            for line in fresh
        ]
    return [added + line if line.strip() else line for line in fresh]


def _opens_block(line: str) -> bool | None:
    """Whether a block follows the line. None if that depends on the language."""
    for sign in COMMENTS:
        line = line.partition(sign)[0] or line
    line = line.strip()
    if line.endswith(OPENING) or line.split(" ")[-1] in OPENING_WORDS:
        return True
    word = line.split("(")[0].split(" ")[0]
    if word not in BLOCK_WORDS or line.endswith((";", " end")) or ": " in line:
        return False
    return None


def _closes_what_is_not_open(filled: Sequence[str], quoted: str, known: Collection[str]) -> bool:
    """Whether a line indented like the first one closes or continues a block that the lines do not open."""
    opened = _opens_block(filled[0]) is not False
    for line in filled[1:]:
        if len(indentation_of(line)) > len(quoted):
            continue
        word = line.strip().split(" ")[0].rstrip(":;,")
        if (line.strip().startswith(CLOSING) or word in CLOSING_WORDS) and not opened and line.strip() not in known:
            return True
        opened = opened or _opens_block(line) is not False
    return False


def _has_uneven_blocks(filled: Sequence[str], quoted: str) -> bool:
    """Whether the blocks of lines indented like the first one are not all indented by the same amount."""
    inner = {
        indentation_of(below)
        for line, below in pairwise(filled)
        if len(indentation_of(line)) <= len(quoted)
        and line.rstrip().endswith((":", "{"))
        and len(indentation_of(below)) > len(quoted)
    }
    return len(inner) > 1


def _goes_on(filled: Sequence[str]) -> bool:
    """Whether the second line continues the first one."""
    first, second = filled[0].strip(), filled[1].strip()
    brackets = sum(first.count(a) - first.count(b) for a, b in ("()", "[]", "{}"))
    return brackets > 0 or first.endswith(CONTINUED) or second.startswith(CONTINUING)


def _can_be_indented_like_text(
    wanted: Sequence[str], here: Sequence[str], fresh: Sequence[str], shift: tuple[str, str]
) -> bool:
    """Whether the new lines could be indented like the text, or unevenly, although the quoted lines are not.

    If at least half of the new lines are quoted lines, they count as indented like the quoted lines.
    """
    less, more = shift
    new = least_indentation(fresh)
    if new is None or new == least_indentation(wanted):
        return False
    filled = [line for line in fresh if line.strip()]
    if any(not line.startswith(less) for line in filled):
        return True
    quoted = {line.rstrip("\r\n") for line in wanted}
    worded = [line for line in filled if any(map(str.isalnum, line))] or filled  # a bracket proves nothing
    if 2 * sum(line.rstrip("\r\n") in quoted for line in worded) >= len(worded):
        return False
    stands = least_indentation(here) or ""
    return new == stands or (more != "" and new.startswith(stands))
