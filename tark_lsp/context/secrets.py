"""Checks whether a text seems to contain a key. The check is simple: it can miss keys, and mistake other text for one.

It needs more evidence than the redaction of logs (redaction.py), because a false alarm here loses a note.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping

from tark_lsp.secrets.shapes import LETTER_DIGIT_SWITCH, key_pattern

KINDS: Mapping[str, Callable[[str], object]] = {
    "a private key": re.compile(r"-----BEGIN[ A-Z0-9_-]{0,60}PRIVATE KEY").search,
    "a URL with a password": re.compile(
        r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,100}:[^\s/@]{3,200}@[^\s/]", re.IGNORECASE
    ).search,
    "a token": lambda text: key_pattern().search(text),
    "a password or key": re.compile(
        r"""(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|apikey|access[_-]?key|auth(?:orization)?|credential)s?["'\]]*
        (?:\s*(?:=|:=|=>|:)\s*|\s+is\s+)["'`]?(?:bearer\s+|basic\s+)?
        (?=[^\s"'`]*\d)(?=[^\s"'`]*[A-Za-z])[^\s"'`<>{}$()]{8,}""",
        re.IGNORECASE | re.VERBOSE,
    ).search,
}
RANDOM = re.compile(r"[A-Za-z0-9+_=-]{16,}")
HEXADECIMAL = re.compile(r"[0-9a-f-]+|[0-9A-F-]+")
CHANGES = 0.25
"""Changes between letters and digits, per character. Random text has a third or more, names have few."""
LONG, FEWEST_DIGITS, LEAST_ENTROPY = 24, 3, 4.0
"""The entropy is in bits per character. Random text of letters in both cases and digits has more, written text less."""


def looks_secret(text: str) -> str:
    """What kind of key the text seems to contain, as a phrase; empty if nothing looks like a key.

    Purely hexadecimal text passes, because it is far more often a commit or a checksum than a key.
    """
    for kind, search in KINDS.items():
        if search(text):
            return kind
    return "random text such as a key" if any(_random(found[0]) for found in RANDOM.finditer(text)) else ""


def _random(word: str) -> bool:
    if HEXADECIMAL.fullmatch(word):
        return False
    if len(LETTER_DIGIT_SWITCH.findall(word)) >= CHANGES * len(word):
        return True
    digits = sum(map(str.isdigit, word))
    if len(word) < LONG or digits < FEWEST_DIGITS or word.islower() or word.isupper():
        return False
    counts = Counter(word)
    entropy = -sum(count / len(word) * math.log2(count / len(word)) for count in counts.values())
    return entropy >= LEAST_ENTROPY
