"""Converts a streaming answer to Markdown that is appended to a chat document: no forged headings or open fences. Pure.

Text that was returned is never changed. So a line waits while it can still become one of Tark's headings, a fence, or
the start of a code snippet. Plain prose is returned at once, character by character.
"""

import re
from collections.abc import Callable
from pathlib import PurePath

from tark_lsp.context.snippets import CLOSING, OPENING, unescape_code
from tark_lsp.server.chat.transcript import HEADINGS, escaped
from tark_lsp.server.prompting.fences import Fences

TICKS = "````"
"""The fence around cited code. It is longer than most fences inside; a line that would close it is indented."""
MAYBE_FENCE = re.compile(r" {0,3}(?:`{0,2}|`{3,}.*|~{0,2}|~{3,}.*)$")
OPENING_START = '<code="'
LONGEST_OPENING = 4096
Cite = Callable[[str, int, int], str]
"""The path as the model wrote it, first and last line from 1 -> a link, or the same in plain words."""


class Output:
    """Text to append to the document."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._end = "\n\n"
        """The last two characters of the text, because a section begins after a blank line."""

    def put(self, text: str) -> None:
        if text:
            self._pieces.append(text)
            self._end = (self._end + text)[-2:]

    def put_blank_line(self) -> None:
        """Add a blank line, unless the text already ends with one."""
        if self._end != "\n\n":
            self.put("\n" if self._end.endswith("\n") else "\n\n")

    def take(self) -> str:
        """Return what was added since the last call."""
        text = "".join(self._pieces)
        self._pieces.clear()
        return text


class AnswerText:
    """Each method returns the text to append now."""

    def __init__(self, cite: Cite) -> None:
        self._cite = cite
        self._fences = Fences()
        self._language: str | None = None
        """The fence of the current code snippet; None outside a snippet."""
        self._pending = ""
        self._in_line = False
        """A part of the line in `_pending` was already returned, because it is prose."""
        self._fresh = True
        """The model's text was not written yet, or not since the last note."""
        self._noted = False
        self._output = Output()

    def add_text(self, delta: str) -> str:
        self._pending += delta.replace("\r", "")  # a lone `\r` would begin a line
        self._write_lines()
        return self._output.take()

    def add_note(self, line: str) -> str:
        """Add a line by Tark: a tool call, an error, or how the answer ended. `line` is one line."""
        self._finish()
        if not (self._fresh and self._noted):
            self._output.put_blank_line()
        self._output.put(f"> {line}\n")
        self._fresh = self._noted = True
        return self._output.take()

    def end_text(self) -> str:
        """Return the rest, and a blank line."""
        self._finish()
        self._output.put_blank_line()
        return self._output.take()

    def _write_lines(self) -> None:
        """Write whole lines, and the part of the last, unfinished line that can only be prose."""
        *lines, self._pending = self._pending.split("\n")
        for line in lines:
            self._line(line)
        if self._language is None and not self._fences.closing:
            self._some_prose()

    def _line(self, line: str) -> None:
        """Write a whole line, or the rest of a line. Snippets can open and close anywhere in it."""
        rest: str | None = line
        while rest is not None:
            rest = self._up_to_opening(rest) if self._language is None else self._up_to_closing(rest)

    def _up_to_opening(self, line: str) -> str | None:
        """`<code="PATH" #S:E>` becomes a link on its own line; its fence follows with the first line of code.

        Returns the rest of the line; None if nothing follows.
        """
        if not self._in_line and self._fences.add_line(line):
            self._text(f"{line}\n")
            return None
        opening = OPENING.search(line)
        before = line if opening is None else line[: opening.start()]
        if self._in_line:
            self._output.put(f"{before}\n")
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
        """Write up to the `</code>`, or up to the next snippet if that begins before."""
        opening, closing = OPENING.search(line), line.find(CLOSING)
        ends = [end for end in (opening.start() if opening else -1, closing) if end >= 0]
        if not ends:
            self._code(line)
            return None
        if line[: min(ends)].strip():
            self._code(line[: min(ends)])
        self._end_snippet()
        return line[min(ends) :].removeprefix(CLOSING) or None

    def _text(self, text: str) -> None:
        """Write the model's text at the start of a line: after a blank line, without blank lines at the top."""
        if self._fresh:
            if not text.strip():
                return
            self._output.put_blank_line()
            self._fresh = False
        self._output.put(text)

    def _some_prose(self) -> None:
        end = _maybe_opening(self._pending)
        prose = self._pending[:end]
        if self._in_line:
            self._output.put(prose)
        elif prose.strip() and not MAYBE_FENCE.match(prose) and not _maybe_heading(prose):
            self._text(prose)
            self._in_line = True
        else:
            return
        self._pending = self._pending[end:]

    def _code(self, line: str) -> None:
        if not self._fences.closing:
            self._output.put(f"\n{TICKS}{self._language}\n")
            self._fences.closing = TICKS
        code = unescape_code(line)
        self._output.put(f"    {code}\n" if self._fences.closes(code) else f"{code}\n")

    def _end_snippet(self) -> None:
        if self._fences.closing:
            self._output.put(f"{TICKS}\n")
        self._fences = Fences()
        self._language = None

    def _finish(self) -> None:
        """Write pending text, and close open fences."""
        line, self._pending = self._pending, ""
        if line or self._in_line:
            self._line(line)
        if self._language is not None:
            self._end_snippet()
        elif self._fences.closing:
            self._output.put(f"{self._fences.closing}\n")
            self._fences = Fences()


def _maybe_heading(text: str) -> bool:
    bare = text.lstrip("\\").rstrip(" \t")
    return any(heading.startswith(bare) for heading in HEADINGS)


def _maybe_opening(text: str) -> int:
    """The index where a snippet opens, or may be about to open; the end of the text if there is none."""
    at = text.find(OPENING_START)
    if at < 0:
        at = text.rfind("<")
    may = at >= 0 and (text.startswith(OPENING_START, at) or OPENING_START.startswith(text[at:]))
    return at if may and len(text) - at < LONGEST_OPENING else len(text)
