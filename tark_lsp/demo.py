"""A tiny project with a bug, and a script that plays a model which fixes it: for `tark-lsp demo` and `tark.demo`."""

import os
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import as_file, files
from io import FileIO
from pathlib import Path

PROMPT = "An empty basket must not crash this."
FILE = "shop/prices.py"
SELECTED_LINES = (8, 10)
"""The lines of `average()` in that file, from 0, both inclusive."""
MODEL = "scripted/demo"
PREFIX = "tark-demo-"
MARKER = ".tark-demo"
"""A file in the folder of each demo. Its time says when the demo was used last. A server that serves it locks it."""
UNUSED_SECONDS = 7 * 86400.0


@dataclass(frozen=True, slots=True)
class DemoCopy:
    """`scenario` is outside `project`, since the "model" must not find it in its workspace."""

    project: Path
    scenario: Path


def copy_demo(folder: Path) -> DemoCopy:
    """Copies the project and the script into a folder."""
    (folder / MARKER).touch()
    project = folder / "project"
    with as_file(files("tark_lsp") / "demo_project") as bundled:
        shutil.copytree(bundled, project, ignore=shutil.ignore_patterns("__pycache__"))
    return DemoCopy(project, Path(shutil.move(project / "scenario.toml", folder)))


def new_demo_folder() -> Path:
    """Creates a folder for `copy_demo`, and removes the folders of demos that are not in use."""
    remove_unused_demos(Path(tempfile.gettempdir()))
    return Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()


def hold_demo(project: Path) -> FileIO | None:
    """Keeps a demo from being removed, until the result is closed. None if the folder is not the project of a demo."""
    marker = project.parent / MARKER
    if sys.platform == "win32" or not marker.is_file():
        return None
    import fcntl

    with suppress(OSError):
        held = FileIO(marker)
        fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB)
        os.utime(marker)
        return held
    return None  # it is being removed, or belongs to another user


def remove_unused_demos(parent: Path) -> None:
    """Removes the demos below `parent` that no server serves, and none has served for a week.

    Not on Windows, where files are not locked in the same way.
    """
    if sys.platform != "win32":
        for folder in parent.glob(f"{PREFIX}*"):
            with suppress(OSError):  # it is open, belongs to another user, or is being removed
                _remove_if_unused(folder)


def _remove_if_unused(folder: Path) -> None:
    """Raises OSError if the folder has no marker, or a server serves it."""
    import fcntl

    marker = folder / MARKER
    is_ours = not folder.is_symlink() and folder.stat().st_uid == os.getuid()
    if is_ours and time.time() - marker.stat().st_mtime > UNUSED_SECONDS:
        with FileIO(marker) as opened:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)
