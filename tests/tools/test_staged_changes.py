"""What is staged in real repositories, and that nothing of theirs is executed."""

import shutil
from pathlib import Path

import pytest

from tark_lsp.errors import ToolError
from tark_lsp.tools.staged_changes import StagedChanges, read_staged
from tests.tools.test_read_changes import git

TRAPS = ("core.fsmonitor", "diff.external", "core.pager", "diff.evil.command", "diff.evil.textconv", "gpg.program",
         "filter.evil.clean")  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = (tmp_path / "project").resolve()
    (root / "sub").mkdir(parents=True)
    for name in ("a.py", "gone.py", "old.py"):
        (root / name).write_text(f"{name}\none\ntwo\nthree\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "feat: first", "-m", "with a body")
    return root


async def staged(root: Path, index: str | None = None) -> StagedChanges:
    return await read_staged(root, [root], index)


async def test_what_is_staged_and_nothing_else(root: Path) -> None:
    (root / "a.py").write_text("a.py\none\n2\nthree\n")
    (root / "binary").write_bytes(b"\0\1")
    (root / 'we "ird.py').write_text("new\n")
    git(root, "rm", "-q", "gone.py")
    git(root, "mv", "old.py", "sub/new.py")
    git(root, "add", ".")
    (root / "a.py").write_text("not staged\n")
    (root / "untracked.py").write_text("untracked\n")
    found = await staged(root / "sub")  # a folder in the repository
    assert found.repository == root
    assert found.subjects == ["feat: first"]
    assert {(file.path, file.previous_path, file.change) for file in found.files} == {
        ("a.py", None, "modified"),
        ("binary", None, "added"),
        ("gone.py", None, "deleted"),
        ("sub/new.py", "old.py", "renamed"),
        ('we "ird.py', None, "added"),
    }
    diffs = {file.path: file.diff for file in found.files}
    assert diffs["binary"] is None
    assert "-two\n+2\n" in str(diffs["a.py"])
    assert "+new" in str(diffs['we "ird.py'])
    assert "not staged" not in str(diffs)


async def test_before_the_first_commit_and_in_another_index(root: Path, tmp_path: Path) -> None:
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    (fresh / "a.py").write_text("one\n")
    git(fresh, "init", "-q")
    assert (await staged(fresh)).files == []
    git(fresh, "add", ".")
    found = await staged(fresh)
    assert ([file.change for file in found.files], found.subjects) == (["added"], [])
    (root / "a.py").write_text("changed\n")
    shutil.copy(root / ".git" / "index", tmp_path / "index")
    git(root, "add", "a.py")
    (root / ".git" / "index").rename(root / ".git" / "index.lock")  # as `git commit -a` does
    shutil.copy(tmp_path / "index", root / ".git" / "index")
    assert (await staged(root)).files == []
    assert [file.path for file in (await staged(root, "index.lock")).files] == ["a.py"]


async def test_a_linked_worktree(root: Path, tmp_path: Path) -> None:
    git(root, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")
    (tmp_path / "linked" / "a.py").write_text("changed\n")
    git(tmp_path / "linked", "add", ".")
    assert [file.path for file in (await staged(tmp_path / "linked")).files] == ["a.py"]
    assert (await staged(root)).files == []


async def test_nothing_the_repository_says_is_executed(root: Path, tmp_path: Path) -> None:
    executed = tmp_path / "executed"
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {executed}\ncat\n")
    trap.chmod(0o755)
    (root / "a.py").write_text("changed\n")
    git(root, "add", ".")
    for key in TRAPS:
        git(root, "config", key, str(trap))
    git(root, "config", "log.showSignature", "true")
    hook = root / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    shutil.copy(trap, hook)
    (root / ".git" / "info").mkdir(exist_ok=True)
    (root / ".git" / "info" / "attributes").write_text("*.py diff=evil filter=evil\n")
    assert [file.path for file in (await staged(root)).files] == ["a.py"]
    assert not executed.exists()
    git(root, "diff", "--cached")
    assert executed.exists(), "the trap works"


async def test_where_nothing_is_read(root: Path, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="not in a git repository"):
        await staged(tmp_path)
    inner = root / "inner"
    inner.mkdir()
    git(tmp_path, "init", "-q", "other")
    (inner / ".git").write_text(f"gitdir: {tmp_path / 'other' / '.git'}\n")
    with pytest.raises(ToolError, match="outside the workspace"):
        await staged(inner)
