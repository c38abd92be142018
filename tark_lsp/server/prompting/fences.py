"""Finds the lines of a Markdown text that are fenced code (CommonMark, "Fenced code blocks"). Pure."""

import re

OPENING = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
RUN = re.compile(r" {0,3}(`+|~+)[ \t]*$")


class Fences:
    """Call `add_line` for every line of a text, in order and without line endings."""

    def __init__(self) -> None:
        self.closing = ""
        """The line that closes the current block; empty outside of one."""

    def add_line(self, line: str) -> bool:
        """Takes the next line. Returns whether it is code or a fence."""
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
