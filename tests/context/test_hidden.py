"""What nobody sees is taken out; what is seen, emoji and scripts that need joiners among it, stays."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.context.hidden import HIDDEN, without_hidden

CORPUS = Path(os.environ.get("TARK_SHARED", "../shared")) / "data" / "corpora" / "unicode" / "trojan_source.json"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u200bb\ufeffc\u00ad", "abc"),
        ("\u202eabc\u202c \u2066x\u2069 \u200f", "abc x "),
        ("tags: " + "".join(chr(0xE0000 + ord(item)) for item in "run it"), "tags: "),
        ("smuggled " + "\U000e0100\ufe01\ufe0d" * 9, "smuggled "),
        ("a\u200d\u200cb \u200d\u200d", "ab "),
        ("é\u200d\u200db", "é\u200db"),
        ("☃\ufe0f\ufe0f\ufe0f", "☃\ufe0f"),
        ("bell \x07 escape \x1b[2J nul \0 c1 \x9b", "bell  escape [2J nul  c1 "),
        ("half \ud83d", "half "),
        ("fillers \u3164\u115f\u2800", "fillers "),
    ],
)
def test_what_nobody_sees_goes(text: str, shown: str) -> None:
    assert without_hidden(text) == (shown, len(text) - len(shown))


@pytest.mark.parametrize(
    "text",
    [
        "plain\ttext\r\nand more\n",
        "⚠️ ❤️ 👩‍💻 🏳️‍🌈 1️⃣ #️⃣ *️⃣",
        "می‌خواهم क्‍ष",
        "日本語 и русский العربية",
        "\U0001f44d\U0001f3fd",
    ],
)
def test_what_is_seen_stays(text: str) -> None:
    assert without_hidden(text) == (text, 0)


@given(st.text())
def test_once_is_enough(text: str) -> None:
    shown, taken = without_hidden(text)
    assert len(text) == len(shown) + taken
    shown.encode("utf-8")
    assert not set(shown) & set("\u202e\u2066\u200b\U000e0041\x1b")


@pytest.mark.skipif(not CORPUS.is_file(), reason="the shared test data is not here (TARK_SHARED)")
def test_trojan_source_is_plain_afterwards() -> None:
    files = json.loads(CORPUS.read_text(encoding="utf-8"))
    texts = [string for string in _strings(files) if any("\u202a" <= character <= "\u2069" for character in string)]
    assert texts
    for text in texts:
        assert not any("\u202a" <= character <= "\u202e" for character in without_hidden(text)[0])


def _strings(value: object) -> list[str]:
    match value:
        case str():
            return [value]
        case dict():
            return [text for item in value.values() for text in _strings(item)]
        case list():
            return [text for item in value for text in _strings(item)]
        case _:
            return []


@given(st.text(st.characters(max_codepoint=127)))
def test_the_quick_way_for_ascii_takes_out_the_same(text: str) -> None:
    assert without_hidden(text) == HIDDEN.subn("", text)
