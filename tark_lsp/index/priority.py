"""Makes a thread, and the threads and programs that it starts, give way to everything else."""

import contextlib
import os
import platform
import sys

NICENESS = 10
IOPRIO_SET = {"x86_64": 251, "aarch64": 30}
"""Numbers of the system call ioprio_set(2), for which there is no function in libc."""
BEST_EFFORT_LOWEST = (2 << 13) | 7
"""The lowest level of the class that gets its turn. The idle class may get none for minutes."""
OF_THREAD = 1


def lower_priority() -> None:
    """For the processor, and on Linux for the disk. A system that does not allow it changes nothing.

    On Linux it is a thread's priority, elsewhere that of the process.
    """
    with contextlib.suppress(OSError, AttributeError):  # there is no os.nice on Windows
        os.nice(NICENESS)
    number = IOPRIO_SET.get(platform.machine())
    if sys.platform == "linux" and number is not None:
        import ctypes

        ctypes.CDLL(None).syscall(number, OF_THREAD, 0, BEST_EFFORT_LOWEST)
