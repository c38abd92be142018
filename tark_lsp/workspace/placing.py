"""Find the place a model means by `old_text`, and put `new_text` there, or say why that cannot be done; pure.

The recipe of the design ("Edits" in safety.md): whole lines exactly, then but for spaces at their ends, then uniformly
re-indented; a part of a line only exactly. Several places are an error unless the line hint tells them apart. Nothing
stands for anything else: "..." matches only itself.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tark_lsp.errors import ToolError
from tark_lsp.workspace.lines import changed_ranges, count_lines, ending_of, split_lines
from tark_lsp.workspace.nearest import nearest_lines

CLOSING_TAG, ESCAPED_TAG = "</code>", "<\\/code>"
"""The code snippet format escapes the tag that ends it; the model may send the escape back."""
NEWLINE = r"(?:\r\n|\r(?!\n)|(?<!\r)\n)"
SHOWN_PLACES = 10
SHOWN_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Place:
    """`text[start:end]` is to become `new`; `line` counts from 0."""

    line: int
    start: int
    end: int
    new: str


def place(text: str, old_text: str, new_text: str, *, line_hint: int | None = None, replace_all: bool = False) -> str:
    """The whole text with `old_text` replaced by `new_text`, line endings kept as they are around the place.

    `line_hint` counts from 1 and chooses among several places: the nearest one, if it is clearly the nearest.
    `replace_all` replaces every exact occurrence. Raises ToolError `not_found`, `not_unique` or `invalid_arguments`.
    """
    if not old_text:
        if text:
            raise ToolError(
                "invalid_arguments",
                "old_text is empty, but the file is not",
                hint="give as old_text the lines to replace; to add lines, give a neighbouring line and repeat it in "
                "new_text; to replace the whole text, use write_file",
            )
        return new_text
    places: list[Place] = []
    for old, new in _unescaped(text, old_text, new_text):
        places = _exact_places(text, old, new) if replace_all else []
        if places:
            return _put(text, places)
        places = _places(text, old, new)
        if places:
            break
    if not places:
        raise not_found(text, old_text)
    return _put(text, [_chosen(text, places, line_hint)])


def line_places(text: str, old_text: str, new_text: str, called: str = "old_text") -> list[Place]:
    """Every place where `old_text` stands as whole lines, in order, by the first step of the recipe that finds any.

    `called` is what the model calls the lines. Raises ToolError `not_found`.
    """
    for old, new in _unescaped(text, old_text, new_text):
        for same in (_exactly, _but_for_ends, _but_for_indentation):
            found = _line_places(text, old, new, same)
            if found:
                return found
    raise not_found(text, old_text, called)


def _unescaped(text: str, old: str, new: str) -> Iterator[tuple[str, str]]:
    """The two texts as they are, then without the escape of the snippet format, where the text may have made it so."""
    if CLOSING_TAG not in text or ESCAPED_TAG not in old + new:
        yield old, new
        return
    plain = new.replace(ESCAPED_TAG, CLOSING_TAG)
    yield old, new if ESCAPED_TAG in text else plain
    if ESCAPED_TAG in old:
        yield old.replace(ESCAPED_TAG, CLOSING_TAG), plain


def _put(text: str, places: Sequence[Place]) -> str:
    parts: list[str] = []
    at = 0
    for found in places:
        if found.start >= at:  # Occurrences that overlap the one before are not replaced again.
            parts += text[at : found.start], found.new
            at = found.end
    return "".join(parts) + text[at:]


def _chosen(text: str, places: Sequence[Place], line_hint: int | None) -> Place:
    """The only place, or the one the hint means: the second nearest must be at least twice as far from it."""
    if len(places) == 1:
        return places[0]
    if line_hint is not None:
        away = sorted(places, key=lambda found: abs(found.line + 1 - line_hint))
        first, second = (abs(found.line + 1 - line_hint) for found in away[:2])
        if first < second and 2 * first <= second:
            return away[0]
    lines = split_lines(text)
    shown = [
        {"line": found.line + 1, "text": lines[found.line].strip()[:SHOWN_CHARACTERS]}
        for found in places[:SHOWN_PLACES]
    ]
    raise ToolError(
        "not_unique",
        f"old_text is at {len(places)} places: lines {', '.join(str(one['line']) for one in shown)}"
        + (" and more" if len(places) > SHOWN_PLACES else ""),
        hint="give more of the lines around it, or line_hint with one of these lines",
        details={"places": shown, "count": len(places)},
    )


def not_found(text: str, old_text: str, called: str = "old_text") -> ToolError:
    """Says which lines of `text` are most like those that are not in it."""
    lines = split_lines(text)
    near = nearest_lines(lines, split_lines(old_text))
    hint = f"copy {called} from the file as it is now, whole lines with their indentation"
    if re.search(r"^\W*(\.\.\.|…)", old_text, re.MULTILINE):
        hint = f'write out what "..." stands for: nothing may be left out of {called}; {hint}'
    if not near:
        return ToolError(
            "not_found", f"{called} is not in the file, nor anything like it", hint=f"read it again; {hint}"
        )
    return ToolError(
        "not_found",
        f"{called} is not in the file; the nearest lines are {near[0] + 1} to {near[-1] + 1}",
        hint=hint,
        details={"nearest": [{"line": at + 1, "text": lines[at].rstrip("\r\n")[:SHOWN_CHARACTERS]} for at in near]},
    )


def _exact_places(text: str, old: str, new: str) -> list[Place]:
    """Every exact occurrence: of whole lines where `old` has a line ending, else anywhere."""
    whole = _line_places(text, old, new, _exactly) if count_lines(old) else []
    return whole or _part_places(text, old, new)


def _places(text: str, old: str, new: str) -> list[Place]:
    """The places of the first step of the recipe that has any."""
    for same in (_exactly, _but_for_ends):
        found = _line_places(text, old, new, same)
        if found:
            return found
    # An indented line is also a place where its unindented text stands; a second such place makes it ambiguous.
    found = _line_places(text, old, new, _but_for_indentation)
    parts = [
        part
        for part in _part_places(text, old, new)
        if not any(part.start < whole.end and whole.start < part.end for whole in found)
    ]
    return sorted(found + parts, key=lambda one: one.start)


def _exactly(line: str) -> str:
    return line.rstrip("\r\n")


def _but_for_ends(line: str) -> str:
    return line.rstrip()


def _but_for_indentation(line: str) -> str:
    return line.rstrip().lstrip(" \t")


def _line_places(text: str, old: str, new: str, same: Callable[[str], str]) -> list[Place]:
    """Where the lines of `old` stand, two lines being the same if `same` makes them so."""
    lines, wanted = split_lines(text), split_lines(old)
    keys, wanted_keys = [same(line) for line in lines], [same(line) for line in wanted]
    found: list[Place] = []
    first, size = wanted_keys[0], len(wanted)
    at, offset, counted = -1, 0, 0
    for _ in range(keys.count(first)):
        at = keys.index(first, at + 1)
        if keys[at : at + size] != wanted_keys:
            continue
        here = lines[at : at + size]
        shift = ("", "") if same is not _but_for_indentation else _shift(wanted, here)
        if shift is None:
            continue
        offset += sum(map(len, lines[counted:at]))
        counted = at
        block = _block(lines, at, wanted, new, shift)
        found.append(Place(at, offset, offset + sum(map(len, here)), block))
    return found


def _shift(wanted: Sequence[str], here: Sequence[str]) -> tuple[str, str] | None:
    """`(less, more)`: the indentation taken from and given to each line of `wanted` to get `here`; one is empty.

    None where no single such pair serves all lines: tabs for spaces, say, or lines indented unevenly.
    """
    pairs = [(_indentation(a), _indentation(b)) for a, b in zip(wanted, here, strict=True) if a.strip()]
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


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _block(lines: Sequence[str], at: int, wanted: Sequence[str], new: str, shift: tuple[str, str]) -> str:
    """The new lines: those the model left alone byte for byte as they stand, the rest with the endings around them."""
    here, fresh = lines[at : at + len(wanted)], split_lines(new)
    less, more = shift
    neighbours = (*reversed(lines[max(0, at - 1) : at]), *here, *lines[at + len(wanted) : at + len(wanted) + 1], *lines)
    ending = next(filter(None, map(ending_of, neighbours)), "\n")
    out: list[str] = []
    done = 0
    ranges = changed_ranges([*map(_exactly, wanted)], [*map(_exactly, fresh)])
    for i1, i2, j1, j2 in [*ranges, (len(wanted), len(wanted), len(fresh), len(fresh))]:
        out.extend(here[done:i1])
        for k in range(j1, j2):
            stood = ending_of(here[i1 + k - j1]) if i1 + k - j1 < i2 else ""
            body = _exactly(fresh[k])
            if body.strip():
                body = more + (body.removeprefix(less) if body.startswith(less) else body.lstrip(" \t"))
            out.append(body + (stood or (ending_of(out[-1]) if out else "") or ending))
        done = i2
    if not out:
        return ""
    out = [line if ending_of(line) else line + ending for line in out]
    if not ending_of(here[-1]) and not (ending_of(fresh[-1]) and not ending_of(wanted[-1])):
        out[-1] = _exactly(out[-1])
    return "".join(out)


def _part_places(text: str, old: str, new: str) -> list[Place]:
    """Every exact occurrence, also inside a line and across lines; line endings of any kind are the same.

    The ending of the last line is never replaced: it would join what is left of that line to the next.
    """
    ended = ending_of(old)
    old, new = old.removesuffix(ended), new.removesuffix(ending_of(new)) if ended else new
    if not old:
        return []
    pattern = NEWLINE.join(map(re.escape, re.split(r"\r\n|\r|\n", old)))
    if ended:
        pattern += rf"(?={NEWLINE}|\Z)"
    lines = split_lines(text)
    common = next(filter(None, map(ending_of, lines)), "\n")
    fresh = [_exactly(line) if ending_of(line) == "" else _exactly(line) + "\n" for line in split_lines(new)]
    found: list[Place] = []
    line = counted = 0
    for match in re.finditer(f"(?=({pattern}))", text):
        line += count_lines(text[counted : match.start()])
        counted = match.start()
        ending = ending_of(lines[line]) or common
        found.append(Place(line, *match.span(1), "".join(fresh).replace("\n", ending)))
    return found
