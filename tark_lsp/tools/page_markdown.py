"""Converts HTML on stdin to Markdown on stdout. It runs in a separate process, which is ended if it takes too long.

Scripts, styles and pictures are left out. If the page has a main part, only that is converted.
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
"""The recursion limit, in frames: markdownify recurses into every element."""
LEAST_MAIN = 200
"""Characters. A shorter main part does not count as the content of the page."""


def markdown(html: bytes, url: str, charset: str) -> str:
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    soup = BeautifulSoup(html, "html.parser", from_encoding=charset or None)
    title = " ".join(soup.title.get_text().split())[:300] if soup.title else ""
    for element in soup.find_all(SILENT):
        element.decompose()
    for image in soup.find_all("img"):
        image.replace_with(str(image.get("alt") or ""))
    for link in soup.find_all("a", href=True):
        try:
            link["href"] = urljoin(url, str(link["href"]))
        except ValueError:
            del link["href"]
    parts = (soup.find("main"), soup.find("article"), soup.body)
    part = next((part for part in parts if part is not None and len(part.get_text()) >= LEAST_MAIN), soup.body or soup)
    try:
        text = MarkdownConverter(heading_style="ATX", bullets="-", code_language="").convert_soup(part)
    except RecursionError:  # nested deeper than any real page: only its text
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
