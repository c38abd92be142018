"""Finds the files that a command changed: compares times, sizes and inodes before and after."""

import asyncio
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tark_lsp.workspace.search.ripgrep import SearchScope, list_files
from tark_lsp.workspace.search.search_program import SearchProgram

FILE_LIMIT = 10_000
"""The maximum number of files that are compared. More would noticeably delay every command."""

CACHE = f"{os.sep}__pycache__{os.sep}"
"""Python creates this folder next to the modules that it imports, also in a project without a .gitignore."""

Stamp: TypeAlias = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Stamps:
    """`complete` is False if there are more files than the limit. Then new files are not found."""

    files: Mapping[str, Stamp]
    complete: bool


async def take_stamps(program: SearchProgram, folder: Path, extra: Iterable[Path]) -> Stamps:
    """Stamps of the files below `folder`, including hidden ones, and of the files in `extra`.

    Ignored files and Python's caches are left out.
    """
    paths, complete = await list_files(program, SearchScope((folder,), hidden=True), limit=FILE_LIMIT)
    return Stamps(await asyncio.to_thread(_stamps, [*_no_caches(paths), *map(str, extra)]), complete)


async def changed_since(before: Stamps, program: SearchProgram, folder: Path, extra: Iterable[Path]) -> dict[Path, str]:
    """`created`, `changed` or `deleted` by path, sorted by path."""
    names = {*before.files, *map(str, extra)}
    if before.complete:
        paths, _ = await list_files(program, SearchScope((folder,), hidden=True), limit=2 * FILE_LIMIT)
        names.update(_no_caches(paths))
    after = await asyncio.to_thread(_stamps, names)
    found = {}
    for name in sorted(names):
        old, new = before.files.get(name), after.get(name)
        if old != new:
            found[Path(name)] = "created" if old is None else "deleted" if new is None else "changed"
    return found


def _no_caches(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if CACHE not in path]


def _stamps(paths: Iterable[str]) -> dict[str, Stamp]:
    stamps = {}
    for path in paths:
        try:
            status = os.stat(path)  # noqa: PTH116  # a Path for each takes 4 times as long
        except OSError:
            continue  # it does not exist, which the comparison will show
        stamps[path] = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
    return stamps
