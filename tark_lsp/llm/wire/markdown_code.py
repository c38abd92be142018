"""Finds code in a Markdown text that is still streaming: fences and backtick spans (CommonMark 4.5, 6.1)."""

import re
from collections.abc import Iterator

FENCE = re.compile(r"(?P<before>[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t][ \t>]*)*)(?P<fence>`{3,}|~{3,})")
"""Accepts more than the standard (any indentation, quoted, in a list): if in doubt, a block is code."""

PARAGRAPH_ENDS = re.compile(r"\n[ \t\r]*\n|\n[ \t>]*(?:```|~~~)")
RUN = re.compile(r"(?<!`)`+")
MAX_SPAN = 2_000
"""Characters. Backticks without a match within this distance are plain text."""

INDENTED = 4
"""From this column on, a line can be code without a fence, and a fence can be a line of such code."""

IN_DOUBT = -1


class MarkdownCode:
    """Receives the text up to some place, and tells whether that place is in code."""

    def __init__(self) -> None:
        self._added: list[str] = []  # not analysed yet: most texts never need it
        self._fence = ""
        self._indent = 0
        self._quoted = self._doubtful = False  # properties of that fence
        self._paragraph: list[str] = []  # the part of its end that spans still depend on
        self._line = ""
        self._span_line = ""  # the part of its end that spans in the line depend on

    @property
    def begins_line(self) -> bool:
        self._analyse()
        return not self._line.strip()

    def add_text(self, text: str) -> None:
        self._added.append(text)

    def _analyse(self) -> None:
        *lines, rest = "".join(self._added).split("\n")
        self._added = []
        for line in lines:
            self._paragraph.append(f"{line}\n")
            self._end_line(self._line + line)
            self._line = self._span_line = ""
        self._paragraph.append(rest)
        self._line += rest
        self._span_line += rest

    def add_break(self) -> None:
        """Something other than text is here: no span crosses it, and no fence starts after it on the line."""
        self._analyse()
        self._paragraph, self._line, self._span_line = [], "|", ""

    def is_in_code(self, ahead: str, final: bool) -> bool | None:
        """Whether the place after the added text is in code. `ahead` is the text after that place, as far as it is
        known.

        None: it depends on text that has not arrived. `final`: no more text arrives.
        """
        self._analyse()
        if self._fence or _opening(self._line) or _indent(self._line) >= INDENTED:
            return True
        paragraph = "".join(self._paragraph)
        self._paragraph = [paragraph[_settled(paragraph) :]]
        self._span_line = self._span_line[_settled(self._span_line) :]
        # A heading or list item inside what looks like one paragraph starts a new one, so both readings are checked.
        answers = [_in_span(before, ahead, final) for before in (*self._paragraph, self._span_line)]
        return True if True in answers else None if None in answers else False

    def _end_line(self, line: str) -> None:
        if self._fence:
            rest = line.lstrip(" \t>" if self._quoted else " \t")
            closing = re.fullmatch(rf"{re.escape(self._fence[0])}{{{len(self._fence)},}}\s*", rest)
            within = len(line) - len(rest) <= self._indent + 3
            if closing and within and not (self._doubtful and _indent(line) < INDENTED):
                self._fence = ""
        elif opening := _opening(line):
            self._fence, self._indent = opening["fence"], len(opening["before"])
            self._quoted = ">" in opening["before"]
            self._doubtful = _indent(line) >= INDENTED
        elif line.strip():
            return
        self._paragraph = []


def _in_span(before: str, ahead: str, final: bool) -> bool | None:
    """Whether the place between the two is in a span. The result is as of `MarkdownCode.is_in_code`."""
    if "`" not in before:
        return False
    ahead = ahead[: 2 * MAX_SPAN]
    end = PARAGRAPH_ENDS.search(ahead)
    place = len(before)
    text = before + (ahead[: end.start()] if end else ahead)
    for start, stop in _spans(text, known=final or end is not None):
        if start >= place:
            break
        if stop == IN_DOUBT:
            return None
        if stop > place:
            return True
    return False


def _indent(line: str) -> int:
    start = line[: len(line) - len(line.lstrip(" \t"))]
    return len(start.expandtabs(4))


def _opening(line: str) -> re.Match[str] | None:
    """The opening of a fence. Backticks that occur again later in the line belong to a span."""
    found = FENCE.match(line)
    return found if found and (found["fence"][0] == "~" or line.find("`", found.end()) < 0) else None


def _settled(text: str) -> int:
    """The length of the start of `text` where no span can begin any more, less one character that can be an escape."""
    ends = (start for start, stop in _spans(text, known=False) if stop == IN_DOUBT)
    return max(0, next(ends, len(text)) - 1)


def _spans(text: str, known: bool) -> Iterator[tuple[int, int]]:
    """Start and end of each span. The last end can be IN_DOUBT: its backticks can still find a match.

    `known`: the paragraph ends where `text` ends. Otherwise more backticks can follow at the end.
    """
    place = 0
    while (run := RUN.search(text, place)) is not None:
        start, place = run.span()
        length = place - start
        if start and text[start - 1] == "\\":
            length -= 1  # the first backtick is escaped
        if not length and (known or place < len(text)):
            continue
        stop = IN_DOUBT if not known and (place == len(text) or len(text) - start <= MAX_SPAN) else 0
        for other in RUN.finditer(text, place):
            if other.start() - start > MAX_SPAN:
                break
            if other.end() == len(text) and not known:
                stop = IN_DOUBT
                break
            if len(other[0]) == length:
                stop = place = other.end()
                break
        if stop:
            yield start, stop
        if stop == IN_DOUBT:
            return
