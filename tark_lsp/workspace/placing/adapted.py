"""Computes the new lines for a quote that differs from the text in indentation, characters or blank lines; pure.

Each function returns None if the new lines are not certain."""

from collections.abc import Sequence
from dataclasses import dataclass

from tark_lsp.workspace.lines import changed_ranges, common_prefix, common_suffix
from tark_lsp.workspace.placing.indentation import indentation_of
from tark_lsp.workspace.placing.searching import exactly

TAB_WIDTHS = (4, 2, 8, 3)
RATIOS = ((1, 1), (2, 1), (1, 2), (4, 1), (1, 4), (3, 2), (2, 3), (3, 4), (4, 3))
"""Ratio of the indentation width of the text to that of the quote, as a fraction."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Converts the indentation of a quote to that of the text. `known` has the pairs that the quoted lines show.

    Other indentation is computed: its width, with tabs of `tab` columns, from `start` in the quote and `stands` in the
    text, times `ratio`. `sure`: the quoted lines show that this is right.
    """

    known: dict[str, str]
    tab: int
    ratio: tuple[int, int]
    start: int
    stands: int
    tabs: bool
    sure: bool

    def convert(self, white: str) -> str | None:
        if white in self.known:
            return self.known[white]
        more, rest = divmod((_width(white, self.tab) - self.start) * self.ratio[0], self.ratio[1])
        width = self.stands + more
        if not self.sure or rest or width < 0 or (self.tabs and width % self.tab):
            return None
        return "\t" * (width // self.tab) if self.tabs else " " * width


def _width(white: str, tab: int) -> int:
    return len(white.expandtabs(tab))


def fit_of(wanted: Sequence[str], here: Sequence[str]) -> Fit | None:
    """None unless the indentation of the quoted lines differs from that of the text only in tabs or width."""
    known: dict[str, str] = {}
    for quoted, line in zip(wanted, here, strict=True):
        if quoted.strip() and known.setdefault(indentation_of(quoted), indentation_of(line)) != indentation_of(line):
            return None
    every = "".join([*known, *known.values()])
    best: Fit | None = None
    for tab in TAB_WIDTHS if "\t" in every else TAB_WIDTHS[:1]:
        pairs = sorted((_width(a, tab), _width(b, tab)) for a, b in known.items())
        start, stands = pairs[0]
        for ratio in RATIOS if len({a for a, _ in pairs}) > 1 else RATIOS[:1]:
            if ratio == (1, 1):
                base = "\t" not in every or (start - stands) % tab == 0
            else:
                base = start == 0 or stands * ratio[1] == start * ratio[0]
            if base and all((b - stands) * ratio[1] == (a - start) * ratio[0] for a, b in pairs):
                sure = len(pairs) > 1 or start == stands
                fit = Fit(known, tab, ratio, start, stands, "\t" in "".join(known.values()), sure)
                best = best if best and best.sure else fit
    return best


def with_width(wanted: Sequence[str], here: Sequence[str], fresh: Sequence[str]) -> list[str] | None:
    fit = fit_of(wanted, here)
    if fit is None:
        return None
    out = []
    for line in fresh:
        white = fit.convert(indentation_of(line)) if line.strip() else indentation_of(line)
        if white is None:
            return None
        out.append(white + line.lstrip(" \t"))
    return out


def with_characters(wanted: Sequence[str], here: Sequence[str], fresh: Sequence[str]) -> list[str] | None:
    """The new lines with the characters of the text, except where the model changed them."""
    out = list(fresh)
    bodies, stands, new = ([exactly(line).rstrip() for line in some] for some in (wanted, here, fresh))
    styled = {a for one, other in zip(bodies, stands, strict=True) for a, b in zip(one, other, strict=False) if a != b}
    foreign = {sign for sign in styled if not sign.isascii()}
    for i1, i2, j1, j2 in changed_ranges([*map(exactly, wanted)], [*map(exactly, fresh)]):
        old, stood, put = "\n".join(bodies[i1:i2]), "\n".join(stands[i1:i2]), "\n".join(new[j1:j2])
        if len(old) != len(stood):
            return None
        head = common_prefix(old, put)
        tail = common_suffix(old, put, min(len(old), len(put)) - head)
        end = len(old) - tail
        middle = put[head : len(put) - tail]
        lost = {a for a, b in zip(old[head:end], stood[head:end], strict=True) if a != b}
        if (lost | foreign).intersection(middle.lstrip() if not middle.strip() else middle.strip()):
            return None
        lines = (stood[:head] + middle + stood[end:]).split("\n")
        if j2 > j1:
            out[j1:j2] = [
                line + fresh[j1 + k][len(exactly(fresh[j1 + k])) :] for k, line in enumerate(lines[: j2 - j1])
            ]
            if len(lines) != j2 - j1:
                return None
    return out


def with_blank_lines(wanted: Sequence[str], here: Sequence[str], fresh: Sequence[str]) -> list[str] | None:
    """All lines for the place, with the blank lines of the text, except where the model changed them."""
    at = _positions(wanted, here)
    out: list[str] = []
    done = 0
    for i1, i2, j1, j2 in changed_ranges([*map(str.rstrip, wanted)], [*map(str.rstrip, fresh)]):
        if any(_is_inside_other_run(wanted, at, border) for border in (i1, i2)):
            return None
        if (
            0 < i1 == i2 < len(wanted)
            and all(one.strip() for one in wanted[i1 - 1 : i1 + 1])
            and at[i1] > at[i1 - 1] + 1
        ):
            return None  # blank lines of the text could belong before or after the new lines
        if i1 < i2 and not any(line.strip() for line in wanted[i1:i2]) and at[i2] - at[i1] != i2 - i1:
            return None  # only blank lines are changed, and the text does not have them
        out += here[done : at[i1]]
        out += fresh[j1:j2]
        # Blank lines of the text after the last changed line stay, if the quote has none there.
        done = at[i2 - 1] + 1 if i1 < i2 and wanted[i2 - 1].strip() else at[i2]
    return [*out, *here[done:]]


def _positions(wanted: Sequence[str], here: Sequence[str]) -> list[int]:
    """For each quoted line, and the end of the quote: the line of `here` that it is, or that it would be before."""
    filled = iter([at for at, line in enumerate(here) if line.strip()] + [len(here)])
    at = [0] * (len(wanted) + 1)
    at[-1] = len(here)
    following = [k for k, line in enumerate(wanted) if line.strip()]
    for k in following:
        at[k] = next(filled)
    after, behind = len(here), len(wanted)
    for k in reversed(range(len(wanted))):
        if wanted[k].strip():
            after, behind = at[k], k
            continue
        begin = max((one for one in following if one < k), default=-1)
        first = at[begin] + 1 if begin >= 0 else 0
        at[k] = min(first + k - begin - 1, after) if behind > k else after
    return at


def _is_inside_other_run(wanted: Sequence[str], at: Sequence[int], border: int) -> bool:
    """Whether the border is within a run of blank lines that has another number of lines in the text."""
    start, end = border, border
    while start > 0 and not wanted[start - 1].strip():
        start -= 1
    while end < len(wanted) and not wanted[end].strip():
        end += 1
    first = at[start - 1] + 1 if start else 0
    return start < border < end and at[end] - first != end - start
