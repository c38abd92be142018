"""Where a Markdown text is fenced code and where it is not, line by line (CommonMark, "Fenced code blocks"). Pure."""

import re

OPENING = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
RUN = re.compile(r" {0,3}(`+|~+)[ \t]*$")


class Fences:
    """Fed the lines of a text in order, endings left out."""

    def __init__(self) -> None:
        self.closing = ""
        """The line that would close the block the text is in; empty outside of one."""

    def feed(self, line: str) -> bool:
        """Is this line code, or a fence?"""
        if self.closing:
            if self.closes(line):
                self.closing = ""
            return True
        if (opening := OPENING.match(line)) is not None:
            self.closing = opening[1]
        return bool(self.closing)

    def closes(self, line: str) -> bool:
        run = RUN.match(line)
        return run is not None and bool(self.closing) and run[1].startswith(self.closing)
