"""Words of identifiers."""

from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.index.identifiers import identifier_words

WORDS = {
    "parseHTTPHeader2": ("parse", "http", "header", "2"),
    "parse_http_header": ("parse", "http", "header"),
    "parse-http-header": ("parse", "http", "header"),
    "PARSE_HTTP": ("parse", "http"),
    "HTMLParser": ("html", "parser"),
    "X": ("x",),
    "__init__": ("init",),
    "utf8Decode": ("utf", "8", "decode"),
    "Shape::area": ("shape", "area"),
    "größeÄndern": ("größe", "ändern"),
    "名前2": ("名前", "2"),
    "": (),
    "--": (),
}


def test_words() -> None:
    assert {name: identifier_words(name) for name in WORDS} == WORDS


@given(st.text(max_size=20))
def test_any_text_has_words(text: str) -> None:
    words = identifier_words(text)
    assert all(words)
    assert "".join(words) == "".join(part.lower() for part in identifier_parts(text))


def identifier_parts(text: str) -> list[str]:
    """The letters and digits of a text, as `identifier_words` keeps all of them."""
    import re

    return re.findall(r"[^\W_]+", text)
