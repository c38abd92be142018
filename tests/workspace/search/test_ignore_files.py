"""Ignore files: those above the searched folder, and those that would make a search run for ever."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tark_lsp.errors import ToolError
from tark_lsp.workspace.search.ripgrep import SearchQuery, SearchScope, list_files, search_files
from tark_lsp.workspace.search.search_program import MEMORY_BYTES, SEARCH_SECONDS, SearchProgram

PROGRAMS: dict[str, Callable[[Sequence[Path]], SearchProgram]] = {
    "ripgrep": SearchProgram.find_installed,
    "walker": lambda workspace: SearchProgram.walker({}, workspace),
}
TREE = {
    ".gitignore": "above\n",
    "repo/.gitignore": "# comment\n/src/gen.txt\n*.log\n!keep.log\n/src/deep/\n/src/[x]\\*\nspace\\ \n",
    "repo/src/.gitignore": "!back.log\nmine\n",
    "repo/src/inner/.ignore": "!gen.log\n",
    **{
        f"repo/src/{name}": "x"
        for name in ("gen.txt", "a.log", "keep.log", "back.log", "deep/z", "ok", "above", "mine", "space ")
    },
    **{f"repo/src/inner/{name}": "x" for name in ("gen.log", "other.log", "gen.txt", "mine")},
}


@pytest.fixture(params=PROGRAMS)
def find_program(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository in a folder with ignore rules of its own. The name is one that patterns must not read as a glob."""
    root = tmp_path.resolve() / "a [b]* {c} #!"
    for name, text in TREE.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root / "repo"


async def names_below(program: SearchProgram, folder: Path) -> set[str]:
    paths, _ = await list_files(program, SearchScope((folder,)))
    return {Path(path).relative_to(folder).as_posix() for path in paths}


@pytest.mark.parametrize("has_git", [True, False])
async def test_rules_up_to_the_top_count(repository: Path, find_program: str, *, has_git: bool) -> None:
    """The top is the repository's, otherwise the workspace folder. What is above it never counts."""
    if has_git:
        (repository / ".git").mkdir()
    workspace = [repository / "src"] if has_git else [repository]
    program = PROGRAMS[find_program](workspace)
    assert await names_below(program, repository / "src") == {
        *("keep.log", "back.log", "ok", "above"),
        *("inner/gen.log", "inner/gen.txt"),
    }
    assert "src/above" in await names_below(program, repository)


async def test_a_folder_of_no_workspace_and_no_repository_has_only_its_own_rules(
    repository: Path, find_program: str
) -> None:
    assert "a.log" in await names_below(PROGRAMS[find_program]([]), repository / "src")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no endless file")
@pytest.mark.parametrize("name", [".gitignore", ".ignore"])
async def test_an_endless_ignore_file_is_named(tmp_path: Path, find_program: str, name: str) -> None:
    """It is found in a subfolder, so the search program is the one that reads it."""
    folder = tmp_path.resolve() / "sub"
    folder.mkdir()
    (folder / name).symlink_to("/dev/zero")
    (folder / "a.txt").write_text("text\n")
    query = SearchQuery("text", True, 0, 10)
    with pytest.raises(ToolError) as caught:
        await search_files(PROGRAMS[find_program]([tmp_path]), query, SearchScope((tmp_path.resolve(),)))
    assert caught.value.code == "too_large"
    assert f"more than {MEMORY_BYTES // 2**20} MB" in caught.value.message
    assert str(folder / name) in caught.value.message


async def test_one_above_is_named_without_being_read(repository: Path, find_program: str) -> None:
    (repository / ".gitignore").unlink()
    (repository / ".gitignore").symlink_to("/dev/zero")
    with pytest.raises(ToolError, match=r"ignore file .* is no regular file") as caught:
        await names_below(PROGRAMS[find_program]([repository]), repository / "src")
    assert caught.value.code == "too_large"


async def test_an_ignore_file_that_waits_ends_the_search(
    tmp_path: Path, find_program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tark_lsp.workspace.search.search_program.SEARCH_SECONDS", 0.5)
    assert SEARCH_SECONDS == 10
    os.mkfifo(tmp_path / ".ignore")
    with pytest.raises(ToolError, match="did not end within") as caught:
        await names_below(PROGRAMS[find_program]([tmp_path]), tmp_path.resolve())
    assert caught.value.code == "timeout"
    assert str(tmp_path / ".ignore") in caught.value.message
