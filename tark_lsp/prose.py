"""Makes Markdown of a model safe to show as a document, also while it streams in. Pure.

Users see the raw text or a rendered preview. Markup that a preview would load, or that hides text, is rewritten so that
both show the same: images become links, tags become text, and links lead to web pages, mail addresses or files.
Code in a line ends with its line, and a fence where its indentation ends: after one wrong guess about what is code, a
preview would load an image that this file took for code.
"""

import re

from tark_lsp.visible import MOST_MARKS, is_hidden, visible, visible_code, visible_words

SAFE_TARGET = r"[ \t]*(?:https?://|mailto:|\#|(?!//)[\w.~%+@/-]+(?:[\#?)]|[ \t]|$))"
"""The target of a link, until it is clear that it is a web page, a mail address or the path of a file."""
TOKEN = re.compile(
    rf"""(?P<escape>\\[!-/:-@\[-`{{-~])
      | (?P<ticks>`+)
      | (?P<image>!\[)
      | (?P<tag><(?=[A-Za-z/!?]))
      | (?P<link>\](?=[(:])(?!.{SAFE_TARGET}))
      | (?P<entity>&(?:\#\w{{1,8}}|\w{{1,31}});)""",
    re.VERBOSE,
)
"""Markup that a preview renders specially. `link` also finds the definition of a reference, `[name]: target`."""
TICKS, TICKS_AT_END = re.compile("(?P<ticks>`+)"), re.compile("`+$")
UNFINISHED = re.compile(r"(?:\\|`+|!|<|&#?\w{0,31}|\u200d|\](?:[(:][ \t]*[\w.~%+@/:-]{0,200})?)$")
"""The end of a text that may become a token with what follows."""
LONGEST_UNFINISHED = 250
FENCE = re.compile(r"([ \t]*)(`{3,}(?=[^`]*$)|~{3,})")
MAYBE_BLOCK = re.compile(r"[ \t]*(?:`{0,2}|`{3,}.*|~{0,2}|~{3,}.*)$|[ \t>|:-]*$")
"""The start of a line that can still become a fence, or the row below the head of a table."""
TABLE_ROW = re.compile(r"[ \t>|:]*-[ \t>|:-]*$")
"""The row below the head of a table. In tables, a bar ends code too."""
DEEPEST = 3
"""Spaces before a fence. With more, it may also be no fence; it is written with these."""


def visible_prose(text: str) -> str:
    """For Markdown that a model wrote, as a document or a part of it that begins and ends with whole lines."""
    prose = Prose()
    return prose.add(text.replace("\r\n", "\n")) + prose.end()


def prose_line(text: str) -> str:
    """For Tark's own text mixed with foreign text, in a line of a Markdown document that begins with Tark's text."""
    prose = Prose(in_line=True)
    return prose.add(visible(text)) + prose.end()


