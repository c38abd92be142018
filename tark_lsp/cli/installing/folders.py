"""Replaces a folder, or a link to one, atomically."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tark_lsp.processes import is_alive

PREFIX = "installing-"
"""The prefix of the working folder's name. The process id follows."""


def replace_folder(target: Path, work: Path, make: Callable[[Path], None]) -> None:
    """Replaces `target` by what `make` writes to the path that it receives. The old content is removed.

    `work` is a folder on the same disk for unfinished files. If this raises OSError, `target` is unchanged.
    """
    with _beside(work) as beside:
        make(beside / "new")
        target.parent.mkdir(parents=True, exist_ok=True)
        _move_away(target, beside)
        try:
            (beside / "new").rename(target)
        except OSError:
            if os.path.lexists(beside / "old"):
                (beside / "old").rename(target)
            raise
        finally:
            remove_if_empty(target.parent)


def remove_folder(target: Path, work: Path) -> None:
    """Removes `target` in one step, if it exists."""
    with _beside(work) as beside:
        _move_away(target, beside)


def _move_away(target: Path, beside: Path) -> None:
    if os.path.lexists(target):
        target.rename(beside / "old")


@contextmanager
def _beside(work: Path) -> Iterator[Path]:
    work.mkdir(parents=True, exist_ok=True)
    for leftover in work.glob(f"{PREFIX}*"):  # left by a process that was killed
        number = leftover.name.removeprefix(PREFIX)
        if number.isdecimal() and not is_alive(int(number)):
            shutil.rmtree(leftover, ignore_errors=True)
    beside = work / f"{PREFIX}{os.getpid()}"
    beside.mkdir()
    try:
        yield beside
    finally:
        shutil.rmtree(beside, ignore_errors=True)
        remove_if_empty(work)


def remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()
