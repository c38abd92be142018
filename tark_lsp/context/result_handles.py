"""Handles: how the whole of a tool's result is named, where the model was told a part of it. Pure.

A handle is made of the text itself, so that it can be found again from what the log keeps, whenever that was cut.
"""

import re
from hashlib import sha256

HANDLE = re.compile(r"result:([0-9a-f]{16})")
"""The whole of what the model writes for a path."""

LONGEST_KEPT = 1024 * 1024
"""Characters of one result that are kept to be read on."""

LONGEST_LINE = 1_000
"""Characters: a longer line is several, so that all of it can be read on from some number."""


def lines_of(text: str) -> list[str]:
    """As they are counted by `how_to_read`."""
    return [
        line[at : at + LONGEST_LINE] for line in text.split("\n") for at in range(0, max(1, len(line)), LONGEST_LINE)
    ]


def result_id(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def how_to_read(result_id: str, start_line: int) -> str:
    """The call that gives the lines from `start_line` on, counted from 1."""
    return f'read_file(path="result:{result_id}", start_line={start_line})'
