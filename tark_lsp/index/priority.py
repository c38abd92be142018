"""Gives a thread, and the threads and programs that it starts, a low priority."""

import contextlib
import os
import platform
import sys

NICENESS = 10
IOPRIO_SET = {"x86_64": 251, "aarch64": 30}
"""Numbers of the system call ioprio_set(2), for which libc has no function."""
BEST_EFFORT_LOWEST = (2 << 13) | 7
"""The lowest level of the best-effort class. The idle class may get no disk time for minutes."""
OF_THREAD = 1


def lower_priority() -> None:
    """Lower the CPU priority and, on Linux, the disk priority. Does nothing if the system does not allow it.

    On Linux this affects the thread, elsewhere the whole process.
    """
    with contextlib.suppress(OSError, AttributeError):  # there is no os.nice on Windows
        os.nice(NICENESS)
    number = IOPRIO_SET.get(platform.machine())
    if sys.platform == "linux" and number is not None:
        import ctypes

        ctypes.CDLL(None).syscall(number, OF_THREAD, 0, BEST_EFFORT_LOWEST)
