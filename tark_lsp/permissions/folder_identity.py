"""Which folder is at a path: one that was replaced by another is a different folder, and has no permissions."""

import ctypes
import os
import struct
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
    born = getattr(status, "st_birthtime", None)  # macOS, and Windows from Python 3.12 on
    return _birth_by_statx(folder) if born is None else round(born * 1_000_000_000)


def _birth_by_statx(folder: Path) -> int:
    """By statx(2), which Python does not use before 3.15; 0 if the C library or the file system does not have it."""
    statx = _statx()
    found = bytearray(STATX_BYTES)
    if statx is None or statx(
        AT_FDCWD, os.fsencode(folder), 0, STATX_BTIME, (ctypes.c_char * STATX_BYTES).from_buffer(found)
    ):
        return 0
    (mask,) = struct.unpack_from("=I", found, MASK_OFFSET)
    seconds, nanoseconds = struct.unpack_from("=qI", found, BIRTH_OFFSET)
    return int(seconds) * 1_000_000_000 + int(nanoseconds) if mask & STATX_BTIME else 0


@cache
def _statx() -> Any:
    """The function of the C library; None if there is none."""
    return getattr(ctypes.CDLL(None), "statx", None) if sys.platform == "linux" else None
