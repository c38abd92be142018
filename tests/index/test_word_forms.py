"""Other forms of words."""

import pytest

from tark_lsp.index.word_forms import doer, other_spellings


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("colour", "color"),
        ("colors", "colours"),
        ("normalise", "normalize"),
        ("serialization", "serialisation"),
        ("analysing", "analyzing"),
        ("centre", "center"),
        ("catalogue", "catalog"),
        ("licence", "license"),
    ],
)
def test_spellings(word: str, other: str) -> None:
    assert other_spellings(word) == [other]
    assert other_spellings(other) == [word]


@pytest.mark.parametrize("word", ["four", "for", "header", "match", "request"])
def test_words_with_one_spelling(word: str) -> None:
    assert other_spellings(word) == []


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("shrinks", "shrinker"),
        ("parsing", "parser"),
        ("retry", "retrier"),
        ("splitting", "splitter"),
        ("handle", "handler"),
        ("parser", ""),
        ("run", ""),
    ],
)
def test_doers(word: str, name: str) -> None:
    assert doer(word) == name
