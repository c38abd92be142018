"""Changes in memory as a diff: git makes the same bytes of it."""

import random
import subprocess
from pathlib import Path, PurePath

import pytest

from tark_lsp.errors import NotText, StaleText, WriteFailed
from tark_lsp.workspace.disk.memory_folder import MemoryChange, MemoryFile, MemoryFolder
from tark_lsp.workspace.disk.opening import open_folder
from tark_lsp.workspace.git_patch import git_patch

CASES: list[tuple[str, bytes | None, bytes | None]] = [
    ("changed.py", b"a\nb\nc\n", b"a\nB\nc\n"),
    ("new.py", None, b"one\ntwo\n"),
    ("new without newline", None, b"one"),
    ("pkg/__init__.py", None, b""),
    ("gone.py", b"x\ny\n", None),
    ("gone and empty", b"", None),
    ("emptied.py", b"x\n", b""),
    ("crlf.txt", b"a\r\nb\r\nc\r\n", b"a\r\nB\r\nc\r\n"),
    ("mixed.txt", b"a\r\nb\nc\rd\n", b"a\nb\r\nc\rD\n"),
    ("gets a newline", b"a\nb", b"a\nb\n"),
    ("loses its newline", b"a\nb\n", b"a\nb"),
    ("no newline at all", b"a\nb", b"a\nc"),
    ("mark.txt", b"\xef\xbb\xbfa\nb\n", b"\xef\xbb\xbfa\nB\n"),
    ("separators.txt", "a\x0c\x0b\x1c\u2028b\nc\n".encode(), "a\x0c\x0b\x1c\u2028b\nC\n".encode()),
    ("dir with blanks/a file.txt", b"a\n", b"b\n"),
    ("ünïcode/日本.txt", b"a\n", b"b\n"),
    ('quote".txt', b"a\n", b"b\n"),
    ("back\\slash.txt", b"a\n", b"b\n"),
    ("tab\there.txt", b"a\n", b"b\n"),
    ("new\nline.txt", None, b"b\n"),
    ("-dash", b"a\n", None),
    ("diff --git a b", b"--- a\n+++ b\n", b"+++ b\n--- a\n"),
]


def random_cases(seed: int) -> list[tuple[str, bytes | None, bytes | None]]:
    dice = random.Random(seed)

    def text() -> bytes:
        return b"".join(dice.choice([b"a", b"b", b"a\n", b"b\n", b"\r\n", b"\n"]) for _ in range(dice.randrange(30)))

    return [(f"random/{number}", text(), text()) for number in range(60)]


@pytest.mark.parametrize("seed", [1, 2])
def test_git_makes_the_same_of_it(tmp_path: Path, seed: int) -> None:
    cases = [*CASES, *random_cases(seed)]
    for name, before, _ in cases:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        if before is not None:
            (tmp_path / name).write_bytes(before)
    folder = MemoryFolder(open_folder(tmp_path))
    for name, before, after in cases:
        relative = PurePath(name)
        if before is None and after is not None:
            folder.create(relative, after, lambda: True)
        elif before is not None and after is None:
            folder.remove(relative, before, lambda: True)
        elif before is not None and after is not None:
            folder.replace(relative, after, before, lambda: True)
    assert all((tmp_path / name).exists() == (before is not None) for name, before, _ in cases)
    patch = git_patch(folder.changes(), tmp_path)
    git = ["git", "apply", "--whitespace=nowarn"]
    done = subprocess.run(git, cwd=tmp_path, input=patch.encode(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    for name, _, after in cases:
        path = tmp_path / name
        assert (path.read_bytes() if path.exists() else None) == after, name


def test_modes_are_kept() -> None:
    file, program = MemoryFile(b"x\n", 0o644), MemoryFile(b"x\n", 0o755)
    changes = [
        MemoryChange(Path("/ws/new"), None, program),
        MemoryChange(Path("/ws/old"), program, None),
        MemoryChange(Path("/ws/same"), file, program),
    ]
    patch = git_patch(changes, Path("/ws"))
    assert "new file mode 100755\n" in patch
    assert "deleted file mode 100755\n" in patch
    assert "old mode 100644\nnew mode 100755\n" in patch


def test_memory_is_read_like_the_disk(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a\n")
    (tmp_path / "a").chmod(0o750)
    folder = MemoryFolder(open_folder(tmp_path))
    a, b = PurePath("a"), PurePath("in/b")
    folder.replace(a, b"A\n", b"a\n", lambda: True)
    assert folder.read(a, 9).data == b"A\n"
    folder.move(a, folder, b, b"A\n", lambda: True)
    with pytest.raises(FileNotFoundError):
        folder.read(a, 9)
    assert (folder.read(b, 9).data, folder.read(b, 9).status.st_mode & 0o777) == (b"A\n", 0o750)
    with pytest.raises(WriteFailed):
        folder.move(b, folder, b, b"A\n", lambda: True)
    for stale in (b"B\n", b""):
        with pytest.raises(StaleText):
            folder.remove(b, stale, lambda: True)
    with pytest.raises(StaleText):
        folder.create(b, b"", lambda: True)
    with pytest.raises(StaleText):
        folder.remove(b, b"A\n", lambda: False)
    with pytest.raises(NotText):
        folder.create(PurePath("c"), "ü".encode("utf-16"), lambda: True)
    folder.move(b, folder, a, b"A\n", lambda: True)
    folder.replace(a, b"a\n", b"A\n", lambda: True)
    assert [*folder.changes()] == []
    assert (tmp_path / "a").read_bytes() == b"a\n"
    assert not (tmp_path / "in").exists()
