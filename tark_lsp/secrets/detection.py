"""Finds the secrets in a text. Pure, and fast enough for every text that is sent to a model (bench_secrets.py).

There are three searches:

- runs of letters and digits that begin like a vendor's key or follow a name like `api_key`
- names like `password` with a short value
- the lines of private keys

If the name of a file says that it contains keys (`.env`), every value counts. tests/secrets/test_recall.py measures
missed secrets and false positives.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tark_lsp.secrets.shapes import (
    LETTER_DIGIT_SWITCH,
    LONGEST_BEGINNING,
    SHAPES,
    STRONG_NAMES,
    WEAK_NAMES,
    key_pattern,
)


@dataclass(frozen=True, slots=True)
class Secret:
    """`text[start:end]`, which contains no line ending. `whole`: the whole secret, which can have several lines.

    `part`: the number of the line in a secret with several lines, from 1. It is 0 for a secret of one line.
    """

    start: int
    end: int
    kind: str
    whole: str
    part: int = 0


RUN = re.compile(r"[A-Za-z0-9_+/-]{16,}+")
REST = re.compile(r"[\w+/=.~-]*", re.ASCII)
DIGIT = re.compile(r"[0-9]")

ASSIGNS = (
    r"""["'`\])]{0,2}\s{0,3}(?:=>|\?=|:=|={1,3}|:{1,3}|\|\||>|,)\s{0,3}[\\"'`(]{0,4}"""
    r"""(?:(?:bearer|basic|token)\s{1,3})?$"""
)
STRONG = re.compile(rf"(?:{STRONG_NAMES})[\w.-]{{0,24}}{ASSIGNS}|\b(?:bearer|basic)\s{{1,3}}$", re.IGNORECASE)
WEAK = re.compile(rf"(?:(?i:{WEAK_NAMES}))[\w .-]{{0,24}}(?i:{ASSIGNS})")
LOOK_BACK, LONGEST_VALUE, LONGEST_WORD = 80, 1000, 20_000
"""Characters before a run in which a name is searched; of a name's value; and of text without blanks and quotes in
which keys are searched (longer text is, for example, the data of a picture)."""

SHORT_WORDS = ("passw", "pwd", "secret", "token", "api_", "api-", "apik")
SHORT = re.compile(
    r"""(?:passw(?:or)?d|passwd|pwd|secret|token|api[_-]?key)[\w.-]{0,24}
    ["'`\]]{0,2}\s{0,3}(?:=>|:=|={1,3}|:)\s{0,3}
    (?:\\?"(?P<double>[^"\s\\]{8,120})\\?"|\\?'(?P<single>[^'\s\\]{8,120})\\?'
    |(?P<bare>[^\s"'`,;&(){}\[\]<>$\\]{8,120})(?=[\s,;]|\Z))""",
    re.IGNORECASE | re.VERBOSE,
)
"""A name with a value that can be too short for a run, or can have other characters."""

URL = re.compile(r"://[^\s/:@'\"<>{}$]{0,100}:(?P<login>[^\s/@'\"<>{}$]{3,200})@(?=[\w\[])")
WORDS = re.compile(r"/?[A-Za-z]*[0-9]{0,4}(?:[/:._-][A-Za-z]*[0-9]{0,4})*")
"""Words and small numbers with separators, as in `test-key-1234` and `urn:token:x509`."""
WEBHOOK_WORDS = "hooks.slack.com/"

PLACEHOLDER = re.compile(
    r"example|placeholder|changeme|change[_-]me|your[_-]|my[_-]?(?:secret|token|pass)|dummy|xxxx|\*\*\*|\.\.\.|12345678"
    r"|abcdef|qwerty|fake|redacted|secret:|ecdsa-sha2|^(?:pass(?:word)?|user(?:name)?|pwd|test|secret)$",
    re.IGNORECASE,
)
"""Placeholders for secrets in documentation."""

ASSIGNMENT = re.compile(
    r"""^[ \t+-]*(?:export[ \t]+|set[ \t]+)?["']?(?P<name>[A-Za-z_][\w.-]*)["']?[ \t]*[=:][ \t]*
    (?:"(?P<double>[^"\r\n]+)"|'(?P<single>[^'\r\n]+)'|(?P<bare>[^\s"'\#\r\n][^\s\r\n]*))""",
    re.MULTILINE | re.VERBOSE,
)
"""A line in a file of assignments, or in a diff of one."""
SECRET_NAME = re.compile(rf"{STRONG_NAMES}|key|pass|auth", re.IGNORECASE)
NO_SECRET = re.compile(r"[0-9]{1,5}|true|false|yes|no|on|off|none|null", re.IGNORECASE)
"""Values that are not secrets even with a secret's name (`TOKEN_TTL=3600`)."""
LOGIN_LINE = re.compile(
    r"\bpassword[ \t]+(?P<netrc>\S+)|^[^\s#:=][^:=\s]*:(?P<last>[^:\s]+)\s*$|^(?P<alone>[\w.+/-]{16,}=*)\s*$",
    re.MULTILINE,
)
"""A line of `.netrc`, a line of `.htpasswd` or `.pgpass`, and a token that is the whole line."""
PLAIN = re.compile(
    r"-?[\d.,_:]+|true|false|yes|no|on|off|none|null|(?:https?://)?[\w.-]*(?:localhost|example)[\w.:/-]*|https?://[^\s?@]*"
    r"|[./~][\w./-]*|[a-z][a-z-]{0,30}|[A-Z][A-Z_]{0,30}",
)
"""Values that are not secrets even in a file with keys: numbers, switches, addresses, paths, single words."""

