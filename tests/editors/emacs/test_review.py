"""Real Emacs with eglot: five hunks in two files, reviewed by Flymake's list and code actions, taken back by undo."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.editors.pool import environment, write_settings
from tests.editors.shapes import AREA, CUBE, NEW_AREA, NEW_CUBE, SHAPES, SOLIDS

pytestmark = pytest.mark.editor

REVIEW = Path(__file__).with_name("review.el")
COMMENT = "# tark: tidy both files\n"
TYPED = ("Review", "", "y", "y", "y")
"""The question twice, once to look and once to leave it alone; eglot's own question before each edit."""
GIVES_UP_SECONDS = 10
"""eglot, on a command."""


def test_five_hunks_in_two_files(emacs: str, tmp_path: Path) -> None:
    folder, home, told = tmp_path / "workspace", tmp_path / "home", tmp_path / "seen.json"
    folder.mkdir()
    write_settings(home)
    (folder / "shapes.py").write_text(COMMENT + SHAPES)
    (folder / "solids.py").write_text(SOLIDS)
    env = {**environment(home), "LC_ALL": "C.UTF-8"}
    files = [str(folder / name) for name in ("shapes.py", "solids.py")]
    process = subprocess.run(
        [emacs, "--batch", "-l", str(REVIEW), *files, str(told)],
        input="".join(f"{line}\n" for line in TYPED),
        env=env,
        capture_output=True,
        encoding="utf-8",
        timeout=100,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    seen = json.loads(told.read_text())
    words = "tark [hunk]: Tark proposes"
    assert seen["decided"] == [
        f"Accept shapes.py 1: {words} (+0 -1): {COMMENT.strip()}",
        f"Accept shapes.py 7: {words} (+1 -1): {NEW_AREA.strip()}",
        f"Reject shapes.py 17: {words} (+1 -1): return 2 / 3 * math.tau * radius**3",
        f"Accept solids.py 2: {words} (+1 -1): {NEW_CUBE.strip()}",
        f"Reject solids.py 12: {words} (+1 -1): return 6 * side**2",
    ]
    assert seen["first"] == SHAPES.replace(AREA, NEW_AREA)
    assert seen["second"] == SOLIDS.replace(CUBE, NEW_CUBE)
    assert seen["first_undone"] == SHAPES, "one undo takes one accept back"
    assert seen["second_undone"] == SOLIDS
    assert seen["slowest"] < GIVES_UP_SECONDS / 2
