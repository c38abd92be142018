"""What is shown is what is: every hostile text on every surface of the server and the terminal (surfaces.py)."""

import html
import re
import unicodedata
from collections.abc import Iterator

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tark_lsp.prose import visible_prose
from tests.surfaces import DRAWS_NOTHING, HOSTILE, LINES, SURFACES, Kind, Surface


def hides(shown: str, kind: Kind) -> Iterator[str]:
    """Characters that draw nothing, break a line or steer a terminal; also too many marks on one letter."""
    marks = 0
    for index, character in enumerate(shown):
        category, before = unicodedata.category(character), shown[index - 1 : index]
        marks = marks + 1 if category in ("Mn", "Me") else 0
        emoji = character in "\u200d\ufe0e\ufe0f" and unicodedata.category(before or "a") in ("So", "Sk", "Mn")
        if character == "\n":
            if kind in LINES:
                yield "a line break"
        elif (character == "\t" and kind not in LINES) or (emoji and kind in ("prose", "terminal", "terminal line")):
            continue
        elif (
            category in ("Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp")
            or (category == "Zs" and character != " ")
            or ord(character) in DRAWS_NOTHING
            or marks > 5
        ):
            yield f"U+{ord(character):04X}"


def previewed(shown: str) -> Iterator[Token]:
    """All tokens of the text as a preview of Markdown reads it."""
    for token in MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(shown):
        yield token
        yield from token.children or ()


OURS = re.compile(r"</?(details|summary)>|<details><summary>[^<]*</summary>")
SAFE = re.compile(r"https?://|mailto:|file:///|(?!//)[\w.~%+@#/-]+(?!:)$")


def acts(shown: str, kind: Kind) -> Iterator[str]:
    """What a click would follow, and what a preview would load or draw as more than text."""
    if kind == "line":
        yield from re.findall(r"\]\(\s*<?(?:\w[\w+.-]*:|//)", shown)
    if kind not in ("code", "prose"):
        return
    for token in previewed(shown):
        if token.type == "image":
            yield "an image"
        elif token.type in ("html_inline", "html_block") and not OURS.fullmatch(token.content.strip()):
            yield f"HTML: {token.content}"
        elif token.type == "link_open" and not SAFE.match(str(token.attrs["href"])):
            yield f"a link to {token.attrs['href']}"
        elif token.type == "link_open" and kind == "code" and "evil" in str(token.attrs["href"]):
            yield "a link out of code"
        elif token.type == "text" and not any(part in token.content for part in ("\ufe0f", "\u200d")):
            yield from hides(token.content, kind)


def plain(shown: str) -> str:
    """The characters that `shown` stands for."""
    read = re.sub(r"\\u\{([0-9a-f]{1,6})\}", lambda found: chr(int(found[1], 16)), shown)
    return read.replace("⏎", "\n").replace("⇥", "\t").replace("\r\n", "\n")


def _with_blanks(text: str) -> str:
    """A terminal draws a tab as blanks."""
    return re.sub(r"[ \t]+", " ", text)


def codes(shown: str) -> Iterator[str]:
    for token in previewed(shown):
        if token.type in ("fence", "code_inline", "code_block"):
            yield plain(token.content).strip()


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: str(surface.name))
def test_nothing_is_hidden_and_nothing_acts(surface: Surface) -> None:
    found = {}
    for name, text in HOSTILE.items():
        shown = surface.draw(text)
        if wrong := [*hides(shown, surface.kind), *acts(shown, surface.kind)]:
            found[name] = (wrong[:5], shown[:400])
    assert found == {}


@pytest.mark.parametrize(
    "surface", [row for row in SURFACES if row.exact and row.kind != "prose"], ids=lambda surface: str(surface.name)
)
def test_what_is_shown_can_be_read_back(surface: Surface) -> None:
    """Code is exact: only characters that do not draw are shown as something else. (Prose is written anew.)"""
    found = {}
    for name, text in HOSTILE.items():
        shown, wanted = surface.draw(text), plain(text).strip()
        if surface.kind == "code":
            exact = not wanted or any(wanted == code for code in codes(shown))
        else:
            exact = _with_blanks(wanted) in _with_blanks(plain(shown))
        if not exact and name != surface.but:
            found[name] = shown[:400]
    assert found == {}


@pytest.mark.parametrize("name", [name for name in HOSTILE if "code point" in name or "brackets of" in name])
def test_code_in_prose_is_exact(name: str) -> None:
    assert f"`{HOSTILE[name].splitlines()[0]}`" in visible_prose(f"See `{HOSTILE[name].splitlines()[0]}` there.")


def test_entities_in_a_preview_hide_nothing() -> None:
    assert not list(hides(html.unescape(visible_prose("a &lt; b")), "prose"))
