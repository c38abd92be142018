"""Renames a file inside directory handles, atomically and without ever replacing another file."""

import ctypes
import errno
import os
import sys

NO_REPLACE = 1
"""`RENAME_NOREPLACE` of renameat2(2)."""
EXCLUSIVE = 4
"""`RENAME_EXCL` of renameatx_np(2), macOS."""
NOT_KNOWN = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM)
"""Errors of kernels, file systems and container filters for a call or flag that they do not know."""
NO_HARD_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


def rename_no_replace(source: int, name: str, target: int, new: str) -> None:
    """Rename `name` inside the handle `source` to `new` inside `target`.

    Raises FileExistsError if anything is at `new`, even a dangling link; OSError EXDEV if the two handles are on
    different file systems.
    """
    try:
        _by_system_call(source, name, target, new)
    except OSError as error:
        if error.errno not in NOT_KNOWN:
            raise
        _by_link(source, name, target, new)


def _by_system_call(source: int, name: str, target: int, new: str) -> None:
    function, flag = {"linux": ("renameat2", NO_REPLACE), "darwin": ("renameatx_np", EXCLUSIVE)}.get(
        sys.platform, ("", 0)
    )
    call = getattr(ctypes.CDLL(None, use_errno=True), function, None) if function else None
    if call is None:  # an old C library, or another system
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if call(source, os.fsencode(name), target, os.fsencode(new), ctypes.c_uint(flag)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)


def _by_link(source: int, name: str, target: int, new: str) -> None:
    """Add a second name, which never replaces another file on any system, then remove the first name."""
    before = os.stat(name, dir_fd=source, follow_symlinks=False)
    try:
        os.link(name, new, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in NO_HARD_LINKS:
            raise
        _by_check(source, name, target, new)
        return
    try:
        # If another file has taken the first name meanwhile, it must not be removed.
        if os.path.samestat(os.stat(name, dir_fd=source, follow_symlinks=False), before):
            os.unlink(name, dir_fd=source)
    except OSError:
        os.unlink(new, dir_fd=target)
        raise


def _by_check(source: int, name: str, target: int, new: str) -> None:
    """For file systems without hard links (FAT): rename after checking that nothing is there."""
    try:
        os.stat(new, dir_fd=target, follow_symlinks=False)
    except FileNotFoundError:
        os.rename(name, new, src_dir_fd=source, dst_dir_fd=target)
    else:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new)
