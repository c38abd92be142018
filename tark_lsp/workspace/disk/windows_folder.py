"""`Folder` on Windows, where Python has no directory handles: it checks the names, then the opened file. Untested."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Self

from tark_lsp.errors import FileTooLarge, NotText, OutsideWorkspace, StaleText, WriteFailed
from tark_lsp.workspace.disk.folder import TAKEN, File, Ready, temporary_name
from tark_lsp.workspace.file_state import FileState
from tark_lsp.workspace.names import check_name

REPARSE_POINT = 0x400
"""`FILE_ATTRIBUTE_REPARSE_POINT`: links, junctions, mount points."""
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)


class WindowsFolder:
    """See `Folder`. If a name is swapped for a link after the check, this is detected after opening, before any use."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, relative: PurePath, cap: int) -> File:
        path = self._checked(relative)
        before = os.lstat(path)
        if stat.S_ISDIR(before.st_mode):
            raise NotText("a directory")
        if not stat.S_ISREG(before.st_mode):
            raise NotText("not a regular file")
        with path.open("rb", buffering=0) as stream:
            status = os.fstat(stream.fileno())
            if not os.path.samestat(status, before):
                raise OutsideWorkspace("the path changed while it was opened")
            data = b"" if status.st_size > cap else stream.read(cap + 1)
        if status.st_size > cap or len(data) > cap:
            raise FileTooLarge(f"larger than {cap // 1_000_000} MB")
        return File(data, status)

    def create(self, relative: PurePath, data: bytes, ready: Ready, mode: int | None = None) -> None:
        target = self._prepare_target(relative)
        with _temporary_file(target.parent, data) as temporary:
            if mode is not None:
                temporary.chmod(mode & 0o777)
            _require_ready(ready)
            try:
                temporary.rename(target)  # on Windows this refuses an existing target
            except FileExistsError as error:
                raise StaleText("a file with this name exists now") from error
        self._verify_written(relative, data)

    def move(self, relative: PurePath, into: Self, target: PurePath, expected: bytes, ready: Ready) -> str:
        place = into._prepare_target(target)
        _require_ready(ready)
        self._require_content(relative, expected)
        try:
            self._checked(relative).rename(place)
        except FileExistsError as error:
            raise WriteFailed(TAKEN) from error
        except OSError as error:
            if (
                error.errno != errno.EXDEV
            ):  # Another drive: the copy is written and compared before the original is removed.
                raise
            into.create(target, expected, ready, stat.S_IMODE(self._checked(relative).stat().st_mode))
            try:
                self.remove(relative, expected, ready)
            except (OSError, StaleText):
                into.remove(target, expected, lambda: True)
                raise
        return ""

    def replace(self, relative: PurePath, data: bytes, expected: bytes, ready: Ready) -> str:
        target = self._checked(relative)
        file = self._require_content(relative, expected)
        if not os.access(target, os.W_OK):
            raise WriteFailed("the file is read-only")
        with _temporary_file(target.parent, data) as temporary:
            _require_ready(ready)
            self._require_content(relative, expected)
            temporary.replace(target)
        self._verify_written(relative, data)
        links = file.status.st_nlink - 1
        return f"the file could not keep its {links} other hard link(s), which still have the old text" if links else ""

    def remove(self, relative: PurePath, expected: bytes, ready: Ready) -> None:
        _require_ready(ready)
        self._require_content(relative, expected)
        self._checked(relative).unlink()

    def state(self, relative: PurePath, *, by_stamp: bool = False) -> FileState | None:  # noqa: ARG002  # see Folder
        raise NotText("no command runs in a sandbox on Windows")

    def put(self, relative: PurePath, now: FileState | None, wanted: FileState | None, source: Path | None) -> None:  # noqa: ARG002  # see Folder
        raise WriteFailed("no command runs in a sandbox on Windows")

    def _prepare_target(self, relative: PurePath) -> Path:
        """The path of a file that will be written; creates its folders."""
        for count in range(1, len(relative.parts)):
            self._checked(PurePath(*relative.parts[:count])).mkdir(exist_ok=True)
        return self._checked(relative)

    def _checked(self, relative: PurePath) -> Path:
        """The path, after checking that no name on it is a link. Raises OutsideWorkspace."""
        check_name(str(relative), windows=True)
        path = self.path
        for name in relative.parts:
            if name == "..":
                raise OutsideWorkspace("the path leads out of the workspace")
            path = path / name
            try:
                status = os.lstat(path)
            except FileNotFoundError:
                continue
            if getattr(status, "st_file_attributes", 0) & REPARSE_POINT or stat.S_ISLNK(status.st_mode):
                raise OutsideWorkspace("there is a link in the path that was not there before")
        return path

    def _require_content(self, relative: PurePath, expected: bytes) -> File:
        changed = StaleText("the file has changed on disk")
        try:
            file = self.read(relative, len(expected))
        except FileTooLarge as error:
            raise changed from error
        if file.data != expected:
            raise changed
        return file

    def _verify_written(self, relative: PurePath, data: bytes) -> None:
        try:
            self._require_content(relative, data)
        except (StaleText, FileNotFoundError) as error:
            raise WriteFailed("something else wrote the file at the same moment") from error


def _require_ready(ready: Ready) -> None:
    if not ready():
        raise StaleText("the file was opened in the editor meanwhile")


@contextmanager
def _temporary_file(folder: Path, data: bytes) -> Iterator[Path]:
    """A file in `folder` that holds `data`. It is removed at the end unless it was renamed.

    Files of killed servers are not removed. Windows does not rename an open file, so the file is closed before that,
    and a leftover file cannot be distinguished from a file that is being written.
    """
    path = folder / temporary_name()
    descriptor = os.open(path, NEW)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(descriptor)
        yield path
    finally:
        path.unlink(missing_ok=True)
