"""HTML on stdin -> Markdown on stdout: a program of its own, so that a page that takes for ever can be ended.

Only what the page says: no scripts, styles and pictures, and what is marked as its main part, if anything is.
"""

import sys
from urllib.parse import urljoin

SILENT = [
    "title",
    "script",
    "style",
    "noscript",
    "template",
    "svg",
    "iframe",
    "object",
    "canvas",
    "math",
    "form",
    "nav",
    "dialog",
]
DEEPEST = 10_000
"""Frames: markdownify goes into each element by recursion."""
LEAST_MAIN = 200
"""Characters of a main part that is taken for the page."""


def markdown(html: bytes, url: str, charset: str) -> str:
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    soup = BeautifulSoup(html, "html.parser", from_encoding=charset or None)
    title = " ".join(soup.title.get_text().split())[:300] if soup.title else ""
    for each in soup.find_all(SILENT):
        each.decompose()
    for image in soup.find_all("img"):
        image.replace_with(str(image.get("alt") or ""))
    for link in soup.find_all("a", href=True):
        try:
            link["href"] = urljoin(url, str(link["href"]))
        except ValueError:
            del link["href"]
    parts = (soup.find("main"), soup.find("article"), soup.body)
    part = next((each for each in parts if each is not None and len(each.get_text()) >= LEAST_MAIN), soup.body or soup)
    try:
        text = MarkdownConverter(heading_style="ATX", bullets="-", code_language="").convert_soup(part)
    except RecursionError:  # nested as no page is: its words alone
        text = part.get_text("\n")
    lines = [line.rstrip() for line in text.strip().splitlines()]
    kept = [line for at, line in enumerate(lines) if line or (at and lines[at - 1])]
    return "\n".join(
        [f"# {title}", "", *kept] if title and title not in kept[:1] and f"# {title}" not in kept else kept
    )


def main() -> None:
    sys.setrecursionlimit(DEEPEST)
    url, charset = sys.argv[1:3]
    sys.stdout.buffer.write(markdown(sys.stdin.buffer.read(), url, charset).encode("utf-8", "replace"))
