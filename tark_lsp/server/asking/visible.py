"""Text that comes from a model or a repository, made safe to show to a person. Pure.

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
    """One line in which every character can be seen: newlines as `⏎`, what is invisible as its code point."""
    shown = "".join(_shown(character) for character in text.replace("\r\n", "\n"))
    return defused(shown)


def beginning(text: str, longest: int) -> str:
    """`visible`, and cut: no more is looked at than shows, since a prompt may have any length."""
    return cut(visible(text[: 2 * longest + 2]), longest)


def visible_code(text: str) -> str:
    """Lines as they are, but for what cannot be seen in them: that is shown as its code point."""
    return "".join(character if character in "\n\t" else _shown(character) for character in text)


def defused(text: str) -> str:
    """Markdown links and images no longer are: some editors make them clickable in messages."""
    return re.sub(r"\](?=[(\[])", "] ", text)


def cut(text: str, longest: int = LONGEST_MESSAGE) -> str:
    """At most `longest` characters, the end marked where something is missing."""
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
    """A fenced block that `text` cannot close."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{ticks}"
