"""Removes invisible characters from text that the user wrote or reviewed, before a model reads it. Pure.

Invisible, bidirectional and tag characters can hide instructions (Trojan Source, CVE-2021-42574; "ASCII smuggling" with
the tag block). Without them, the model reads the same text that an editor shows.
"""

import re

HIDDEN = re.compile(
    "["
    "\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x84\x86-\x9f"  # controls except tab, line endings and NEL
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners, fillers
    "\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"  # zero width space, bidirectional controls, invisible operators
    "\u2800\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"  # blank Braille, fillers, variation selectors, BOM
    "\ud800-\udfff"  # lone surrogates, which are not text
    "\U000110bd\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # format controls of shorthand and music
    "\U000e0000-\U000e0fff"  # tags, variation selectors supplement
    "]"
    # A single joiner or emoji selector has a meaning after a visible character beyond ASCII, as in `⚠️`.
    "|(?<![^\x00-\x7f\u200c\u200d])[\u200c\u200d]|(?<![^\x00-\x22\x24-\x29\x2b-\x2f\x3a-\x7f\ufe0e\ufe0f])[\ufe0e\ufe0f]"
)

IN_ASCII = re.compile("[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f]")
"""The same for ASCII text, such as most code. It takes a tenth of the time."""


def without_hidden(text: str) -> tuple[str, int]:
    """The visible text, and how many characters were removed."""
    return (IN_ASCII if text.isascii() else HIDDEN).subn("", text)


def printable_name(name: str) -> str:
    """The name as one line, with `?` in place of every character that is not printable."""
    return "".join(character if character.isprintable() else "?" for character in name)
