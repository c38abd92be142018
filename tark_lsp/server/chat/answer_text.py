"""A model's answer while it streams -> Markdown to append to a chat document: no forged headings, no open fences. Pure.

What was given out is never taken back, so a line that may still become something else waits: a heading of ours, a
fence, the opening of a code snippet. Of plain prose every character goes out at once.
"""

import re
from collections.abc import Callable
from pathlib import PurePath

from tark_lsp.context.snippets import CLOSING, OPENING, unescape_code
from tark_lsp.server.chat.fences import Fences
from tark_lsp.server.chat.transcript import HEADINGS, escaped

TICKS = "````"
"""The fence around cited code: longer than most fences in it; a line that would close it is indented."""
UNSHOWABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
"""Controls (a lone CR would begin a line) and halves of surrogate pairs."""
MAYBE_FENCE = re.compile(r" {0,3}(?:`{0,2}|`{3,}.*|~{0,2}|~{3,}.*)$")
OPENING_START = '<code="'
LONGEST_OPENING = 4096
Cite = Callable[[str, int, int], str]
"""Path as the model wrote it, first and last line, from 1 -> a link, or the same in plain words."""


class AnswerText:
    """Each method gives what is to be appended now."""

    def __init__(self, cite: Cite) -> None:
        self._cite = cite
        self._fences = Fences()
        self._language: str | None = None
        """Of the snippet it is in; None outside of one."""
        self._pending = ""
        self._in_line = False
        """Some of the line in `_pending` is out already: it is prose."""
        self._fresh = True
        """Nothing of the model's words stands here yet, or since the last note."""
        self._noted = False
        self._out: list[str] = []
        self._last = "\n\n"
        """The last two characters given out: a section begins after a blank line."""

    def feed(self, delta: str) -> str:
        self._pending += UNSHOWABLE.sub("", delta)
        self._take()
        return self._given()

    def note(self, line: str) -> str:
        """A line of our own: a tool call, an error, a word on how it ended. `line` is one line."""
        self._finish()
        if not (self._fresh and self._noted):
            self._blank_line()
        self._put(f"> {line}\n")
        self._fresh = self._noted = True
        return self._given()

    def close(self) -> str:
        """The rest, and a blank line."""
        self._finish()
        self._blank_line()
        return self._given()

    def _given(self) -> str:
        text = "".join(self._out)
        self._out.clear()
        return text

    def _put(self, text: str) -> None:
        if text:
            self._out.append(text)
            self._last = (self._last + text)[-2:]

    def _take(self) -> None:
        """Whole lines; of the last, unfinished one what can be nothing but prose."""
        *lines, self._pending = self._pending.split("\n")
        for line in lines:
            self._line(line)
        if self._language is None and not self._fences.closing:
            self._some_prose()

    def _line(self, line: str) -> None:
        """A whole line, or the rest of one that has begun; snippets open and close anywhere in it."""
        rest: str | None = line
        while rest is not None:
            rest = self._up_to_opening(rest) if self._language is None else self._up_to_closing(rest)

    def _up_to_opening(self, line: str) -> str | None:
        """`<code="PATH" #S:E>` becomes a link on a line of its own; its fence waits for the first line of code.

        Gives what follows it in the line; None: nothing does.
        """
        if not self._in_line and self._fences.feed(line):
            self._text(f"{line}\n")
            return None
        opening = OPENING.search(line)
        before = line if opening is None else line[: opening.start()]
        if self._in_line:
            self._put(f"{before}\n")
            self._in_line = False
        elif before or opening is None:
            fence = opening is not None and MAYBE_FENCE.match(before) and before.strip()
            self._text(f"\\{before.lstrip()}\n" if fence else f"{escaped(before)}\n")
        if opening is None:
            return None
        first = max(1, int(opening[2]))
        path = opening[1].replace("%22", '"')
        self._text(f"{self._cite(path, first, max(first, int(opening[3] or first)))}\n")
        self._language = re.sub(r"\W", "", PurePath(path).suffix)
        return line[opening.end() :] or None

    def _up_to_closing(self, line: str) -> str | None:
        """To its `</code>`, or to where another snippet begins before that."""
        opening, closing = OPENING.search(line), line.find(CLOSING)
        ends = [each for each in (opening.start() if opening else -1, closing) if each >= 0]
        if not ends:
            self._code(line)
            return None
        if line[: min(ends)].strip():
            self._code(line[: min(ends)])
        self._end_snippet()
        return line[min(ends) :].removeprefix(CLOSING) or None

    def _text(self, text: str) -> None:
        """Words of the model's at the start of a line: apart from what stands above, and no blank lines at the top."""
        if self._fresh:
            if not text.strip():
                return
            self._blank_line()
            self._fresh = False
        self._put(text)

    def _some_prose(self) -> None:
        end = _maybe_opening(self._pending)
        prose = self._pending[:end]
        if self._in_line:
            self._put(prose)
        elif prose.strip() and not MAYBE_FENCE.match(prose) and not _maybe_heading(prose):
            self._text(prose)
            self._in_line = True
        else:
            return
        self._pending = self._pending[end:]

    def _code(self, line: str) -> None:
        if not self._fences.closing:
            self._put(f"\n{TICKS}{self._language}\n")
            self._fences.closing = TICKS
        code = unescape_code(line)
        self._put(f"    {code}\n" if self._fences.closes(code) else f"{code}\n")

    def _end_snippet(self) -> None:
        if self._fences.closing:
            self._put(f"{TICKS}\n")
        self._fences = Fences()
        self._language = None

    def _finish(self) -> None:
        """Give out what waits, and close what is open."""
        line, self._pending = self._pending, ""
        if line or self._in_line:
            self._line(line)
        if self._language is not None:
            self._end_snippet()
        elif self._fences.closing:
            self._put(f"{self._fences.closing}\n")
            self._fences = Fences()

    def _blank_line(self) -> None:
        if self._last != "\n\n":
            self._put("\n" if self._last.endswith("\n") else "\n\n")


def _maybe_heading(text: str) -> bool:
    bare = text.lstrip("\\").rstrip(" \t")
    return any(heading.startswith(bare) for heading in HEADINGS)


def _maybe_opening(text: str) -> int:
    """Where a snippet opens or may be about to; the end of the text where none may."""
    at = text.find(OPENING_START)
    if at < 0:
        at = text.rfind("<")
    may = at >= 0 and (text.startswith(OPENING_START, at) or OPENING_START.startswith(text[at:]))
    return at if may and len(text) - at < LONGEST_OPENING else len(text)
