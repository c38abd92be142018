"""The walker gives what ripgrep gives, for the options that are used."""

from pathlib import Path

import pytest

from tark_lsp.workspace.search.ripgrep import SearchQuery, SearchScope, list_files, search_files
from tark_lsp.workspace.search.search_program import SearchProgram

TREE = {
    ".gitignore": "*.tmp\n/top\n!keep.tmp\nfoo/\n# a comment\n\\#odd\nspaced \n",
    "a.tmp": "x",
    "keep.tmp": "x",
    "top/x": "x",
    "sub/top/x": "x",
    "foo/x": "x",
    "sub/foo": "x",
    "#odd": "x",
    "spaced": "x",
    "sub/.gitignore": "!a.tmp\ndeep/**/gen.*\n",
    "sub/a.tmp": "x",
    "sub/deep/1/2/gen.c": "x",
    "sub/deep/1/2/main.c": "x",
    "sub/.ignore": "main.h\n",
    "sub/main.h": "x",
    "sub/.hidden/x.c": "x",
    ".git/config": "x",
    "killed/.ignore": "!*.tmp\n",
    "killed/.tark-0123456789abcdef.tmp": "x",
    "killed/.tark-mine.tmp": "x",
    "deep/er/[x].c": "one\nx two\nthree\nfour\nfive x\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in TREE.items():
        path = tmp_path.resolve() / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path.resolve()


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("glob", [None, "*.c", "**/*.{c,h}", "sub/**", "*", "sub/*/x*", ".*"])
async def test_the_same_files(root: Path, glob: str | None, hidden: bool) -> None:
    scope = SearchScope((root,), glob=glob, hidden=hidden)
    by_ripgrep = await list_files(SearchProgram.find_installed([]), scope)
    assert by_ripgrep[0]
    assert not any("0123456789abcdef" in path for path in by_ripgrep[0]), "what a killed write of ours left"
    assert await list_files(SearchProgram.walker({}), scope) == by_ripgrep


@pytest.mark.parametrize("below", ["sub", "sub/deep", "foo", "sub/a.tmp"])
async def test_the_same_files_below_a_folder(root: Path, below: str) -> None:
    scope = SearchScope((root / below,))
    assert await list_files(SearchProgram.walker({}), scope) == await list_files(
        SearchProgram.find_installed([]), scope
    )


@pytest.mark.parametrize("context", [0, 1, 5])
@pytest.mark.parametrize("pattern", ["x", "^X", "t[wh]", "nothing", "$"])
async def test_the_same_matches(root: Path, pattern: str, context: int) -> None:
    query = SearchQuery(pattern, case_sensitive=False, context=context, limit=100)
    scope = SearchScope((root,))
    assert await search_files(SearchProgram.walker({}), query, scope) == await search_files(
        SearchProgram.find_installed([]), query, scope
    )
