"""Gives memory that is free back to the system."""

import contextlib
import ctypes
import sys


def trim_memory() -> None:
    """Only for glibc, which keeps what was freed between what is used: after some commits that is half of the process.

    It takes some milliseconds.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # another libc
            ctypes.CDLL(None).malloc_trim(0)
