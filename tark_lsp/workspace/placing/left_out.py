"""Finds what is not code in the new text of an edit: placeholders for lines, code fences, line numbers; pure."""

import re
from collections.abc import Collection, Sequence
from pathlib import PurePath

from tark_lsp.errors import ToolError
from tark_lsp.workspace.lines import changed_ranges, split_lines

SHOWN_CHARACTERS = 300
LONGEST = 200
"""In characters. A longer line is not a placeholder."""
MOST_WORDS = 12
DOTS = ("...", "…")
SIGNS = ("#", "//", "--", ";", "%", "/*", "{/*", "<!--", "*", "'''", '"""', "REM ", "@rem ")
"""What comments begin with. The end markers of comments are among the characters around the words."""
AROUND = " \t.…*-–—_=~[](){}<>/\\#!:;,%|+'\"`"
BRACKETS = {"(": ")", "[": "]", "<": ">", "{": "}"}

_KEYS = """existing rest remaining remainder unchanged omitted elided truncated unmodified untouched unaltered snip
snipped same"""
_THINGS = """code file function functions method methods class classes implementation implementations body logic content
contents import imports line lines block blocks section sections test tests component components module script program
definition definitions field fields property properties handler handlers route routes case cases html jsx markup css
style styles stuff config configuration settings variable variables statement statements helpers
declarations exports types hooks"""
_FILLERS = """the a an all any other others your my this that these our of in for from with and as is are to it its here
goes above below before earlier stay stays remain remains keep keeps kept continue continues brevity change changes no
not exactly everything everything's more previous original current old etc todo leave left out"""
KEYS = frozenset(_KEYS.split())
THINGS = frozenset(_THINGS.split())
WORDS = KEYS | THINGS | frozenset(_FILLERS.split())
ALONE = frozenset(
    {
        "unchanged",
        "snip",
        "truncated",
        "omitted",
        "omitted for brevity",
        "no changes here",
        "same as before",
        "rest unchanged",
        "rest is unchanged",
        "the rest is unchanged",
        "everything else unchanged",
        "everything else stays the same",
    }
)
LEFT_OUT = KEYS | frozenset({"previous", "original", "before", "keep", "code", "continues", "skipped"})
"""With dots, one of these words is enough for a placeholder."""

LEADING = KEYS - {"same"} | {"keep"}
"""With dots at the end, one of these words is enough at the beginning."""
STAYING = frozenset({"remains", "remain", "stays", "stay", "keep", "keeps", "everything"})
ONLY_WORDS = re.compile(r"[A-Za-z' ,.…()\[\]-]*")

PROSE = frozenset(
    {
        ".md",
        ".markdown",
        ".mdx",
        ".mkd",
        ".rst",
        ".txt",
        ".text",
        ".adoc",
        ".asciidoc",
        ".org",
        ".rmd",
        ".qmd",
        ".csv",
        ".tsv",
        ".log",
    }
)
_NAMES = "readme license licence copying changelog changes news authors contributing notice todo"
PROSE_NAMES = frozenset(_NAMES.split())

FENCES = ("```", "~~~")
NUMBERED = re.compile(r"[ \t]*(\d{1,9})(?: |\t(?=[|:│→]))?([|:│→\t])")
"""If several tabs follow the number, only the first does not belong to the line."""


def is_prose(path: PurePath) -> bool:
    """Whether it is a Markdown or plain-text file, where fences, numbers and words about other text are content."""
    return path.suffix.lower() in PROSE or (not path.suffix and path.name.lower() in PROSE_NAMES)


def require_complete(text: str, old: str, new: str) -> None:
    """Raises ToolError `unsupported` if `new` leaves lines out with a placeholder, or is in a code fence.

    These are not placeholders: lines that `old` has as well, a comment that replaces no line and is already in the
    text, and dots alone that replace no line or only `pass`. Dots that replace the body of a function are refused,
    although they can be a Python stub. A stub can be written on the line of its header.
    """
    wanted, fresh = split_lines(old), split_lines(new)
    known = {one.strip() for one in wanted}
    if (found := numbers_of(wanted)) is not None and wanted[0] not in text:  # the quote is from a listing
        wanted = found[2]
        known |= {one.strip() for one in wanted}
    require_no_fence(fresh, known)
    _require_every_line(text, wanted, fresh, known)


def require_no_fence(fresh: Sequence[str], known: Collection[str] = ()) -> None:
    """Raises ToolError `unsupported` if a code fence is around the lines. `known`: lines that are not a fence."""
    filled = [line.strip() for line in fresh if line.strip()]
    if len(filled) < 2 or not filled[0].startswith(FENCES) or filled[0] in known:
        return
    sign = filled[0][:3]
    if filled[-1].strip(sign[0]) == "" and filled[-1].startswith(sign) and " " not in filled[0].strip(sign[0]).strip():
        raise ToolError(
            "unsupported",
            f"the new text is in a code fence: {filled[0][:SHOWN_CHARACTERS]}",
            hint=f"give only the code, without the lines {sign}",
        )


