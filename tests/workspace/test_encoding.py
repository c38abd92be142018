"""A file is written back byte for byte, or it is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.errors import NotText
from tark_lsp.workspace.encoding import MARKED, UTF_8, Encoding, decode
from tests.workspace.texts import texts

KEPT = {
    "ASCII": (b"a\n", "a\n", UTF_8),
    "empty": (b"", "", UTF_8),
    "UTF-8": ("é𝒳\r\n".encode(), "é𝒳\r\n", UTF_8),
    "UTF-8 with mark": (b"\xef\xbb\xbfa", "a", MARKED[0]),
    "only a mark": (b"\xef\xbb\xbf", "", MARKED[0]),
    "two marks": (b"\xef\xbb\xbf\xef\xbb\xbfa", "\ufeffa", MARKED[0]),
    "UTF-16, little": ("\ufeffa\n𝒳".encode("utf-16-le"), "a\n𝒳", MARKED[1]),
    "UTF-16, big": ("\ufeffa\n𝒳".encode("utf-16-be"), "a\n𝒳", MARKED[2]),
}


@pytest.mark.parametrize(("data", "text", "encoding"), KEPT.values(), ids=KEPT)
def test_kept(data: bytes, text: str, encoding: Encoding) -> None:
    assert decode(data) == (text, encoding)
    assert encoding.encode(text) == data


REFUSED = {
    "Latin-1": b"caf\xe9\n",
    "cut UTF-8": b"caf\xc3",
    "overlong": b"\xc0\xaf",
    "NUL": b"a\0b",
    "surrogate in UTF-8": b"\xed\xa0\x80",
    "UTF-16 without mark": "ab".encode("utf-16-le"),
    "UTF-16 cut": b"\xff\xfea",
    "UTF-16 with half a pair": b"\xff\xfe\x00\xd8a\x00",
    "UTF-32": "\ufeffab".encode("utf-32-le"),
    "PNG": b"\x89PNG\r\n\x1a\n\0\0",
}


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED)
def test_refused(data: bytes) -> None:
    with pytest.raises(NotText):
        decode(data)


@pytest.mark.parametrize("encoding", [UTF_8, *MARKED], ids=str)
def test_a_lone_surrogate_is_not_written(encoding: Encoding) -> None:
    with pytest.raises(NotText):
        encoding.encode("\ud800")


@given(texts(), st.sampled_from([UTF_8, *MARKED]))
def test_any_text_comes_back(text: str, encoding: Encoding) -> None:
    assert decode(encoding.encode(text)) == (text, encoding)


@given(st.binary(max_size=12))
def test_any_bytes_come_back_or_are_refused(data: bytes) -> None:
    try:
        text, encoding = decode(data)
    except NotText:
        return
    assert encoding.encode(text) == data
