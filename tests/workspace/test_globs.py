"""Globs: what they match, that they agree with ripgrep's, and that no pattern takes long."""

import time

import pytest

from tark_lsp.errors import ToolError
from tark_lsp.workspace.globs import Glob, expand_braces, name_pattern, wants_hidden
from tests.patience import AT_ONCE


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("*.py", ["a.py", "x/y/a.py", ".py"], ["a.pyc", "a.py/x"]),
        ("a/*.py", ["a/b.py"], ["a/b/c.py", "x/a/b.py"]),
        ("/a/*.py", ["a/b.py"], ["x/a/b.py"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["b", "a/bb"]),
        ("**/b/**", ["b/x", "a/b/x/y"], ["b", "a/b"]),
        ("a/", ["a/b", "a/b/c"], ["a", "b/a"]),
        ("**", ["a", "a/b"], []),
        ("a?c", ["abc", "x/abc"], ["a/c", "ac"]),
        ("[!a]b", ["bb"], ["ab"]),
        ("[a-c]x", ["bx"], ["dx"]),
        ("[z-a]x", [], ["zx"]),
        ("[x", ["[x"], ["x"]),
        ("{a,b/c}.{py,md}", ["a.py", "x/a.md", "b/c.py"], ["c.py"]),
        ("{a,{b,c}}d", ["ad", "cd"], ["d"]),
        ("{a", ["{a"], ["a"]),
        ("a}", ["a}"], []),
        ("a.b", ["a.b"], ["axb"]),
        ("a\nb", ["a\nb"], []),
    ],
)
def test_matches(pattern: str, matching: list[str], others: list[str]) -> None:
    glob = Glob.parse(pattern)
    assert [path for path in matching if not glob.matches(path)] == []
    assert [path for path in others if glob.matches(path)] == []


@pytest.mark.parametrize(
    "pattern", ["**/" * 30 + "x", "*a" * 30 + "b", "a/" + "**/" * 30 + "*b" * 20, "[" * 500, "{" * 50]
)
def test_no_pattern_takes_long(pattern: str) -> None:
    started = time.process_time()
    Glob.parse(pattern).matches("a/" * 60 + "a" * 60)
    assert time.process_time() - started < AT_ONCE


def test_braces_that_multiply_are_refused() -> None:
    with pytest.raises(ToolError, match="braces"):
        Glob.parse("{a,b}" * 40)


@pytest.mark.parametrize("pattern", ["{," * 1000 + "}" * 1000, "{," * 200 + "}" * 200, "a" * 1001])
def test_long_and_deep_globs_are_refused(pattern: str) -> None:
    with pytest.raises(ToolError, match="too long, or has too many braces"):
        Glob.parse(pattern)


def test_expand_braces() -> None:
    assert list(expand_braces("{a,b}{c,d}")) == ["ac", "ad", "bc", "bd"]
    assert list(expand_braces("x{,y}")) == ["x", "xy"]


@pytest.mark.parametrize(
    ("pattern", "hidden", "name"),
    [
        ("*.py", False, "*.py"),
        (".github/**", True, None),
        ("src/.env", True, ".env"),
        ("{.github,src}/*.yml", True, "*.yml"),
        ("./src/*.{ts,js}", False, "*.{ts,js}"),
        ("{a/b,c}", False, None),
        ("src/**", False, None),
        ("[ab].py", False, None),
    ],
)
def test_what_a_pattern_asks_for(pattern: str, hidden: bool, name: str | None) -> None:
    assert (wants_hidden(pattern), name_pattern(pattern)) == (hidden, name)
