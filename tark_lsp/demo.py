"""A tiny project with a bug, and a script that plays a model which fixes it: for `tark-lsp demo` and `tark.demo`."""

import shutil
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

PROMPT = "An empty basket must not crash this."
FILE = "shop/prices.py"
SELECTED_LINES = (8, 10)
"""`average()` in that file, counted from 0, both included."""
MODEL = "scripted/demo"


@dataclass(frozen=True, slots=True)
class DemoCopy:
    """`scenario` is outside `project`, since the "model" must not find it in its workspace."""

    project: Path
    scenario: Path


def copy_demo(folder: Path) -> DemoCopy:
    """Copies the project and the script into a folder."""
    project = folder / "project"
    with as_file(files("tark_lsp") / "demo_project") as bundled:
        shutil.copytree(bundled, project, ignore=shutil.ignore_patterns("__pycache__"))
    return DemoCopy(project, Path(shutil.move(project / "scenario.toml", folder)))
