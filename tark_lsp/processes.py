"""How another process of this server is started, and whether a process is still running."""

import os
import sys

OWN_SERVER = (sys.executable, "-P", "-m", "tark_lsp")
"""Without -P, Python would import modules from the current folder, which can be an untrusted project."""


def is_alive(process_id: int) -> bool:
    """True also for a process of another user, and for a zombie."""
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
    """Untested. On Windows `os.kill` would end the process; a handle becomes signalled when its process ends."""
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
