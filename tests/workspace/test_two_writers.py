"""Two of our processes that change the same closed file all the time lose nothing of each other."""

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path, PurePath

import pytest

from tark_lsp.errors import StaleText
from tark_lsp.workspace.disk import posix_files
from tark_lsp.workspace.disk.folder import Folder
from tark_lsp.workspace.disk.opening import open_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="names are checked there, and nothing is locked")

WRITES = 100
CHILD = """
import sys, time
from pathlib import Path, PurePath
from tark_lsp.errors import StaleText
from tark_lsp.workspace.disk.opening import open_folder

folder, name, count, start = open_folder(Path(sys.argv[1])), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
file = PurePath("a.txt")
time.sleep(max(0, start - time.time()))
for number in range(count):
    while True:
        before = folder.read(file, 10**6).data
        try:
            folder.replace(file, before + f"{name} {number}\\n".encode(), before, lambda: True)
            break
        except StaleText:
            pass
"""


@pytest.mark.slow  # it starts programs
def test_no_write_is_lost(tmp_path: Path) -> None:
    """A failed write would end its process: only a stale one is tried again."""
    path = tmp_path / "a.txt"
    path.touch()
    start = str(time.time() + 1)
    writers = [
        subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path), name, str(WRITES), start]) for name in ("x", "y")
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    lines = path.read_text().splitlines()
    assert sorted(lines) == sorted(f"{name} {number}" for name in ("x", "y") for number in range(WRITES))
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


DEEDS: dict[str, Callable[[Folder], object]] = {
    "replace": lambda folder: folder.replace(PurePath("a.txt"), b"other\n", b"text\n", lambda: True),
    "remove": lambda folder: folder.remove(PurePath("a.txt"), b"text\n", lambda: True),
}


@pytest.mark.parametrize("deed", DEEDS.values(), ids=DEEDS)
def test_who_waits_too_long_has_written_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deed: Callable[[Folder], object]
) -> None:
    monkeypatch.setattr(posix_files, "LOCK_SECONDS", 0.05)
    path = tmp_path / "a.txt"
    path.write_bytes(b"text\n")
    folder, held = open_folder(tmp_path), os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(StaleText, match="another editor"):
            deed(folder)
    finally:
        os.close(held)
    assert path.read_bytes() == b"text\n"
    deed(folder)
    assert not path.exists() or path.read_bytes() == b"other\n"