SHORTEST_VALUE = 4

KEY_HEAD = re.compile(r"PRIVATE KEY(?: BLOCK)?-----")
KEY_END = "-----END"
KEY_LINE = re.compile(r"([A-Za-z0-9+/=]++)(?:\\[nr]|[\"',;+)\s\\])*$")
KEY_FIELD = re.compile(r"\W*(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): |\W*$")
"""A line that can precede the lines of a key."""
MOST_KEY_LINES, FULL_LINE, LONGEST_KEY_LINE = 400, 40, 500
"""Limits for a private key: the number of its lines; the minimum length of a line except the last ones; and the
maximum length, including the prefix in the output of a search or a diff."""


def find_secrets(text: str, *, every_value: bool = False) -> list[Secret]:
    """The secrets in order, without overlaps. `every_value`: the name of the text's file says that it has keys."""
    found = [*_runs(text), *_short_values(text), *_private_keys(text)]
    if every_value:
        found += _values(text)
    return merged(text, found)


def merged(text: str, found: Iterable[Secret]) -> list[Secret]:
    """Sort secrets, and merge overlapping ones."""
    kept: list[Secret] = []
    for secret in sorted(found, key=lambda one: (one.start, -one.end)):
        if not kept or secret.start >= kept[-1].end:
            kept.append(secret)
        elif secret.end > kept[-1].end:
            kept[-1] = _secret(text, kept[-1].start, secret.end, kept[-1].kind)
    return kept


