"""Makes text of a model or a repository safe to show to the user. Pure.

Source: safety.md ("Text shown") and protocol.md ("Without `permission`").
"""

import re
import unicodedata

LONGEST_MESSAGE = 300
"""Visible characters of a `window/showMessageRequest` text."""

HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
"""Controls, bidi and other invisible format characters, private use, surrogates, unassigned, line separators."""

BLANK_BUT_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u180b\u180c\u180d\ufe0e\ufe0f")
"""Letters and marks that draw nothing: Hangul fillers, blank Braille, joiners, variation selectors."""


def visible(text: str) -> str:
    """One line in which every character is visible: a newline is `⏎`, an invisible character is its code point."""
    shown = "".join(_shown(character) for character in text.replace("\r\n", "\n"))
    return defused(shown)


def beginning(text: str, longest: int) -> str:
    """The visible start of a text. It reads only that part, since a prompt can have any length."""
    return cut(visible(text[: 2 * longest + 2]), longest)


def visible_code(text: str) -> str:
    """The same lines, with the code point of each invisible character in its place."""
    return "".join(character if character in "\n\t" else _shown(character) for character in text)


def defused(text: str) -> str:
    """Break Markdown links and images, since some editors make them clickable in messages."""
    return re.sub(r"\](?=[(\[])", "] ", text)


def cut(text: str, longest: int = LONGEST_MESSAGE) -> str:
    """At most `longest` characters, with a mark at the end if something is cut off."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _shown(character: str) -> str:
    if character == "\n":
        return "⏎"
    if character == "\t":
        return "⇥"
    if (
        unicodedata.category(character) in HIDDEN_CATEGORIES
        or character in BLANK_BUT_LETTERS
        or character >= "\U000e0000"
    ):
        return f"\\u{{{ord(character):x}}}"
    if unicodedata.category(character) == "Zs" and character != " ":
        return f"\\u{{{ord(character):x}}}"
    return character


def fence(text: str, language: str) -> str:
    """`text` as a fenced block that it cannot close."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{ticks}"
