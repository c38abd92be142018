"""Kinds of cases that differ in how the model quotes: white space, endings, elisions, numbers, parts, whole files."""

import re
from collections.abc import Callable, Mapping
from random import Random

from tests.workspace.placement.case import Case
from tests.workspace.placement.making import (
    Lines,
    change_line,
    changed,
    fresh,
    indentation,
    joined,
    places,
    sent,
    some_spot,
    typed_around,
)

Maker = Callable[[Random, str], Case | None]
"""None if the text at the chosen place is not suitable for this kind."""

ELISIONS = ("...", "…", "# ...", "// ...", "# ... existing code ...", "// ... existing code ...", "/* ... */",
            "# ... rest of the function unchanged ...", "// ...rest of the code", "<!-- ... -->")  # fmt: skip


def unique(random: Random, text: str) -> Case | None:
    spot = some_spot(random, text)
    if spot is None:
        return None
    new = changed(random, spot.block)
    old_text, new_text = sent(random, spot.block, new)
    hint = random.choice([None, spot.line, max(1, spot.line + random.randint(-300, 300))])
    seen = random.choice([None, spot.text])
    return Case(
        "unique", seen, spot.text, old_text, new_text, spot.put(new), True, None if hint is None else max(1, hint)
    )


def removed(random: Random, text: str) -> Case | None:
    spot = some_spot(random, text)
    if spot is None:
        return None
    return Case("lines removed", spot.text, spot.text, joined(spot.block), "", spot.put([]), True)


def one_text_ended(random: Random, text: str) -> Case | None:
    """Only one of the two texts ends its last line; whole lines are meant nevertheless."""
    spot = some_spot(random, text)
    if spot is None:
        return None
    new = changed(random, spot.block)
    old_text, new_text = joined(spot.block), joined(new)
    if random.random() < 0.5 or not new[-1]:
        old_text = old_text.removesuffix("\n")
    else:
        new_text = new_text.removesuffix("\n")
    return Case("one text without last newline", spot.text, spot.text, old_text, new_text, spot.put(new), True)


def reindented(random: Random, text: str) -> Case | None:
    """All lines with less or more indentation, by one amount."""
    spot = some_spot(random, text, least=2)
    if spot is None:
        return None
    least = min((indentation(line) for line in spot.block if line.strip()), key=len)
    more = random.choice(["", "", "  ", "    ", "\t", "        "])
    if more == least or (more and more[0] not in least + more[: not least]):
        return None

    def as_sent(lines: Lines) -> Lines:
        return [more + line.removeprefix(least) if line.strip() else line for line in lines]

    new = changed(random, spot.block)
    old_text, new_text = joined(as_sent(spot.block)), joined(as_sent(new))
    return Case("re-indented", spot.text, spot.text, old_text, new_text, spot.put(new), True)


def reindented_old_only(random: Random, text: str) -> Case | None:
    """old_text lost its indentation, new_text has the right one."""
    spot = some_spot(random, text)
    if spot is None or not all(line[:1] in " \t" for line in spot.block):
        return None
    least = min((indentation(line) for line in spot.block if line.strip()), key=len)
    new = changed(random, spot.block)
    old_text = joined([line.removeprefix(least) for line in spot.block])
    return Case("re-indented, old_text only", spot.text, spot.text, old_text, joined(new), spot.put(new), False)


def tabs_for_spaces(random: Random, text: str) -> Case | None:
    spot = some_spot(random, text, least=2)
    if spot is None:
        return None

    def as_sent(lines: Lines) -> Lines:
        return [_swapped(indentation(line)) + line.lstrip(" \t") for line in lines]

    new = changed(random, spot.block)
    if as_sent(spot.block) == spot.block:
        return None
    old_text, new_text = joined(as_sent(spot.block)), joined(as_sent(new))
    return Case("tabs for spaces", spot.text, spot.text, old_text, new_text, spot.put(new), False)


def _swapped(white: str) -> str:
    return white.replace("\t", "    ") if "\t" in white else white.replace("    ", "\t")


def first_line_unindented(random: Random, text: str) -> Case | None:
    spot = some_spot(random, text, least=2)
    if spot is None or spot.block[0][:1] not in " \t":
        return None
    new = changed(random, spot.block)
    both = random.random() < 0.7
    old_text = joined(spot.block).lstrip(" \t")
    new_text = joined(new).lstrip(" \t") if both else joined(new)
    kind = "first line unindented" if both else "first line unindented, old_text only"
    return Case(kind, spot.text, spot.text, old_text, new_text, spot.put(new), both)


