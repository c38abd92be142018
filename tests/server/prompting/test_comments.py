"""`tark:` comments: found in each language by its tokens, continued, and never in what is no comment."""

import time
from pathlib import Path

import pytest

from tark_lsp.server.prompting.comments import BLOCK_TOKENS, LINE_TOKENS, empty_comment, find_comments
from tark_lsp.workspace.lines import split_lines
from tark_lsp.workspace.snapshot import Snapshot
from tests.cases import every
from tests.patience import AT_ONCE

SNAPSHOT = Snapshot(Path("f"), "")


def found(text: str, language: str = "python") -> list[tuple[int, int, str]]:
    return [
        (comment.start, comment.end, comment.prompt) for comment in find_comments(split_lines(text), language, SNAPSHOT)
    ]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "# tark: do it"),
        ("python", "    #tark: do it"),
        ("python", "\t## tark: do it  "),
        ("py", "# tark: do it"),
        ("Python", "# tark: do it"),
        ("rust", "/// tark: do it"),
        ("rust", "//! tark: do it"),
        ("go", "// tark: do it"),
        ("go", "/* tark: do it */"),
        ("typescriptreact", "  // tark:do it"),
        ("c", "/* tark: do it */"),
        ("css", "/* tark: do it*/"),
        ("lua", "-- tark: do it"),
        ("sql", "--tark: do it"),
        ("elisp", "; tark: do it"),
        ("elisp", ";;; tark: do it"),
        ("latex", "% tark: do it"),
        ("vim", '" tark: do it'),
        ("html", "<!-- tark: do it -->"),
        ("markdown", "<!--tark: do it-->"),
        ("ocaml", "(* tark: do it *)"),
        ("", "# tark: do it"),
        ("plaintext", "# tark: do it"),
    ],
)
def test_each_language(language: str, text: str, ending: str) -> None:
    assert found(f"code{ending}{text}{ending}code{ending}", language) == [(1, 2, "do it")]
    assert found(text, language) == [(0, 1, "do it")]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", 'x = "# tark: do it"'),
        ("python", "x = 1  # tark: do it"),
        ("python", "# about tark: do it"),
        ("python", "# TARK: do it"),
        ("python", "// tark: do it"),
        ("c", "# tark: do it"),
        ("c", "/* tark: do it */ int x;"),
        ("c", "int x; /* tark: do it */"),
        ("c", "/* tark: never closed"),
        ("html", "// tark: do it"),
        ("html", "<p>tark: do it</p>"),
        ("lua", "--[[ tark: do it ]]"),
        ("python", "# stark: do it"),
    ],
)
def test_what_is_no_prompt(language: str, text: str) -> None:
    assert found(f"{text}\n", language) == []


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("language", "lines", "expected"),
    [
        ("python", ["# tark: one", "# two", "#", "#   three", "x = 1", "# four"], (0, 4, "one\ntwo\n\n  three")),
        ("python", ["# tark: one", "", "# two"], (0, 1, "one")),
        ("python", ["# before", "# tark: one", "# two"], (1, 3, "one\ntwo")),
        ("go", ["// tark: one", "\t// two", "func f() {"], (0, 2, "one\ntwo")),
        ("c", ["/* tark: one", "   two", "   three */", "x"], (0, 3, "one\n   two\n   three")),
        ("c", ["/* tark: one", " * two", " *", " */", "x"], (0, 4, "one\ntwo")),
        ("html", ["<!-- tark: one", "two -->"], (0, 2, "one\ntwo")),
    ],
)
def test_it_goes_on_in_the_lines_below(
    language: str, lines: list[str], expected: tuple[int, int, str], ending: str
) -> None:
    assert found("".join(f"{line}{ending}" for line in lines), language) == [expected]


def test_several() -> None:
    text = "# tark: one\n# tark: two\n# more\n\n# tark:\n"
    assert found(text) == [(0, 1, "one"), (1, 3, "two\nmore"), (4, 5, "")]


@every("language", [*sorted({*LINE_TOKENS, *BLOCK_TOKENS}), "", "plaintext", "nonsense"])
@every("ending", ["\n", "\r\n"], repr)
def test_what_is_put_there_to_write_into_is_found_again(language: str, ending: str) -> None:
    comment, column = empty_comment("    ", language, ending)
    assert comment.startswith("    ")
    assert comment.endswith(ending)
    assert found(comment, language) == [(0, 1, "")]
    assert found(f"{comment[:column]}do it{comment[column:]}", language) == [(0, 1, "do it")]


def test_a_block_comment_ends_within_reason() -> None:
    def block(lines: int) -> str:
        return "/* tark: go\n" + "on\n" * (lines - 2) + "*/\n"

    assert [(start, end) for start, end, _ in found(block(200), "css")] == [(0, 200)]
    assert found(block(201), "css") == []


def test_many_comments_without_an_end_are_read_in_a_moment() -> None:
    before = time.process_time()
    assert found("/* tark: x\n" * 20_000, "css") == []
    assert time.process_time() - before < AT_ONCE  # read to the end of the file for each of them: minutes
