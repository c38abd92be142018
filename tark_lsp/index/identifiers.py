"""Splits identifiers into words: `parseHTTPHeader2` is parse, http, header and 2. Pure."""

import re

IDENTIFIER = re.compile(r"\w+")

_DIGITS = re.compile(r"(\d+)")


def identifier_words(identifier: str) -> tuple[str, ...]:
    """Split snake_case, kebab-case, camelCase and PascalCase, and between letters and digits. Returns lower case.

    A run of capitals is one word, except its last capital before a small letter: `HTMLParser` is html and parser.
    """
    words: list[str] = []
    for run in IDENTIFIER.findall(identifier):
        for part in run.split("_"):
            for piece in _DIGITS.split(part):
                words += _camel_words(piece)
    return tuple(word.lower() for word in words if word)


def _camel_words(piece: str) -> list[str]:
    if piece.islower() or piece.isdigit():
        return [piece]
    words: list[str] = []
    start = 0
    for at in range(1, len(piece)):
        begins_word = piece[at].isupper() and not piece[at - 1].isupper()
        ends_capitals = (
            piece[at].isupper() and piece[at - 1].isupper() and at + 1 < len(piece) and piece[at + 1].islower()
        )
        if begins_word or ends_capitals:
            words.append(piece[start:at])
            start = at
    words.append(piece[start:])
    return words
