"""What a session is called, as a text: one line that can be seen whole. Pure."""

from tark_lsp.errors import RequestError
from tark_lsp.server.asking.visible import cut, visible

LONGEST_TITLE = 60
"""Characters."""
LOOKED_AT = 1_000
"""Characters of a text in which its first words are found: people paste whole logs."""


FORK = " (fork)"


def first_words(text: str) -> str:
    """Of its first line that says something; "" where nothing does."""
    beginning = text[: 100 * LOOKED_AT].lstrip()[:LOOKED_AT]
    return cut(visible(" ".join(beginning.splitlines()[0].split())), LONGEST_TITLE) if beginning else ""


def turn_title(prompt: str, kind: str) -> str:
    """What people call a turn; `kind` by its name."""
    return first_words(prompt) or kind.title()


def named(title: str) -> str:
    """What a person calls a session. Raises RequestError where it says nothing."""
    words = first_words(title)
    if not words:
        raise RequestError("title: it is empty")
    return words


def title_of_fork(title: str) -> str:
    return f"{cut(title, LONGEST_TITLE - len(FORK))}{FORK}"
