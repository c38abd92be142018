"""Finds a program by absolute path, never in the workspace, so that a repository cannot supply its own."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path


def find_program(name: str, workspace: Sequence[Path] = ()) -> Path | None:
    """The first in PATH that is not below a folder of `workspace`, and no link to a file there.

    Relative folders in PATH are skipped.
    """
    for path in _programs(name):
        places = (path.parent.resolve() / path.name, path.resolve())
        if not any(place.is_relative_to(folder) for place in places for folder in workspace):
            return path
    return None


def is_planted(name: str, path: str, workspace: Sequence[Path]) -> bool:
    """Whether a shell with this PATH would start a program of the workspace by this name.

    A folder below your home can be hidden in the sandbox, so a program there keeps no other one from being found.
    """
    home = os.path.realpath(Path.home())
    for folder in path.split(os.pathsep):
        found = os.path.join(folder or ".", name)  # noqa: PTH118  # called for each word of each command
        if not os.access(found, os.X_OK):
            continue
        places = {os.path.realpath(found), os.path.join(os.path.realpath(folder or "."), name)}  # noqa: PTH118
        if not folder.startswith(os.sep) or any(_is_below(place, str(one)) for place in places for one in workspace):
            return True
        if not any(_is_below(place, home) for place in places):
            return False
    return False


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)


def _programs(name: str) -> Iterator[Path]:
    """Not by `shutil.which`: on Windows it searches the current folder first."""
    endings = os.environ.get("PATHEXT", ".COM;.EXE;.BAT;.CMD").split(";") if os.name == "nt" else [""]
    for folder in map(Path, os.environ.get("PATH", "").split(os.pathsep)):
        for path in (folder / f"{name}{ending}" for ending in endings):
            if folder.is_absolute() and path.is_file() and os.access(path, os.X_OK):
                yield path
