"""Finds a program by absolute path, never in the workspace, so that a repository cannot supply its own."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path


def find_program(name: str, workspace: Sequence[Path]) -> Path | None:
    """The first in PATH whose file is not below a folder of `workspace`; relative entries of PATH are skipped."""
    for entry in os.environ.get("PATH", "").split(os.pathsep):
        if not Path(entry).is_absolute():
            continue
        found = shutil.which(name, path=entry)
        if found and not any(Path(found).resolve().is_relative_to(folder) for folder in workspace):
            return Path(found).resolve()
    return None
