"""Titles of sessions and turns: one visible line. Pure."""

import re

from tark_lsp.errors import RequestError
from tark_lsp.visible import cut, visible

LONGEST_TITLE = 60
"""Characters."""
LOOKED_AT = 1_000
"""The characters of a text that are read for its first words, because users paste whole logs."""
FORK = re.compile(r" \(fork(?: ([1-9][0-9]{0,5}))?\)$", re.ASCII)
"""The end of a fork's title: `(fork)`, or `(fork 2)` for a fork of the fork."""


def first_words(text: str) -> str:
    """The beginning of the first line that is not blank; "" if all lines are blank."""
    beginning = text[: 100 * LOOKED_AT].lstrip()[:LOOKED_AT]
    return cut(visible(" ".join(beginning.splitlines()[0].split())), LONGEST_TITLE) if beginning else ""


def turn_title(prompt: str, kind: str) -> str:
    """The title of a turn for the user. `kind` is the name of its kind."""
    return first_words(prompt) or kind.title()


def checked_title(title: str) -> str:
    """A title from the user, on one line. Raises RequestError if it is blank."""
    words = first_words(title)
    if not words:
        raise RequestError("title: the title is empty")
    return words


def title_of_fork(title: str) -> str:
    """The title of the original with `(fork)`. A fork of a fork gets a number, so that the title does not grow."""
    found = FORK.search(title)
    end = f" (fork {int(found[1] or 1) + 1})" if found else " (fork)"
    return f"{cut(title[: found.start()] if found else title, LONGEST_TITLE - len(end))}{end}"
