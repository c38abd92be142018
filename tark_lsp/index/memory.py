"""Returns free memory to the system."""

import contextlib
import ctypes
import sys


def trim_memory() -> None:
    """Return free memory that glibc keeps: after some commits, this is half of the process. Takes some milliseconds.

    Does nothing with another libc.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # another libc
            ctypes.CDLL(None).malloc_trim(0)
