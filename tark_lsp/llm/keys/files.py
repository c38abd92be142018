"""Secrets in files, one per provider, that only the user can read."""

import os
import stat
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote

from tark_lsp.errors import SettingsError

MAX_FILE_BYTES = 64 * 1024


class KeyFiles:
    """`folder` is created with mode 0700 together with the first file. Files have mode 0600 and are replaced as a
    whole. There is one file per provider, so that two processes that store at the same time lose nothing.

    Raises SettingsError for a file that others can read or write, and if the system refuses an operation.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def describe_location(self, provider: str) -> str:
        """The place of the secret, as text for the user."""
        return f"the file {self._path(provider)}"

    def read_secret(self, provider: str) -> str | None:
        path = self._path(provider)
        try:
            descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _failed(path, f"cannot be read: {error.strerror}", f"check {path}") from error
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise _failed(path, "is not a file", f"remove {path}")
            if sys.platform != "win32":
                if found.st_uid != os.getuid():
                    raise _failed(path, "belongs to another user", f"remove {path}")
                if stat.S_IMODE(found.st_mode) & 0o077:
                    raise _failed(
                        path, "can be read by others", f"run chmod 600 {path}; it is safer to create a new key"
                    )
            return os.read(descriptor, MAX_FILE_BYTES).decode("utf-8", "replace")
        finally:
            os.close(descriptor)

    def write_secret(self, provider: str, text: str) -> None:
        """Writes the whole file or nothing, even if the machine stops in the middle."""
        path = self._path(provider)
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if stat.S_IMODE(self.folder.stat().st_mode) & 0o077:
                self.folder.chmod(0o700)
            descriptor, temporary = tempfile.mkstemp(prefix=".", dir=self.folder)  # 0600 from the start
            try:
                with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                    stream.write(text)
                    stream.flush()
                    os.fsync(descriptor)
                Path(temporary).replace(path)
            except BaseException:  # raised again after the partial file is removed
                Path(temporary).unlink(missing_ok=True)
                raise
            if sys.platform != "win32":
                folder = os.open(self.folder, os.O_RDONLY)
                try:
                    os.fsync(folder)
                finally:
                    os.close(folder)
        except OSError as error:
            raise _failed(path, f"cannot be written: {error.strerror}", "make the folder writable") from error

    def delete_secret(self, provider: str) -> bool:
        """Returns whether there was one."""
        path = self._path(provider)
        try:
            path.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise SettingsError(f"{path} cannot be deleted: {error.strerror}", hint="delete it yourself") from error
        return True

    def _path(self, provider: str) -> Path:
        return self.folder / f"{quote(provider, safe='')}.json"


def _failed(path: Path, how: str, hint: str) -> SettingsError:
    return SettingsError(f"{path} {how}", hint=hint)