def looks_random(word: str) -> bool:
    """Whether digits and letters are mixed as in random text: true for `3f9ab2...`, false for `utf8_to_utf16_v2`."""
    letters = [character for character in word if character.isalnum()]
    digits = sum(map(str.isdigit, letters))
    if not 2 <= digits <= len(letters) - 2:
        return False
    return entropy_of(word) >= 3.0 and len(LETTER_DIGIT_SWITCH.findall(word)) >= max(3, len(word) // 8)


def entropy_of(word: str) -> float:
    """Shannon's entropy, in bits per character."""
    counts = Counter(word).values()
    return -sum(count / len(word) * math.log2(count / len(word)) for count in counts)


def _secret(text: str, start: int, end: int, kind: str) -> Secret:
    return Secret(start, end, kind, text[start:end])


def _runs(text: str) -> Iterator[Secret]:
    done = word_end = 0
    for run in RUN.finditer(text):
        start, end = run.span()
        if end <= done or DIGIT.search(text, start, end) is None:
            continue
        if end > word_end:  # else the keys of this word, which can be very long, were already found
            rest = REST.match(text, end)
            word_end = end if rest is None else rest.end()
            looked_at = min(word_end, start + LONGEST_WORD)
            for key in key_pattern().finditer(text, max(done, start - LONGEST_BEGINNING), looked_at):
                if _can_be_key(key[0]):
                    yield _secret(text, key.start(), key.end(), _kind_of(key[0]))
                    done = key.end()
        if end > done and word_end - start <= LONGEST_VALUE:
            at = max(start, done)
            word = text[at:word_end].rstrip(".~-")
            if looks_random(word) and not PLACEHOLDER.search(word) and _is_named(text, at, word):
                done = at + len(word)
                yield _secret(text, at, done, "named-value")


def _is_named(text: str, at: int, word: str) -> bool:
    """Whether the name before the word says that it is a secret."""
    before = text[max(0, at - LOOK_BACK) : at]
    before = before[max(before.rfind("\n"), before.rfind(";")) + 1 :]
    return STRONG.search(before) is not None or (_is_strongly_random(word) and WEAK.search(before) is not None)


def _is_strongly_random(word: str) -> bool:
    return "/" not in word[:2] and (
        len(LETTER_DIGIT_SWITCH.findall(word)) >= 0.2 * len(word) or (len(word) >= 24 and entropy_of(word) >= 4.2)
    )


def _can_be_key(key: str) -> bool:
    """Whether it is a key, not a name that begins like one (`sk-learn-something-with-words`)."""
    if PLACEHOLDER.search(key) or DIGIT.search(key) is None:
        return False
    return len(LETTER_DIGIT_SWITCH.findall(key)) > 2 or entropy_of(key) >= 3.6


def _kind_of(key: str) -> str:
    return next((shape.kind for shape in SHAPES if re.match(shape.pattern, key, re.ASCII)), "api-key")


def _short_values(text: str) -> Iterator[Secret]:
    lower = text.lower()
    if len(lower) != len(text):  # the lower case of a letter has two characters, which would shift the positions
        lower = "".join(character.lower() if character.isascii() else "x" for character in text)
    for word in SHORT_WORDS:
        at = lower.find(word)
        while at >= 0:
            if (found := SHORT.match(text, at)) is not None and found.lastgroup is not None:
                value = found[found.lastgroup]
                kind = "password" if word in ("passw", "pwd") else "named-value"
                if _can_be_password(value, kind, quoted=found.lastgroup != "bare"):
                    yield _secret(text, *found.span(found.lastgroup), kind)
            at = lower.find(word, at + len(word))
    if "://" in text and "@" in text:
        at = text.find("://")
        while at >= 0:
            if (found := URL.match(text, at)) is not None and not PLACEHOLDER.search(found["login"]):
                yield _secret(text, *found.span("login"), "password")
            at = text.find("://", at + 3)
    at = text.find(WEBHOOK_WORDS)
    while at >= 0:
        if (found := key_pattern().match(text, at)) is not None:
            yield _secret(text, *found.span(), "slack-webhook")
        at = text.find(WEBHOOK_WORDS, at + 1)


def _can_be_password(value: str, kind: str, *, quoted: bool) -> bool:
    if DIGIT.search(value) is None or not any(map(str.isalpha, value)) or PLACEHOLDER.search(value):
        return False
    if "://" in value or entropy_of(value) < 2.7 or (kind != "password" and WORDS.fullmatch(value)):
        return False
    if quoted:
        return " " not in value and not re.fullmatch(r"[\w./-]*\.[a-z]{1,5}|[a-z_]+\d{0,2}|[A-Z_]+\d{0,2}", value)
    return re.fullmatch(r"[\w.]*", value) is None or len(LETTER_DIGIT_SWITCH.findall(value)) >= 3


def _values(text: str) -> Iterator[Secret]:
    for pattern in (ASSIGNMENT, LOGIN_LINE):
        for found in pattern.finditer(text):
            group = found.lastgroup
            if group in (None, "name"):
                continue
            named = pattern is ASSIGNMENT and SECRET_NAME.search(found["name"]) is not None
            plain = NO_SECRET if named or group in ("netrc", "last") else PLAIN
            if len(found[group]) < SHORTEST_VALUE or plain.fullmatch(found[group]):
                continue
            if (login := URL.search(found[group])) is not None:
                start = found.start(group) + login.start("login")
                yield _secret(text, start, start + len(login["login"]), "password")
            else:
                yield _secret(text, *found.span(group), "value")


def _private_keys(text: str) -> Iterator[Secret]:
    if "PRIVATE KEY" not in text:
        return
    at = 0
    while (head := KEY_HEAD.search(text, at)) is not None:
        at = head.end()
        line_end = _line_end(text, at)
        closing = text.find(KEY_END, at, line_end)
        if text[at:line_end].strip(" \r\t\\\"'") and (closing >= 0 or "\\n" in text[at:line_end]):
            end = closing if closing >= 0 else line_end
            body = text[at:end].strip("\\nr \"'")
            if len(body) >= FULL_LINE:
                start = text.index(body, at)
                yield _secret(text, start, start + len(body), "private-key")
            at = end
            continue
        line_start = text.rfind("\n", 0, head.start()) + 1
        lines = list(_key_lines(text, line_end + 1, in_diff=text[line_start] in "+- "))
        whole = "\n".join(text[start:end] for start, end in lines)
        for part, (start, end) in enumerate(lines, 1):
            yield Secret(start, end, "private-key", whole, part)
            at = end


def _key_lines(text: str, at: int, *, in_diff: bool) -> Iterator[tuple[int, int]]:
    """The positions of the lines of a key that begins at `at`. In a diff or a search, lines can have a prefix."""
    for _ in range(MOST_KEY_LINES):
        end = _line_end(text, at)
        line = text[at:end]
        if at >= len(text) or len(line) > LONGEST_KEY_LINE or KEY_END in line:
            return
        if KEY_FIELD.match(line) is None:
            body = KEY_LINE.search(line, int(in_diff and line.startswith("+")))
            near_end = _line_end(text, _line_end(text, end + 1) + 1)
            if body is None or (len(body[1]) < FULL_LINE and KEY_END not in text[end:near_end]):
                return
            yield at + body.start(1), at + body.end(1)
        at = end + 1


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
