"""Finds a program by absolute path, never in the workspace, so that a repository cannot supply its own."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path


def find_program(name: str, workspace: Sequence[Path] = ()) -> Path | None:
    """The first program in PATH that is neither below a folder of `workspace` nor a link to a file there.

    Relative folders in PATH are skipped.
    """
    for path in _programs(name):
        places = (path.parent.resolve() / path.name, path.resolve())
        if not any(place.is_relative_to(folder) for place in places for folder in workspace):
            return path
    return None


def _programs(name: str) -> Iterator[Path]:
    """Does not use `shutil.which`, because on Windows it searches the current folder first."""
    endings = os.environ.get("PATHEXT", ".COM;.EXE;.BAT;.CMD").split(";") if os.name == "nt" else [""]
    for folder in map(Path, os.environ.get("PATH", "").split(os.pathsep)):
        for path in (folder / f"{name}{ending}" for ending in endings):
            if folder.is_absolute() and path.is_file() and os.access(path, os.X_OK):
                yield path
