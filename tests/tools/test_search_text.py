"""search_text on disk and in unsaved buffers, with ripgrep and with the walker that stands in for it."""

import asyncio

import psutil
import pytest

from tark_lsp.tools.tool import CallFacts
from tark_lsp.workspace.search.search_program import SearchProgram
from tests.patience import AT_ONCE
from tests.tools.conftest import Bench


@pytest.fixture(params=["ripgrep", "walker"])
def tree(request: pytest.FixtureRequest, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    bench.write(".gitignore", "*.log\n")
    bench.write("a.py", "import os\n\ndef Alpha():\n    return os.name\n")
    bench.write("src/b.py", "alpha = 1\nbeta = 2\nalpha_beta = 3\n")
    bench.write("src/c.md", "# Alpha: and a:1: colon\n")
    bench.write("crlf.txt", "first\r\nalpha\r\n")
    bench.write("skip.log", "alpha\n")
    bench.write("binary.bin", b"alpha\0alpha\n")
    bench.write("latin.txt", b"caf\xe9 gamma\n")
    if request.param == "walker":
        monkeypatch.setattr(SearchProgram, "find_installed", lambda workspace: SearchProgram.walker({}))  # noqa: ARG005  # its signature
    return bench


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            {"pattern": "alpha"},
            [
                "a.py:3: def Alpha():",
                "crlf.txt:2: alpha",
                "src/b.py:1: alpha = 1",
                "src/b.py:3: alpha_beta = 3",
                "src/c.md:1: # Alpha: and a:1: colon",
            ],
        ),
        (
            {"pattern": "alpha", "case_sensitive": True, "glob": "*.py"},
            ["src/b.py:1: alpha = 1", "src/b.py:3: alpha_beta = 3"],
        ),
        ({"pattern": "alpha", "path": "src", "glob": "*.md"}, ["src/c.md:1: # Alpha: and a:1: colon"]),
        (
            {"pattern": "alpha", "glob": "src/**/*.py", "max_results": 5},
            ["src/b.py:1: alpha = 1", "src/b.py:3: alpha_beta = 3"],
        ),
        ({"pattern": r"^beta\b", "path": "src/b.py"}, ["src/b.py:2: beta = 2"]),
        ({"pattern": "-- no such flag"}, ["No line matches -- no such flag."]),
        ({"pattern": "--files"}, ["No line matches --files."]),
        ({"pattern": "gamma"}, ["latin.txt:1: caf\ufffd gamma"]),
        ({"pattern": "alpha", "path": "skip.log"}, ["skip.log:1: alpha"]),
        (
            {"pattern": "alpha", "path": "src/b.py", "max_results": 1},
            [
                "src/b.py:1: alpha = 1",
                "[There are more than 1 matching lines; narrow the search or raise max_results.]",
            ],
        ),
    ],
)
async def test_lines(tree: Bench, arguments: dict[str, object], expected: list[str]) -> None:
    assert (await tree.call("search_text", **arguments)).split("\n") == expected


async def test_context_comes_as_snippets(tree: Bench) -> None:
    shown = await tree.call("search_text", pattern="beta = 2|os\\.name", context_lines=1)
    assert shown == (
        f'<code="{tree.root}/a.py" #3:4>\ndef Alpha():\n    return os.name\n</code>\n'
        f'<code="{tree.root}/src/b.py" #1:3>\nalpha = 1\nbeta = 2\nalpha_beta = 3\n</code>'
    )


async def test_unsaved_buffers_and_drafts_are_searched_instead_of_the_disk(tree: Bench) -> None:
    tree.buffers.open(tree.root / "src/b.py", "nothing\nALPHA here\n")
    tree.buffers.open(tree.root / "new.py", "alpha in a new one\n")
    tree.buffers.open(tree.root / "a.py")  # open, and as it is on disk
    await tree.edit("edit_file", path="crlf.txt", old_text="alpha", new_text="alpha drafted")
    assert (await tree.call("search_text", pattern="alpha")).split("\n") == [
        "a.py:3: def Alpha():",
        "crlf.txt:2: alpha drafted",
        "new.py:1: alpha in a new one",
        "src/b.py:2: ALPHA here",
        "src/c.md:1: # Alpha: and a:1: colon",
    ]
    assert "new.py" not in await tree.call("search_text", pattern="alpha", glob="*.md")
    assert await tree.call("search_text", pattern="alpha", path="new.py") == "new.py:1: alpha in a new one"
    assert "src/b.py" not in await tree.call("search_text", pattern="beta")


