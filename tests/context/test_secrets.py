"""The check for keys: what it must see, what it must let through, and how much of a large list of formats it sees.

The keys here are made up, and put together at run time so that no scanner takes this file for a leak.
"""

import json
import os
import random
import re
import string
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]  # the one parser of regular expressions there is
from typing import Any

import pytest

from tark_lsp.context.secrets import looks_secret

CORPUS = Path(os.environ.get("TARK_SHARED", "../shared")) / "data" / "corpora" / "secrets" / "gitleaks_rules_py.json"
LETTERS = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9"

KEYS = {
    "anthropic": "sk-" + "ant-api03-" + LETTERS,
    "openai": "sk-" + "proj-" + LETTERS,
    "github": "gh" + "p_" + LETTERS + "abcdef12345",
    "gitlab": "gl" + "pat-" + LETTERS[:20],
    "aws": "AK" + "IA" + "ABCDEFGHIJKLMNOP",
    "google": "AI" + "za" + LETTERS + "abcdefgh",
    "slack": "xo" + "xb-" + "1234567890-abcdefgh",
    "private key": "-----BEGIN " + "RSA PRIVATE KEY-----",
    "web token": "ey" + "JhbGciOiJIUzI1NiJ9." + "ey" + "JzdWIiOiIxMjM0NTY3ODkw",
    "URL": "postgres://" + "me:" + "hunter22@db.example/x",
    "password": "the pass" + "word is h4nter2-today",
    "assigned": "DB_SECRET" + "=correct7horse",
    "hexadecimal after its name": "api_key: " + "0123456789abcdef" * 2,
    "base 36": "k3j9x0q2v7b1n8m4c6z5l0p9",
    "base 64": "aGVsbG8gd29ybGQsIHRoaXMgaXMgbm90IGE1",
}


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("text", ["{}", "Note that {} is used.", "a\n`{}`\nb", "key='{}';"])
def test_a_key_is_seen(name: str, text: str) -> None:
    assert looks_secret(text.format(KEYS[name])) != ""


@pytest.mark.parametrize(
    "text",
    [
        "Run the tests with `uv run pytest -m 'not slow'` (about two minutes).",
        "The API key is read from ANTHROPIC_API_KEY, never from a file.",
        "password: ask Anna; tokens are in the keyring",
        "The token limit is 8000 and the secret is to be patient.",
        "Broken since 576338f5a1c2d3e4f5061728394a5b6c7d8e9f00, fixed in 501269a.",
        "Session 123e4567-e89b-12d3-a456-426614174000 shows it.",
        "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "See tests/editors/test_turn_again.py::test_2024_01_02 and docs/architecture.md",
        "utf8_to_utf16le_v2_x86_64 is slow; use AbstractSingletonProxyFactoryBean2",
        "http://localhost:8080/path and https://example.com/a?b=c are up.",
        "Größe, 日本語, и русский.",
    ],
)
def test_what_people_write_is_let_through(text: str) -> None:
    assert looks_secret(text) == ""


def test_the_check_takes_little_time_whatever_the_text() -> None:
    for text in (
        "a" * 20_000,
        "a1" * 10_000,
        "eyA." * 5_000,
        "password " * 2_000,
        "http://" + "a" * 20_000,
        "=" * 20_000,
    ):
        looks_secret(text)


@pytest.mark.skipif(not CORPUS.is_file(), reason="the shared test data is not here (TARK_SHARED)")
def test_most_formats_of_a_large_list_are_seen() -> None:
    """Texts made from the patterns of gitleaks: an honest figure, of which docs/instructions.md speaks."""
    chance = random.Random(1)
    seen = made = 0
    for rule in json.loads(CORPUS.read_text(encoding="utf-8"))["rules"]:
        for text in text_of_pattern(rule["regex"], chance, 5):
            made += 1
            seen += bool(looks_secret(f"the value {text} here"))
    assert made > 800
    assert seen / made > 0.8


def text_of_pattern(pattern: str, chance: random.Random, most: int) -> list[str]:
    """Up to `most` texts that the pattern matches; none if it is not one of Python's."""
    try:
        plain, compiled = _parser.parse(pattern), re.compile(pattern)
    except (re.error, TypeError, FutureWarning):
        return []
    made = [_text_of(plain, chance) for _ in range(most)]
    return [text for text in made if compiled.search(text)]


def _text_of(pattern: Any, chance: random.Random) -> str:
    """One the pattern matches, mostly: look-arounds and edges are left out."""
    c = _constants
    found = []
    for operation, value in pattern:
        if operation is c.LITERAL:
            found.append(chr(value))
        elif operation is c.IN:
            found.append(_one_of(value, chance))
        elif operation is c.BRANCH:
            found.append(_text_of(chance.choice(value[1]), chance))
        elif operation is c.SUBPATTERN:
            found.append(_text_of(value[3], chance))
        elif operation in (c.MAX_REPEAT, c.MIN_REPEAT):
            found += [_text_of(value[2], chance) for _ in range(value[0])]
        elif operation in (c.ANY, c.NOT_LITERAL):
            found.append("x")
    return "".join(found)


def _one_of(members: Any, chance: random.Random) -> str:
    c = _constants
    kinds = {c.CATEGORY_DIGIT: string.digits, c.CATEGORY_WORD: string.ascii_letters + string.digits}
    characters: list[str] = []
    for operation, value in members:
        if operation is c.LITERAL:
            characters.append(chr(value))
        elif operation is c.RANGE:
            characters += map(chr, range(value[0], min(value[1], 126) + 1))
        elif operation is c.CATEGORY:
            characters += kinds.get(value, " ")
    if members[0][0] is c.NEGATE:
        characters = sorted(set(string.ascii_letters + string.digits) - set(characters))
    return chance.choice(characters or ["x"])
