"""Converts an error of the operating system to a `WorkspaceError` with a reason for users."""

import errno

from tark_lsp.errors import FileMissing, NotText, OutsideWorkspace, WorkspaceError, WriteFailed

FILE_ERRORS: dict[int, tuple[type[WorkspaceError], str]] = {
    errno.ENOENT: (FileMissing, "no such file"),
    errno.ENOTDIR: (FileMissing, "no such file"),
    errno.ENAMETOOLONG: (FileMissing, "no such file: the name is too long"),
    errno.ELOOP: (OutsideWorkspace, "there is a link in the path that was not there before, or that leads nowhere"),
    errno.EXDEV: (OutsideWorkspace, "the path leads out of the workspace"),
    errno.EAGAIN: (OutsideWorkspace, "the folders on the path keep changing"),
    errno.EISDIR: (NotText, "a directory"),
    errno.ENXIO: (NotText, "not a regular file"),
    errno.ENOSPC: (WriteFailed, "the disk is full"),
    errno.EDQUOT: (WriteFailed, "the disk quota is used up"),
    errno.EROFS: (WriteFailed, "the file system is read-only"),
}


def file_error(error: OSError, shown: str, *, writing: bool = False) -> WorkspaceError:
    """`shown` is the displayed path. `writing` chooses the class of an error that is not in the table."""
    kind, reason = FILE_ERRORS.get(
        error.errno or 0, (WriteFailed if writing else WorkspaceError, error.strerror or "failed")
    )
    return kind(f"{shown}: {reason}")
