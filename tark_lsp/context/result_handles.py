"""Handles: the names of whole tool results that were cut for the model. Pure.

A handle is a digest of the text, so a stored result can be found again whenever it was cut.
"""

import re
from hashlib import sha256

HANDLE = re.compile(r"result:([0-9a-f]{16})")
"""The complete path argument that names a result."""

LONGEST_KEPT = 1024 * 1024
"""Characters of one result that are stored for later reading."""

LONGEST_LINE = 1_000
"""Characters: a longer line counts as several lines, so that every part of it can be read by line number."""


def lines_of(text: str) -> list[str]:
    """The lines of the text, as `how_to_read` counts them."""
    return [
        line[at : at + LONGEST_LINE] for line in text.split("\n") for at in range(0, max(1, len(line)), LONGEST_LINE)
    ]


def result_id(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def how_to_read(result_id: str, start_line: int) -> str:
    """The call that returns the lines from `start_line` on, counted from 1."""
    return f'read_file(path="result:{result_id}", start_line={start_line})'
