"""Links to code in a line of a chat, and the files they may lead to."""

import os
import sys
import time
from pathlib import Path

import pytest

from tark_lsp.server.chat.links import Link, cite, find_links, resolve
from tark_lsp.workspace.files import Workspace
from tests.memory import MemoryBuffers


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", []),
        ("[it](src/a.py)", [("src/a.py", None, None)]),
        ("[it](src/a.py#L10)", [("src/a.py", 10, 10)]),
        ("[a.py:1-2](a%20b.py#L10-L12) and [x](b.py#L1-3)", [("a b.py", 10, 12), ("b.py", 1, 3)]),
        ("see src/a.py:10-20, or `b.py:3`.", [("src/a.py", 10, 20), ("b.py", 3, 3)]),
        ("(a.py:9) a.py:9-7", [("a.py", 9, 9), ("a.py", 9, 9)]),
        ('<code="/w/a%22.py" #3:4>', [('/w/a".py', 3, 4)]),
        ("@file:src/a.py @file:b.py:3-4, ", [("src/a.py", None, None), ("b.py", 3, 4)]),
        ('@file:"c d.py:1"', [("c d.py", 1, 1)]),
        ("a.py", []),
        ("at 10:30, localhost:8080", [("10", 30, 30), ("localhost", 8080, 8080)]),
        ("http://host/a.py:80", [("//host/a.py", 80, 80)]),
        ("a.py:12x a.py:1/2 a.py:123456789012", []),
        ("[a](b c.py) [a]() [a](#L3)", []),
    ],
)  # fmt: skip
def test_found(line: str, expected: list[tuple[str, int | None, int | None]]) -> None:
    assert [(link.path, link.first, link.last) for link in find_links(line)] == expected


def test_where_they_stand() -> None:
    (link,) = find_links("see [a.py:1](b.py#L2)!")
    assert link == Link(4, 21, "b.py", 2, 2)


@pytest.mark.parametrize("piece", ["a", "[", "](", "[a](", "a.", "`a.py:", "<code=", "@file:", "a/b-"])
def test_no_line_takes_long(piece: str) -> None:
    begun = time.process_time()
    find_links(piece * (200_000 // len(piece)))
    assert time.process_time() - begun < 20  # a moment; with the square of the links, minutes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = (tmp_path / "workspace").resolve()
    (folder / "notes").mkdir(parents=True)
    for name in ("a.py", "notes/a.py", "notes/b.py"):
        (folder / name).write_text("x\n")
    (tmp_path / "secret.py").write_text("x\n")
    (folder / "out.py").symlink_to(tmp_path / "secret.py")
    return folder


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("a.py", "notes/a.py"),
        ("../a.py", "a.py"),
        ("notes/b.py", "notes/b.py"),
        ("b.py", "notes/b.py"),
        ("c.py", None),
        ("notes", None),
        ("../../secret.py", None),
        ("out.py", None),
        ("//host/share/a.py", None),
        ("a.py\0", None),
        ("x" * 5000, None),
        ("~/a.py", None),
    ],
)
def test_only_to_files_of_the_workspace(folder: Path, written: str, found: str | None) -> None:
    workspace = Workspace([folder], MemoryBuffers())
    assert resolve(written, folder / "notes", workspace) == (None if found is None else folder / found)


def test_nothing_outside_is_looked_at(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace([folder], MemoryBuffers())
    monkeypatch.setattr(os.path, "realpath", lambda path: pytest.fail(f"looked at {path}"))
    assert resolve("//host/share/a.py", folder, workspace) is None
    assert resolve("../x.py", folder, workspace) is None


def test_absolute_paths_and_citations(folder: Path) -> None:
    workspace = Workspace([folder], MemoryBuffers())
    assert resolve(str(folder / "a.py"), folder, workspace) == folder / "a.py"
    assert cite(str(folder / "a.py"), 3, 4, folder, workspace) == "[a.py:3-4](a.py#L3-L4)"
    assert cite("a.py", 3, 3, folder, workspace) == "[a.py:3](a.py#L3)"
    assert cite(str(folder / "a.py"), 3, 3, folder / "notes", workspace) == "[a.py:3](../a.py#L3)"
    assert cite("no`\n.py", 3, 3, folder, workspace) == "``no`⏎.py:3``"
    (folder / "[x] y.py").write_text("x\n")
    link = cite("[x] y.py", 3, 4, folder, workspace)
    assert link == "[x y.py:3-4](%5Bx%5D%20y.py#L3-L4)"
    (found,) = find_links(link)
    assert resolve(found.path, folder, workspace) == folder / "[x] y.py"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse names that are not UTF-8")
def test_a_link_to_a_file_whose_name_is_not_utf_8(folder: Path) -> None:
    workspace = Workspace([folder], MemoryBuffers())
    (folder / "bad\udcff.py").write_text("x\n")
    link = cite("bad\udcff.py", 3, 4, folder, workspace)
    assert link.endswith("(bad%FF.py#L3-L4)")
    (found,) = find_links(link)
    assert resolve(found.path, folder, workspace) == folder / "bad\udcff.py"
