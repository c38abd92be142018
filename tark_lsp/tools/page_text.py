"""The text of a page: HTML becomes Markdown, other text stays unchanged, and everything else is refused.

HTML is parsed in a separate process (page_markdown.py), which is ended if it takes too long: Python's parser needs
minutes for some pages of 1 MB. The end of the process also frees the 50 MB of the parser.
"""

import asyncio
import codecs
import os
import re
import sys
from pathlib import Path

import tark_lsp
from tark_lsp.context.hidden import without_hidden
from tark_lsp.errors import ToolError
from tark_lsp.tools.results import plain_text
from tark_lsp.tools.web import Page
from tark_lsp.workspace.processes import run_process

MOST_HTML = 1_000_000
"""Bytes."""
MOST_TEXT = 2_000_000
"""Bytes of Markdown that are read from the process: a small HTML page can become a large Markdown text."""
SECONDS = 12.0
HTML = frozenset({"text/html", "application/xhtml+xml"})
TEXT = re.compile(
    r"text/.+|application/(?:.+\+)?(?:json|xml|yaml|toml|sql|ecmascript|javascript|typescript|x-yaml|x-toml|x-sh"
    r"|x-javascript|ld\+json|x-ndjson|graphql|rtf)"
)
CHARSETS = re.compile(
    r"utf-(?:8|16|32).*|ascii|iso8859-\d+|cp\d+|koi8-.|mac-.+|gb.*|big5.*|euc_.*|shift_jis.*|iso2022.*|johab|hz|tis-620"
)
"""Codecs by their Python names. Pages do not use other ones, and some take quadratic time (punycode, idna)."""
PROBE = 1024
NEEDED = ("SYSTEMROOT",)
"""Environment variables. On Windows, Python does not start without this one."""


async def text_of(page: Page) -> str:
    """The text without terminal escapes and invisible characters. Raises ToolError."""
    from email.message import Message

    header = Message()
    header["content-type"] = page.content_type or "text/plain"
    kind, charset = header.get_content_type(), header.get_content_charset("")
    if kind in HTML:
        text = await _markdown(page.body[:MOST_HTML], charset if _is_charset(charset) else "", str(page.url))
    elif TEXT.fullmatch(kind) and (b"\0" not in page.body[:PROBE] or charset.startswith(("utf-16", "utf-32"))):
        text = _decoded(page.body, charset)
    else:
        raise ToolError("unsupported", f"{page.url} is not text but {kind}", hint="only text can be fetched")
    return without_hidden(plain_text(text))[0]


def was_cut(page: Page) -> bool:
    return page.cut or ("html" in page.content_type and len(page.body) > MOST_HTML)


async def _markdown(html: bytes, charset: str, url: str) -> str:
    """Raises ToolError."""
    root = str(Path(tark_lsp.__file__).resolve().parent.parent)
    start = f"import sys; sys.path.append({root!r}); from tark_lsp.tools.page_markdown import main; main()"
    written = bytearray()
    problem = bytearray()

    def collect(data: bytes) -> bool:
        written.extend(data)
        return len(written) <= MOST_TEXT

    def keep_problem(data: bytes) -> bool:
        problem.extend(data[: PROBE - len(problem)])
        return True

    try:
        async with asyncio.timeout(SECONDS) as deadline:
            code = await run_process(
                [sys.executable, "-I", "-c", start, url, charset],
                cwd=Path(sys.executable).parent,
                env={name: os.environ[name] for name in NEEDED if name in os.environ},
                on_stdout=collect,
                on_stderr=keep_problem,
                input_bytes=html,
            )
    except TimeoutError as error:
        if not deadline.expired():
            raise
        raise ToolError("unsupported", f"{url} takes too long to convert to text") from error
    except OSError as error:
        raise ToolError("internal", f"{url} could not be converted to text: {error}") from error
    if code:
        raise ToolError(
            "internal", f"{url} could not be converted to text: {problem.decode('utf-8', 'replace')[-300:]}"
        )
    return written[:MOST_TEXT].decode("utf-8", "replace")


def _decoded(body: bytes, charset: str) -> str:
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if body.startswith(mark):
            return body.decode(name, "replace")
    return body.decode(charset if _is_charset(charset) else "utf-8", "replace")


def _is_charset(name: str) -> bool:
    try:
        return CHARSETS.fullmatch(codecs.lookup(name).name) is not None
    except (LookupError, ValueError):
        return False
