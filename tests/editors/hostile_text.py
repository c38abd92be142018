"""The worst of the shared hostile strings, for tests that read what a real editor shows of them."""

import json
import unicodedata
from pathlib import Path

TABLE = Path(__file__).parents[1] / "hostile_text.json"
NAMES = (
    "bidi override",
    "bidi override in code",
    "zero-width characters",
    "escape sequences that move and erase",
    "NUL",
    "carriage return",
    "newline that fakes buttons",
    "Markdown link of a command",
    "theme icons",
    "Neovim status line",
)
INVISIBLE = {"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"}


def worst() -> list[str]:
    """Ten texts."""
    texts = {entry["name"]: entry.get("text") for entry in json.loads(TABLE.read_text(encoding="utf-8"))}
    return [texts[name] for name in NAMES]


def exact(text: str, newline: str = "⏎") -> str:
    """What an editor must show: each invisible character as its code point."""
    return "".join(
        newline
        if character == "\n"
        else f"\\u{{{ord(character):x}}}"
        if unicodedata.category(character) in INVISIBLE
        else character
        for character in text
    )


def deceptive(shown: str) -> set[str]:
    """The characters of a screen that its reader cannot see, except line ends and the blanks of editors."""
    return {character for character in shown if unicodedata.category(character) in INVISIBLE and character != "\n"}
