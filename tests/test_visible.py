"""Words of models and repositories in front of a person: one line, nothing hidden, no links."""

import json
import os
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.visible import LONGEST_MESSAGE, cut, visible, visible_code, without_icons

UNICODE = Path(os.environ.get("TARK_SHARED", "../shared")) / "data" / "corpora" / "unicode"
needs_corpus = pytest.mark.skipif(not UNICODE.is_dir(), reason="the shared test data is not here (TARK_SHARED)")


def strings(value: Any) -> list[str]:
    match value:
        case str():
            return [value]
        case list():
            return [text for item in value for text in strings(item)]
        case dict():
            return [text for item in value.values() for text in strings(item)]
        case _:
            return []


def is_visible(text: str) -> bool:
    hidden = {"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"}
    spaces = any(unicodedata.category(item) == "Zs" and item != " " for item in text)
    return (
        not spaces
        and not any(unicodedata.category(item) in hidden for item in text)
        and not re.search(r"\]\(\s*<?(\w[\w+.-]*:|//)", text)
    )


@needs_corpus
@pytest.mark.parametrize("name", ["blns.json", "trojan_source.json"])
def test_the_corpora(name: str) -> None:
    texts = strings(json.loads((UNICODE / name).read_text(encoding="utf-8")))
    assert len(texts) > 10
    for text in texts:
        assert is_visible(visible(text)), ascii(text)


@given(st.text())
def test_any_text(text: str) -> None:
    shown = visible(text)
    assert is_visible(shown)
    assert "\n" not in shown
    assert len(cut(shown)) <= LONGEST_MESSAGE


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("rm -rf /", "rm -rf /"),
        ("a\nb\r\nc\td", "a⏎b⏎c⇥d"),
        ("a\rb", "a\\u{d}b"),
        ("\x1b[31mred", "\\u{1b}[31mred"),
        ("admin\u202e txt.exe", "admin\\u{202e} txt.exe"),
        ("zero\u200bwidth\ufeff", "zero\\u{200b}width\\u{feff}"),
        ("no\u00a0break", "no\\u{a0}break"),
        ("tags \U000e0041", "tags \\u{e0041}"),
        ("\u3164filler", "\\u{3164}filler"),
        ("\ud800", "\\u{d800}"),
        ("é 🥧 日本", "é 🥧 日本"),
        ("[click](command:rm)", "[click]\\u{28}command:rm)"),
        ("![x](http://e)", "![x]\\u{28}http://e)"),
        ("[a][b](2)", "[a][b](2)"),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("title", "sent"),
    [
        ("echo $(date) $(sync~spin)", "echo \\$(date) \\$(sync~spin)"),
        ("\\$(trash)", "\\\\$(trash)"),
        ("$(rm -rf ~) $HOME $((1)) $()", "$(rm -rf ~) $HOME $((1)) $()"),
    ],
)
def test_names_of_icons_are_text(title: str, sent: str) -> None:
    """VS Code draws `\\$(name)` as `$(name)`, whatever stands before it."""
    assert without_icons(title) == sent


def test_what_is_cut_is_marked() -> None:
    assert cut("x" * 300) == "x" * 300
    assert cut("x" * 301) == "x" * 299 + "…"
    assert cut("abcdef", 4) == "abc…"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\tx = [1](2)\n", "\tx = [1](2)\n"),
        ("a\u202eb\u200bc\u00a0d\x1b[2Je\r\n", "a\\u{202e}b\\u{200b}c\\u{a0}d\\u{1b}[2Je\\u{d}\n"),
    ],
)
def test_code_keeps_its_lines_and_shows_what_hides(text: str, shown: str) -> None:
    assert visible_code(text) == shown