def trailing_blanks(random: Random, text: str) -> Case | None:
    """In the file, or in what the model sends."""
    spot = some_spot(random, text)
    if spot is None:
        return None

    def blanks(lines: Lines) -> Lines:
        return [line + random.choice(["", " ", "  ", "\t"]) for line in lines]

    if random.random() < 0.5:
        stands = blanks(spot.block)
        at = random.choice([at for at, line in enumerate(spot.block) if line.strip()])
        new = change_line(random, spot.block, at)
        expected = spot.put([*stands[:at], new[at], *stands[at + 1 :]])
        now = spot.put(stands)
        old_text, new_text = sent(random, spot.block, new)
        return Case("trailing blanks", now, now, old_text, new_text, expected, True)
    blanked = blanks(spot.block)
    at = random.choice([at for at, line in enumerate(spot.block) if line.strip()])
    new = change_line(random, blanked, at)
    expected = spot.put([*spot.block[:at], new[at], *spot.block[at + 1 :]])
    return Case("trailing blanks", spot.text, spot.text, joined(blanked), joined(new), expected, True)


def line_endings(random: Random, text: str) -> Case | None:
    """CRLF in the file or from the model, or one line of the other kind among many."""
    spot = some_spot(random, text)
    if spot is None:
        return None
    new = changed(random, spot.block)
    file_ending, ending = random.choice([("\r\n", "\n"), ("\n", "\r\n"), ("\r", "\n")])
    now = spot.text.replace("\n", file_ending)
    expected = spot.put(new).replace("\n", file_ending)
    old_text, new_text = joined(spot.block, ending), joined(new, ending)
    if random.random() < 0.3:  # One line far above has the other ending.
        first = spot.text.split("\n", 1)[0]
        if len(spot.before) > 3:
            other = "\n" if file_ending != "\n" else "\r\n"
            now, expected = (first + other + whole[len(first) + len(file_ending) :] for whole in (now, expected))
    return Case("line endings", now, now, old_text, new_text, expected, True)


def elided_old(random: Random, text: str) -> Case | None:
    spot = some_spot(random, text, least=4)
    if spot is None:
        return None
    new = change_line(random, spot.block, 0)
    dots = indentation(spot.block[1]) + random.choice(ELISIONS)
    old_text = joined([spot.block[0], dots, *spot.block[-1:]])
    return Case("elided in old_text", spot.text, spot.text, old_text, joined(new), spot.put(new), False)


def elided_both(random: Random, text: str) -> Case | None:
    spot = some_spot(random, text, least=4)
    if spot is None:
        return None
    new = change_line(random, spot.block, 0)
    dots = indentation(spot.block[1]) + random.choice(ELISIONS)
    old_text, new_text = (joined([some[0], dots, *some[-1:]]) for some in (spot.block, new))
    return Case("elided in both", spot.text, spot.text, old_text, new_text, spot.put(new), False)


def elided_new(random: Random, text: str) -> Case | None:
    """Applied literally, the lines in between would be lost."""
    spot = some_spot(random, text, least=4)
    if spot is None:
        return None
    new = change_line(random, spot.block, 0)
    dots = indentation(spot.block[1]) + random.choice(ELISIONS)
    kept = spot.block[-1:]
    return Case(
        "elided in new_text",
        spot.text,
        spot.text,
        joined(spot.block),
        joined([new[0], dots, *kept]),
        spot.put(new),
        False,
    )


def line_numbers(random: Random, text: str) -> Case | None:
    """As in a listing: in both texts, or in one."""
    spot = some_spot(random, text, least=2)
    if spot is None:
        return None
    new = change_line(random, spot.block, random.choice([at for at, line in enumerate(spot.block) if line.strip()]))
    form = random.choice(["{n}: {line}", "{n:5} | {line}", "{n:6}\t{line}", "{n}|{line}"])

    def numbered(lines: Lines) -> Lines:
        return [form.format(n=spot.line + k, line=line) for k, line in enumerate(lines)]

    old_lines, new_lines = spot.block, new
    which = random.choice(["both", "old_text", "new_text"])
    if which != "new_text":
        old_lines = numbered(old_lines)
    if which != "old_text":
        new_lines = numbered(new_lines)
    return Case(
        "line numbers", spot.text, spot.text, joined(old_lines), joined(new_lines), spot.put(new), False, spot.line
    )


