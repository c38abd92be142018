"""Which files a command changed: their times, sizes and inodes before and after, within a bound."""

import asyncio
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tark_lsp.tools.ripgrep import Program, Scope, list_files

FILE_LIMIT = 20_000
"""Files compared at most."""

Stamp: TypeAlias = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Stamps:
    """`complete` is False where there were more files than are compared."""

    files: Mapping[str, Stamp]
    complete: bool


async def take_stamps(program: Program, folder: Path, extra: Iterable[Path]) -> Stamps:
    """Of the files below `folder` that are not ignored, hidden ones too, and of `extra`, whatever they are."""
    paths, complete = await list_files(program, Scope((folder,), hidden=True))
    complete = complete and len(paths) <= FILE_LIMIT
    listed = [*paths[:FILE_LIMIT], *(str(path) for path in extra)]
    return Stamps(await asyncio.to_thread(_stamps, listed), complete)


def changed_files(before: Stamps, after: Stamps) -> dict[Path, str]:
    """`created`, `changed` or `deleted` by path, in order. Past the bound nothing is said of files listed only once."""
    found = {}
    for path in sorted({*before.files, *after.files}):
        old, new = before.files.get(path), after.files.get(path)
        if old == new or ((old is None or new is None) and not _really(path, old is None, before, after)):
            continue
        found[Path(path)] = "created" if old is None else "deleted" if new is None else "changed"
    return found


def _really(path: str, created: bool, before: Stamps, after: Stamps) -> bool:
    """Was the file created, or deleted, rather than left out of one listing?"""
    return before.complete if created else (after.complete or not os.path.lexists(path))


def _stamps(paths: Iterable[str]) -> dict[str, Stamp]:
    stamps = {}
    for path in paths:
        try:
            status = Path(path).stat()
        except OSError:
            continue  # not there, which is what the comparison is about
        stamps[path] = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
    return stamps
