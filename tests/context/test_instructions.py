"""AGENTS.md: which files count for a file at hand, in which order, and what becomes of bad ones."""

from pathlib import Path

import pytest

from tark_lsp.context.instructions import LARGEST, find_instructions
from tark_lsp.workspace.files import Workspace
from tests.memory import MemoryBuffers


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "project"
    for name in ("AGENTS.md", "a/AGENTS.md", "a/b/c/AGENTS.md", "other/AGENTS.md"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"rules of {name}\n", encoding="utf-8")
    (tmp_path / "AGENTS.md").write_text("rules of outside\n", encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("near", "expected"),
    [
        ("x.py", ["AGENTS.md"]),
        ("a/b/x.py", ["AGENTS.md", "a/AGENTS.md"]),
        ("a/b/c/not_yet/x.py", ["AGENTS.md", "a/AGENTS.md", "a/b/c/AGENTS.md"]),
        ("../outside.py", ["AGENTS.md"]),
        (None, ["AGENTS.md"]),
    ],
)
def test_from_the_root_to_the_nearest(root: Path, near: str | None, expected: list[str]) -> None:
    found = find_instructions(Workspace([root], MemoryBuffers()), None if near is None else root / near)
    assert [each.path for each in found] == [root / name for name in expected]
    assert [each.text for each in found] == [f"rules of {name}\n" for name in expected]


def test_several_folders(root: Path) -> None:
    workspace = Workspace([root / "a", root / "other"], MemoryBuffers())
    assert [each.path.parent.name for each in find_instructions(workspace, None)] == ["a", "other"]
    assert [each.path.parent.name for each in find_instructions(workspace, root / "a/b/c/x.py")] == ["a", "c"]
    assert find_instructions(Workspace([], MemoryBuffers()), None) == []


def test_the_open_buffer_counts(root: Path) -> None:
    buffers = MemoryBuffers()
    buffers.open(root / "AGENTS.md", "typed\n")
    assert find_instructions(Workspace([root], buffers), None)[0].text == "typed\n"


@pytest.mark.parametrize("kind", ["binary", "folder", "link out", "empty", "long"])
def test_bad_files(root: Path, kind: str) -> None:
    path = root / "AGENTS.md"
    path.unlink()
    match kind:
        case "binary":
            path.write_bytes(b"\0")
        case "folder":
            path.mkdir()
        case "link out":
            path.symlink_to(root.parent / "AGENTS.md")
        case "empty":
            path.write_text("\n", encoding="utf-8")
        case "long":
            path.write_text("x" * (LARGEST + 5), encoding="utf-8")
    found = find_instructions(Workspace([root], MemoryBuffers()), None)
    if kind == "empty":
        assert found == []
    elif kind == "long":
        assert found[0].text.endswith("\n[AGENTS.md is 32,773 characters long; only the first 32,768 are here.]")
    else:
        assert found[0].text.startswith("[AGENTS.md could not be read: ")