def _require_every_line(text: str, wanted: Sequence[str], fresh: Sequence[str], known: Collection[str]) -> None:
    for i1, i2, j1, j2 in changed_ranges([line.rstrip() for line in wanted], [line.rstrip() for line in fresh]):
        for at in range(j1, j2):
            line = fresh[at].strip()
            dots = line in DOTS and any(gone.strip() not in ("", "pass") for gone in wanted[i1:i2])
            if line in known or not (dots or (stands_for_lines(line) and (i2 > i1 or line not in text))):
                continue
            raise ToolError(
                "unsupported",
                f"the new text leaves lines out: {line[:SHOWN_CHARACTERS]}",
                hint="write out every line, or replace fewer lines; if you mean the comment literally, say in other "
                "words what it is about; a stub goes on one line: def f(): ...",
            )


def stands_for_lines(line: str) -> bool:
    """Whether the line is a placeholder for lines that are not written: a comment, or words in dots or brackets."""
    line = line.strip()
    if not line or len(line) > LONGEST:
        return False
    sign = next((sign for sign in SIGNS if line.startswith(sign)), "")
    said = line.lstrip(sign[0]).strip() if sign in ("#", ";", "%", "*") else line.removeprefix(sign).strip()
    for end in ("-->", "*/}", "*/", "'''", '"""'):
        said = said.removesuffix(end).strip()
    if sign and said in DOTS:
        return True
    words = re.findall(r"[a-z']+", said.strip(AROUND).lower())
    if not words or len(words) > MOST_WORDS:
        return False
    inner = said.strip("*-–—_=~#/! ")
    dotted = inner.startswith(DOTS)
    bracketed = BRACKETS.get(inner.lstrip(".… ")[:1]) == inner[-1:]
    glued = len(words) == 1 and inner.strip("([{<")[:4].strip(".…")[:1].isalpha()  # `[...rest]`
    if not sign and (glued or not (bracketed or dotted)):
        return False
    if (dotted or inner.lstrip("([{< ").startswith(DOTS)) and (sign or bracketed) and LEFT_OUT.intersection(words):
        return True
    leading = next((word for word in words if word not in ("the", "your", "all", "and")), "")
    if inner.rstrip(")]>} ").endswith(DOTS) and (sign or bracketed) and leading in LEADING:
        return True
    return ONLY_WORDS.fullmatch(said.strip(AROUND)) is not None and _says_only_that(words)


def _says_only_that(words: Sequence[str]) -> bool:
    """Whether the words are about existing code and nothing else."""
    if " ".join(words) in ALONE:
        return True
    keys = KEYS.intersection(words)
    if keys == {"same"} and not STAYING.intersection(words):
        return False
    return WORDS.issuperset(words) and bool(keys) and bool(THINGS.intersection(words))


def require_no_numbers(old: str, new: str, line: int) -> None:
    """Raises ToolError `unsupported` if each line of `new` begins with the number that a listing gives it.

    `line` is where `old` begins in the text, from 1. Dictionaries and tables have such lines, too. So the first number
    must be that line, or one of the lines must be in `old` without its number.
    """
    found = numbers_of(split_lines(new))
    if found is None or numbers_of(split_lines(old)) is not None:
        return
    number, separator, bare = found
    known = {one.strip() for one in split_lines(old)} - {""}
    items = separator == ":" and all(one.rstrip().endswith(",") for one in bare[:-1] or bare)
    same = any(one.strip() in known for one in bare)
    if same or (not items and number == line) or (separator in "│→" and len(bare) > 1):
        raise ToolError(
            "unsupported", "the new lines begin with line numbers", hint="give them without the numbers of the listing"
        )


def numbers_of(lines: Sequence[str]) -> tuple[int, str, list[str]] | None:
    """The first number, what separates numbers from lines, and the lines without both. None unless every line has a
    number, each one higher than the last."""
    matches = [NUMBERED.match(line[:LONGEST]) for line in lines]
    numbers = [int(match[1]) for match in matches if match]
    if not numbers or numbers != list(range(numbers[0], numbers[0] + len(lines))):
        return None
    separators = {match[2] for match in matches if match}
    if len(separators) > 1:
        return None
    bare = [line[match.end() :] for line, match in zip(lines, matches, strict=True) if match]
    if all(one.startswith(" ") or not one.strip() for one in bare):
        bare = [one.removeprefix(" ") for one in bare]
    return numbers[0], separators.pop(), bare
