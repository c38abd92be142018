"""Which folder is at a path: one that was replaced by another is a different folder, and has no permissions."""

import ctypes
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

AT_FDCWD = -100
STATX_BTIME = 0x800
STATX_BYTES = 256
MASK_OFFSET, BIRTH_OFFSET = 0, 80
"""Of `stx_mask` and `stx_btime` in `struct statx` (statx(2)): the same on all machines."""


def identify_folder(folder: Path) -> str | None:
    """Its inode and time of birth; None if it is not a folder.

    File systems use an inode again, ext4 at once. So the time of birth is a part of it, in nanoseconds; 0 if the
    system does not tell it. The number of the device is not: it can change when the machine starts again.
    """
    try:
        status = folder.stat()
        if not folder.is_dir():
            return None
        return f"{status.st_ino}:{_birth(folder, status)}"
    except OSError:
        return None


def _birth(folder: Path, status: os.stat_result) -> int:
    if sys.platform == "linux":
        return _birth_on_linux(folder)
    return round(getattr(status, "st_birthtime", 0) * 1_000_000_000)


def _birth_on_linux(folder: Path) -> int:
    """By statx(2), which Python does not have before 3.15; 0 if the C library or the file system does not have it."""
    statx = _statx()
    if statx is None:
        return 0
    found = ctypes.create_string_buffer(STATX_BYTES)
    if statx(AT_FDCWD, os.fsencode(folder), 0, STATX_BTIME, found) != 0:
        return 0
    if not int.from_bytes(found[MASK_OFFSET : MASK_OFFSET + 4], sys.byteorder) & STATX_BTIME:
        return 0
    seconds = int.from_bytes(found[BIRTH_OFFSET : BIRTH_OFFSET + 8], sys.byteorder, signed=True)
    return seconds * 1_000_000_000 + int.from_bytes(found[BIRTH_OFFSET + 8 : BIRTH_OFFSET + 12], sys.byteorder)


@cache
def _statx() -> Any:
    """The function of the C library; None if it has none."""
    return getattr(ctypes.CDLL(None), "statx", None)