@pytest.mark.parametrize("pattern", ["(", "[", "a{2,1}", "*"])
async def test_a_bad_pattern_is_told(tree: Bench, pattern: str) -> None:
    failure = await tree.failure("search_text", pattern=pattern)
    assert failure.code == "invalid_arguments"
    assert "regex" in failure.message
    tree.buffers.open(tree.root / "src/b.py", "changed")
    assert (await tree.failure("search_text", pattern=pattern, path="src/b.py")).code == "invalid_arguments"


async def test_a_missing_path_is_told(tree: Bench) -> None:
    assert (await tree.failure("search_text", pattern="x", path="nowhere")).code == "not_found"


async def test_long_lines_and_many_results_are_cut(tree: Bench) -> None:
    tree.write("min.js", "x" * 5000 + "needle\n" + "needle\n" * 5000)
    shown = await tree.call("search_text", pattern="needle|xxx", path="min.js", max_results=3)
    assert len(shown) < 1500
    assert shown.endswith("raise max_results.]")
    tree.ctx.result_tokens = 50
    shown = await tree.call("search_text", pattern="needle", path="min.js", max_results=1000)
    assert len(shown) < 400
    assert "more lines left out; narrow the pattern, path or glob, or read on with read_file(" in shown


STUBBORN = "#!/bin/sh\ntrap '' TERM\nwhile true; do sleep 0.05; done\n"


@pytest.mark.parametrize("hangs", ["regular expression", "program"])
async def test_cancel_ends_a_search_that_hangs(bench: Bench, monkeypatch: pytest.MonkeyPatch, hangs: str) -> None:
    """Python's regular expressions can run for ever: that must hold up neither the loop nor the cancel."""
    bench.write("evil.txt", "a" * 100 + "b\n")
    program = SearchProgram.walker({})
    if hangs == "program":
        stubborn = bench.write("stubborn", STUBBORN)
        stubborn.chmod(0o755)
        program = SearchProgram((str(stubborn),), {})
    monkeypatch.setattr(SearchProgram, "find_installed", lambda workspace: program)  # noqa: ARG005  # its signature
    before = psutil.Process().children(recursive=True)
    task = asyncio.create_task(bench.call("search_text", pattern="(a*)*c"))
    await asyncio.sleep(0.3)
    assert not task.done()
    task.cancel()
    async with asyncio.timeout(AT_ONCE):
        with pytest.raises(asyncio.CancelledError):
            await task
    left = [child for child in psutil.Process().children(recursive=True) if child not in before]
    assert not [child for child in left if child.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        ({"pattern": "alpha", "glob": "src/**"}, CallFacts(matches=3, files=2)),
        ({"pattern": "alpha", "path": "src/b.py", "context_lines": 1}, CallFacts(matches=2, files=1)),
        ({"pattern": "alpha", "path": "src/b.py", "max_results": 1}, CallFacts(matches=1, files=1, more=True)),
        ({"pattern": "-- no such flag"}, CallFacts(matches=0, files=0)),
    ],
)
async def test_hits_are_counted(tree: Bench, arguments: dict[str, object], facts: CallFacts) -> None:
    assert await tree.facts("search_text", **arguments) == facts


async def test_wide_text_and_long_lines_are_found(bench: Bench) -> None:
    bench.write("wide.txt", "needle ä\n".encode("utf-16"))
    bench.write("long.txt", "x" * 2000 + " needle " + "y" * 2000)
    bench.write("windows.txt", b"needle\r\nother\r\n")
    found = await bench.call("search_text", pattern="needle")
    assert {row.partition(":")[0] for row in found.splitlines()} == {"wide.txt", "long.txt", "windows.txt"}
