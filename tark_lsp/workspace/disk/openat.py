"""Opens a path inside a directory handle without following links: with `openat2` if possible, else name by name."""

import ctypes
import errno
import os
import sys
from collections.abc import Sequence

OPENAT2 = 437
"""The number of the system call: the same on every architecture of Linux that Python runs on, except Alpha."""
RESOLVE_NO_MAGICLINKS, RESOLVE_NO_SYMLINKS, RESOLVE_BENEATH = 0x02, 0x04, 0x08
"""<linux/openat2.h>; see openat2(2)."""
TRIES = 32
"""The kernel answers EAGAIN if it could not be sure because of a rename elsewhere. openat2(2) says to try again."""
DIRECTORY = os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW | getattr(os, "O_PATH", os.O_RDONLY)


class _How(ctypes.Structure):
    """`struct open_how`."""

    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


class Opener:
    """`open(handle, names, flags)` returns a file descriptor. Raises OSError ELOOP or ENOTDIR if a name is a link."""

    def __init__(self, *, openat2: bool = True) -> None:
        self._library = ctypes.CDLL(None, use_errno=True) if openat2 and sys.platform == "linux" else None

    def open(self, handle: int, names: Sequence[str], flags: int) -> int:
        for name in names:
            if name in ("", ".", "..") or "/" in name or "\0" in name:
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), name)
        flags |= os.O_CLOEXEC | os.O_NOFOLLOW
        if self._library is not None:
            try:
                return self._by_system_call(self._library, handle, "/".join(names) or ".", flags)
            except OSError as error:
                # An old kernel has no such call; some container filters answer EPERM to calls they do not know.
                if error.errno not in (errno.ENOSYS, errno.EPERM):
                    raise
        return _walk(handle, names, flags)

    def _by_system_call(self, library: ctypes.CDLL, handle: int, path: str, flags: int) -> int:
        how = _How(flags, 0, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS)
        number = errno.EAGAIN
        for _ in range(TRIES):
            descriptor: int = library.syscall(
                ctypes.c_long(OPENAT2),
                ctypes.c_int(handle),
                ctypes.c_char_p(os.fsencode(path)),
                ctypes.byref(how),
                ctypes.c_size_t(ctypes.sizeof(how)),
            )
            if descriptor >= 0:
                return descriptor
            number = ctypes.get_errno()
            if number not in (errno.EAGAIN, errno.EINTR):
                break
        raise OSError(number, os.strerror(number), path)


def _walk(handle: int, names: Sequence[str], flags: int) -> int:
    """Open each directory through the handle of its parent, so that none can be swapped for a link on the way."""
    here = os.dup(handle)
    try:
        for name in names[:-1]:
            below = os.open(name, DIRECTORY, dir_fd=here)
            os.close(here)
            here = below
        return os.open(names[-1] if names else ".", flags, dir_fd=here)
    finally:
        os.close(here)