class Prose:
    """Each method returns the text to append to the document now."""

    def __init__(self, *, in_line: bool = False) -> None:
        self._pending = ""
        self._in_line = in_line
        """A part of this line was already returned, so it is not a fence."""
        self._fence: tuple[int, int, str] | None = None
        """The indentation as it was given and as it is written, and what closes it."""
        self._ticks = 0
        """How many backticks end the code in this line. 0 outside of it."""
        self._last = ""
        self._table = False
        self._bars = [False, False]
        """Whether the code in the line above, and in this line, has a bar."""

    def add(self, text: str) -> str:
        *lines, self._pending = (self._pending + text).split("\n")
        written = [self._line(line) for line in lines]
        if self._fence is None and (self._in_line or not MAYBE_BLOCK.match(self._pending)):
            shown, end = self._inline(self._pending, whole=False)
            written.append(shown)
            self._in_line = self._in_line or end > 0
            self._pending = self._pending[end:]
        return "".join(written)

    def end(self) -> str:
        """Return the rest of the text, and close what is open."""
        rest, self._pending = self._pending, ""
        written = self._line(rest) if rest or self._in_line else ""
        if self._fence is not None:
            return written + self._close_fence()
        return written.removesuffix("\n")

    def put(self, ours: str) -> str:
        """Add Tark's own Markdown, which is not changed."""
        written = self.end() + ours
        self._in_line = not ours.endswith("\n")
        return written

    def _line(self, line: str) -> str:
        """A whole line, or the rest of one."""
        if self._fence is not None:
            return self._fenced(line)
        if not self._in_line and (fence := FENCE.match(line)) is not None:
            given = len(fence[1].expandtabs(4))
            self._fence = given, min(given, DEEPEST), fence[2]
            return f"{' ' * self._fence[1]}{visible_code(line[len(fence[1]) :])}\n"
        row = not self._in_line and TABLE_ROW.match(line) is not None
        before = "\\" if row and self._bars[0] else ""
        self._table = bool(line.strip() or self._in_line) and (self._table or (row and not before))
        written = before + self._inline(line)[0]
        if self._ticks:
            written += f"{' ' if self._last.endswith('`') else ''}{'`' * self._ticks}"
        self._ticks, self._last, self._in_line = 0, "", False
        self._bars = [self._bars[1], False]
        return f"{written}\n"

    def _fenced(self, line: str) -> str:
        assert self._fence is not None
        given, written, closing = self._fence
        bare = line.strip(" \t")
        if len(bare) >= len(closing) and not bare.strip(closing[0]):
            self._fence = None
            return f"{' ' * written}{bare}\n"
        code = line.expandtabs(4) if given and line[:given].strip(" ") != line[:given].strip() else line
        depth = len(code) - len(code.lstrip(" "))
        if bare and depth < given:
            return self._close_fence() + self._line(line)
        return f"{visible_code(code[min(depth, given - written) :])}\n"

    def _close_fence(self) -> str:
        assert self._fence is not None
        _, written, closing = self._fence
        self._fence = None
        return f"{' ' * written}{closing}\n"

    def _inline(self, text: str, *, whole: bool = True) -> tuple[str, int]:
        """What is written for `text[:end]`, and `end`: before what can become a token if the line is not `whole`."""
        written: list[str] = []
        at = 0
        tail = min(len(text) - LONGEST_UNFINISHED, len(text.rstrip("`")))
        while at < len(text):
            token, unfinished = (TICKS, TICKS_AT_END) if self._ticks else (TOKEN, UNFINISHED)
            found, rest = token.search(text, at), None
            if not whole and (found is None or found.end() > tail):
                rest = unfinished.search(text, max(at, tail))
            if rest is not None and (found is None or rest.start() <= found.start()):
                return "".join([*written, self._words(text[at : rest.start()])]), rest.start()
            if found is None:
                written.append(self._words(text[at:]))
                break
            written.append(self._words(text[at : found.start()]))
            at, self._last = found.end(), found[0]
            written.append(self._token(found[0], found.lastgroup or ""))
        return "".join(written), len(text)

    def _words(self, text: str) -> str:
        if not text:
            return ""
        before = self._last
        self._last = (before + text)[-2 * MOST_MARKS :]
        if not self._ticks:
            return visible_words(text, before)
        self._bars[1] = self._bars[1] or "|" in text
        if self._table:
            text = re.sub(r"(?<!\\)\|", r"\\|", text)
        return visible_code(text)

    def _token(self, text: str, kind: str) -> str:
        match kind:
            case "ticks" if self._ticks:
                self._ticks = 0 if len(text) == self._ticks else self._ticks
                return text
            case "ticks" if len(text) >= 3:  # it may also be a fence inside a list or quote
                return "".join(f"\\{tick}" for tick in text)
            case "ticks":
                self._ticks = len(text)
                return text
            case "image":
                return "[image: "
            case "tag":
                return "\\<"
            case "link":
                return "]\\"
            case "entity" if _hides_text(text):
                return f"\\{text}"
            case _:
                return text


def _hides_text(entity: str) -> bool:
    import html  # its table of entities takes 0.3 MB, and few texts contain one

    return any(map(is_hidden, html.unescape(entity)))
