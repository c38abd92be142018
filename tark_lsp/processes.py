"""How this very server is started again, and whether a process is still there."""

import os
import sys

OWN_SERVER = (sys.executable, "-P", "-m", "tark_lsp")
"""-P: else what lies in the current folder, a project of anybody, is imported in place of our modules and Python's."""


def is_alive(process_id: int) -> bool:
    """A process of somebody else counts, and so does one that has ended but was not yet waited for."""
    if sys.platform == "win32":
        return _is_alive_on_windows(process_id)
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _is_alive_on_windows(process_id: int) -> bool:
    """Untested. `os.kill` would end the process there; a handle becomes signalled when its process ends."""
    import ctypes

    synchronize, timed_out = 0x00100000, 0x102
    kernel32 = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore]  # only there on Windows
    handle = kernel32.OpenProcess(synchronize, False, process_id)
    if not handle:
        access_denied = 5
        return bool(kernel32.GetLastError() == access_denied)
    try:
        return bool(kernel32.WaitForSingleObject(handle, 0) == timed_out)
    finally:
        kernel32.CloseHandle(handle)