def part_of_line(random: Random, text: str) -> Case | None:
    """Some words in the middle of a line, or from there into the next; found once in the whole text."""
    spot = some_spot(random, text, most=2)
    if spot is None:
        return None
    whole = "\n".join(spot.block)
    words = [match.span() for match in re.finditer(r"\w+|[^\w\s]", whole)]
    if len(words) < 4:
        return None
    first = random.randrange(1, len(words) - 1)
    start, end = words[first][0], words[random.randrange(first, len(words))][1]
    old_text = whole[start:end]
    if spot.text.count(old_text) != 1 or "\n" in whole[:start]:
        return None
    name = fresh(random)
    new_text = name if random.random() < 0.5 else f"{name}({old_text})"
    expected = spot.put((whole[:start] + new_text + whole[end:]).split("\n"))
    return Case("part of a line", spot.text, spot.text, old_text, new_text, expected, True)


def within_words(random: Random, text: str) -> Case | None:
    """A line from an older read; the user has continued to type at its last word since."""
    spot = some_spot(random, text, most=1)
    if spot is None or not spot.block[0][-1:].isalnum():
        return None
    now = spot.put([spot.block[0] + random.choice(["0", "s", "_new"])])
    if spot.text.count(spot.block[0]) != 1:
        return None
    old_text = spot.block[0]
    return Case("within a word", now, now, old_text, joined(changed(random, spot.block))[:-1], None, False)


def whole_file(random: Random, text: str) -> Case | None:
    spot = some_spot(random, text)
    if spot is None:
        return None
    now = typed_around(random, spot) if random.random() < 0.5 else spot
    at = random.randrange(len(spot.block))
    new = change_line(random, spot.block, at)
    return Case("whole file", spot.text, now.text, spot.text, spot.put(new), now.put(new), True)


def file_ends(random: Random, text: str) -> Case | None:
    """The first lines of the file, or the last ones, which have no newline."""
    lines = text.split("\n")[:-1]
    size = random.randint(1, 6)
    if random.random() < 0.5:
        block, new = lines[:size], changed(random, [*lines[: size - 1], lines[size - 1] or "x"])
        if not block[-1].strip() or places(lines, block) != 1:
            return None
        expected = joined([*new, *lines[size:]])
        return Case("ends of the file", text, text, *sent(random, block, new), expected, True)
    block = lines[-size:]
    if not block[0].strip() or not block[-1].strip() or places(lines, block) != 1:
        return None
    new = changed(random, block)
    now, expected = joined(lines)[:-1], joined([*lines[:-size], *new])[:-1]
    if not new[-1]:
        return None
    ended = random.random() < 0.5  # Both end with a newline or neither does: the end of the file does not change.
    old_text, new_text = (joined(some) if ended else joined(some)[:-1] for some in (block, new))
    return Case("ends of the file", now, now, old_text, new_text, expected, True)


def look_alike_characters(random: Random, text: str) -> Case | None:
    """Curly quotes and no-break spaces in the file, plain ones from the model, or the other way round."""
    spot = some_spot(random, text)
    if spot is None:
        return None
    table = random.choice([{'"': "”"}, {"'": "’"}, {"-": "–"}, {" ": "\u00a0"}])
    ((plain, other),) = table.items()
    fancy = [indentation(line) + line.lstrip(" \t").replace(plain, other) for line in spot.block]
    if fancy == spot.block:
        return None
    file, quoted = (fancy, spot.block) if random.random() < 0.5 else (spot.block, fancy)
    at = random.choice([at for at, line in enumerate(spot.block) if line.strip()])
    now = spot.put(file)
    name = f"{indentation(spot.block[at])}{fresh(random)}()"
    new_text = joined([*quoted[:at], name, *quoted[at + 1 :]])
    expected = spot.put([*file[:at], name, *file[at + 1 :]])
    return Case("look-alike characters", now, now, joined(quoted), new_text, expected, False)


QUOTING: Mapping[str, Maker] = {
    "unique": unique,
    "removed": removed,
    "one_text_ended": one_text_ended,
    "reindented": reindented,
    "reindented_old_only": reindented_old_only,
    "tabs_for_spaces": tabs_for_spaces,
    "first_line_unindented": first_line_unindented,
    "trailing_blanks": trailing_blanks,
    "line_endings": line_endings,
    "elided_old": elided_old,
    "elided_both": elided_both,
    "elided_new": elided_new,
    "line_numbers": line_numbers,
    "part_of_line": part_of_line,
    "within_words": within_words,
    "whole_file": whole_file,
    "file_ends": file_ends,
    "look_alike_characters": look_alike_characters,
}
