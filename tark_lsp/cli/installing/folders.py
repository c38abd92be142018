"""Puts a folder, or a link to one, in the place of another, whole or not at all."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tark_lsp.processes import is_alive

PREFIX = "installing-"
"""Of the folder beside, followed by the id of the process that works in it."""


def put(target: Path, work: Path, make: Callable[[Path], None]) -> None:
    """What `make` writes to the path it is given becomes `target`; what was there is gone.

    `work` is a folder on the same disk, for what is not finished. Raises OSError, and `target` is as before.
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


def take_away(target: Path, work: Path) -> None:
    """At once for whoever looks; there or not."""
    with _beside(work) as beside:
        _move_away(target, beside)


def _move_away(target: Path, beside: Path) -> None:
    if os.path.lexists(target):
        target.rename(beside / "old")


@contextmanager
def _beside(work: Path) -> Iterator[Path]:
    work.mkdir(parents=True, exist_ok=True)
    for left in work.glob(f"{PREFIX}*"):  # by a process that was killed
        number = left.name.removeprefix(PREFIX)
        if number.isdecimal() and not is_alive(int(number)):
            shutil.rmtree(left, ignore_errors=True)
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
