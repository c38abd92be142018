"""URLs of pages: taken apart as browsers do it, or refused; the same for a name's every spelling."""

import pytest

from tark_lsp.errors import ToolError
from tark_lsp.tools.urls import page_url, redirected

READ = {
    "https://docs.python.org": "https://docs.python.org/",
    "HTTPS://Docs.Python.ORG./3/?q=a b": None,
    "https://docs.python.org/3/library/x.html?q=1&r=%20#part": "https://docs.python.org/3/library/x.html?q=1&r=%20",
    "http://example.org:80/": "http://example.org/",
    "https://example.org:8443/a": "https://example.org:8443/a",
    " https://example.org/ä?ü=ö ": "https://example.org/%C3%A4?%C3%BC=%C3%B6",
    "https://bücher.example/": "https://xn--bcher-kva.example/",
    "https://[2606:2800:0220:0001::1]/x": "https://[2606:2800:220:1::1]/x",
    "https://93.184.216.34/": "https://93.184.216.34/",
    "https://example.org./": "https://example.org/",
    "https://a_b.example.org/_(x)": "https://a_b.example.org/_(x)",
    "https://user@example.org/": None,
    "https://user:pw@example.org/": None,
    "https://example.org\\@evil.example/": None,
    "https://example.org/a\nb": None,
    "https://example.org/\u202e": None,
    "ftp://example.org/": None,
    "file:///etc/passwd": None,
    "javascript:alert(1)": None,
    "example.org": None,
    "//example.org/": None,
    "https:///x": None,
    "https://": None,
    "https://exa mple.org/": None,
    "https://example..org/": None,
    "https://-x.org/": None,
    "https://example.org:99999/": None,
    "https://example.org:x/": None,
    "https://example.org:25/": None,
    "https://example.org:0/": None,
    "http://127.1/": None,
    "http://2130706433/": None,
    "http://0x7f000001/": None,
    "http://0177.0.0.1/": None,
    "http://[::1/": None,
    "http://[::g]/": None,
    "http://[fe80::1%25eth0]/": None,
    "": None,
    f"https://example.org/{'a' * 2000}": None,
    f"https://{'ü' * 300}.example/": None,
}


@pytest.mark.parametrize(("text", "read"), READ.items(), ids=lambda each: str(each)[:40])
def test_reading(text: str, read: str | None) -> None:
    if read is not None:
        assert str(page_url(text)) == read
        assert page_url(read) == page_url(text), "what is shown means the same"
        return
    with pytest.raises(ToolError, match="cannot be fetched") as caught:
        page_url(text)
    assert caught.value.code == "invalid_arguments"


@pytest.mark.parametrize(
    ("location", "leads", "elsewhere"),
    [
        ("/b", "https://example.org/b", False),
        ("c?d", "https://example.org/a/c?d", False),
        ("https://example.org/z", "https://example.org/z", False),
        ("//example.org/z", "https://example.org/z", False),
        ("http://example.org/z", "http://example.org/z", True),
        ("https://www.example.org/", "https://www.example.org/", True),
        ("https://example.org:8443/", "https://example.org:8443/", True),
    ],
)
def test_redirects(location: str, leads: str, elsewhere: bool) -> None:
    url = page_url("https://example.org/a/b")
    target = redirected(url, location)
    assert (str(target), url.leads_elsewhere(target)) == (leads, elsewhere)


def test_to_https_is_no_other_place() -> None:
    url = page_url("http://example.org/a")
    assert not url.leads_elsewhere(page_url("https://example.org/a"))
    assert url.leads_elsewhere(page_url("https://example.org:8443/a"))
    assert page_url("http://example.org:8080/").leads_elsewhere(page_url("https://example.org/"))


@pytest.mark.parametrize("location", ["file:///etc/passwd", "https://u:p@example.org/", "http://[", "javascript:x"])
def test_a_redirect_to_what_is_no_page(location: str) -> None:
    with pytest.raises(ToolError, match="cannot be fetched"):
        redirected(page_url("https://example.org/"), location)
