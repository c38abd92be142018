"""What a killed write leaves beside a file is removed by the next server's first write there, and nothing else is."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path, PurePath

import pytest

from tark_lsp.workspace.disk.folder import Folder
from tark_lsp.workspace.disk.opening import open_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nothing is locked there, so nobody can tell")

NAME = ".tark-0123456789abcdef.tmp"
DEEDS: dict[str, Callable[[Folder, Callable[[], bool]], object]] = {
    "create": lambda folder, ready: folder.create(PurePath("src/b.py"), b"b\n", ready),
    "replace": lambda folder, ready: folder.replace(PurePath("src/a.py"), b"b\n", b"a\n", ready),
}
"""The only writes with temporary files: a move or a removal has no new text."""
KILLED = """
import os, signal, sys
from pathlib import Path, PurePath
from tark_lsp.workspace.disk.opening import open_folder

def ready():
    os.kill(os.getpid(), signal.SIGKILL)

open_folder(Path(sys.argv[1])).create(PurePath("src/c.py"), b"c\\n", ready)
"""
each_deed = pytest.mark.parametrize("deed", DEEDS.values(), ids=DEEDS)


@pytest.fixture
def source(folder: Path) -> Path:
    (folder / "src").mkdir()
    (folder / "src/a.py").write_text("a\n")
    return folder / "src"


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@each_deed
def test_a_killed_write_is_cleared_up(
    folder: Path, source: Path, deed: Callable[[Folder, Callable[[], bool]], object]
) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, str(folder)], check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = names(source) - {"a.py"}
    assert left.startswith(".tark-")
    deed(open_folder(folder), lambda: True)
    assert names(source) in ({"a.py"}, {"a.py", "b.py"})


def test_a_folder_is_listed_once(folder: Path, source: Path) -> None:
    """The folder can have very many files."""
    writer = open_folder(folder)
    for number, name in enumerate(("b.py", "c.py")):
        (source / NAME).touch()
        writer.create(PurePath("src", name), b"b\n", lambda: True)
        assert (source / NAME).exists() == (number > 0)
    (folder / "other").mkdir()
    (folder / "other" / NAME).touch()
    writer.create(PurePath("other/b.py"), b"b\n", lambda: True)
    assert names(folder / "other") == {"b.py"}


@each_deed
def test_what_another_is_writing_is_left_to_it(
    folder: Path, source: Path, deed: Callable[[Folder, Callable[[], bool]], object]
) -> None:
    """Another server writes in the middle of one write."""
    during: set[str] = set()

    def ready() -> bool:
        open_folder(folder).create(PurePath("src/other.py"), b"other\n", lambda: True)
        during.update(names(source))
        return True

    deed(open_folder(folder), ready)
    assert len(during) == 3
    assert (source / "other.py").read_text() == "other\n"
    assert not any(name.startswith(".tark-") for name in names(source))


@each_deed
def test_what_is_not_ours_stays(
    folder: Path, source: Path, deed: Callable[[Folder, Callable[[], bool]], object]
) -> None:
    theirs = {".tark-mine.tmp", ".tark-0123456789ABCDEF.tmp", "x.tark-0123456789abcdef.tmp", f"{NAME}x"}
    for name in theirs:
        (source / name).touch()
    (source / ".tark-0000000000000001.tmp").mkdir()
    (source / ".tark-0000000000000002.tmp").symlink_to(source / "a.py")
    os.mkfifo(source / ".tark-0000000000000003.tmp")
    (folder / NAME).touch()
    (source / NAME).touch()
    before = names(source) - {NAME}
    deed(open_folder(folder), lambda: True)
    assert names(source) - {"b.py"} == before
    assert (folder / NAME).exists(), "another folder"
