"""Markdown of a model in a document: it has one reading, and streams as it is written whole."""

import json
import random
from pathlib import Path

import pytest

from tark_lsp.prose import Prose, prose_line, visible_prose

TEXTS = [
    row.get("text", "") for row in json.loads((Path(__file__).parent / "hostile_text.json").read_text(encoding="ascii"))
]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("See `Vec<T>` and `vec![0]`, **bold**.\n", "See `Vec<T>` and `vec![0]`, **bold**.\n"),
        ("```py\nx: list[int] = a![b]<c>\n```\n", "```py\nx: list[int] = a![b]<c>\n```\n"),
        ("1. Do\n    ```sh\n    ls <x>\n      in\n    ```\nend", "1. Do\n   ```sh\n   ls <x>\n     in\n   ```\nend"),
        ("[a](https://b/c) [d](src/e.py#L3) [f](#g)", "[a](https://b/c) [d](src/e.py#L3) [f](#g)"),
        ("[a](command:b) [c](file:///d) [e](//f/g)", "[a]\\(command:b) [c]\\(file:///d) [e]\\(//f/g)"),
        ("![a](https://b) ![c][d]\n\n[d]: data:e", "[image: a](https://b) [image: c][d]\n\n[d]\\: data:e"),
        ("<img src=x> <!-- y --> 1 < 2", "\\<img src=x> \\<!-- y --> 1 < 2"),
        ("a ` b\n![c](https://d) ` e", "a ` b`\n[image: c](https://d) ` e`"),
        ("- a\n  ```\n![b](https://c)", "- a\n  ```\n  ```\n[image: b](https://c)"),
        ("- a\n  ```\n     ```\n  ![b](https://c)", "- a\n  ```\n  ```\n  [image: b](https://c)"),
        ("| ` | a ` b ` ![c](d) ` |\n|---|---|", "| ` | a ` b ` ![c](d) ` |\n\\|---|---|"),
        ("| a |\n|---|\n| `b|c` |", "| a |\n|---|\n| `b\\|c` |"),
        ("&lt; &#x202e; &ZeroWidthSpace;", "&lt; \\&#x202e; \\&ZeroWidthSpace;"),
        ("\\`![a](https://b)\\`", "\\`[image: a](https://b)\\`"),
    ],
)  # fmt: skip
def test_what_is_written(text: str, written: str) -> None:
    assert visible_prose(text) == written


def test_it_streams_as_it_is_written_whole() -> None:
    """Whatever the pieces are: what was returned is never taken back."""
    chance = random.Random(5)
    for _ in range(150):
        text = "\n".join(chance.sample(TEXTS, 3)).replace("\r\n", "\n")
        prose, written, at = Prose(), "", 0
        while at < len(text):
            size = chance.choice([1, 2, 3, 50])
            written += prose.add(text[at : at + size])
            at += size
        assert written + prose.end() == visible_prose(text)


def test_a_line_stays_a_line() -> None:
    assert prose_line("```\n# a") == "\\`\\`\\`⏎# a"


def test_it_takes_linear_time() -> None:
    for part in ("`", "` ", "](", "<", "&a", "\\", "![", "a\u0301", "| `|` ", "``` "):
        assert visible_prose(part * 50_000)
