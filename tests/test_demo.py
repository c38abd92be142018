"""The folders of demos: those that nobody uses are removed, and nothing else."""

import os
import sys
import time
from pathlib import Path

import pytest

from tark_lsp.demo import MARKER, copy_demo, hold_demo, remove_unused_demos

DAY = 86400.0

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there, nothing is removed")


def demo(parent: Path, name: str, days: float, *, marked: bool = True) -> Path:
    """A demo that was last used that many days ago."""
    folder = parent / f"tark-demo-{name}"
    folder.mkdir()
    copy_demo(folder)
    used = time.time() - days * DAY
    os.utime(folder / MARKER, (used, used))
    if not marked:
        (folder / MARKER).unlink()
    return folder


def test_demos_that_were_not_used_for_a_week_are_removed(tmp_path: Path) -> None:
    outside = demo(tmp_path, "elsewhere", 30)
    old, young = demo(tmp_path, "old", 8), demo(tmp_path, "young", 6)
    (old / "project" / "link").symlink_to(outside)
    other = tmp_path / "tark-other"
    demo(tmp_path, "x", 30).rename(other)
    unmarked = demo(tmp_path, "unmarked", 30, marked=False)
    moved = outside.rename(tmp_path / "elsewhere")
    (tmp_path / "tark-demo-link").symlink_to(moved)
    remove_unused_demos(tmp_path)
    kept = {path.name for path in tmp_path.iterdir()}
    assert kept == {young.name, other.name, unmarked.name, moved.name, "tark-demo-link"}
    assert (moved / "project" / "shop" / "prices.py").is_file()


def test_one_that_is_open_is_not_removed_and_counts_as_used(tmp_path: Path) -> None:
    folder = demo(tmp_path, "open", 30)
    held = hold_demo(folder / "project")
    assert held is not None
    week_ago = time.time() - 8 * DAY
    os.utime(folder / MARKER, (week_ago, week_ago))  # open for longer than a week
    remove_unused_demos(tmp_path)
    assert folder.is_dir()
    held.close()
    remove_unused_demos(tmp_path)
    assert not folder.exists()
    again = demo(tmp_path, "again", 30)
    held = hold_demo(again / "project")
    assert held is not None
    held.close()
    remove_unused_demos(tmp_path)
    assert again.is_dir(), "it was used a moment ago"


def test_other_folders_are_not_held(tmp_path: Path) -> None:
    assert hold_demo(tmp_path) is None
    (tmp_path / MARKER).mkdir()
    (tmp_path / "project").mkdir()
    assert hold_demo(tmp_path / "project") is None
