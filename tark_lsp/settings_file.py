"""Reads a settings file, which can come from a repository."""

import os
import stat
from pathlib import Path
from typing import Any

MAX_FILE_BYTES = 1_000_000


def read_toml(file: Path, problems: list[str]) -> dict[str, Any]:
    """A TOML file as a dictionary, empty if it is missing or unusable."""
    try:
        with open(file, "rb", opener=_open_regular) as stream:  # Path.open takes no opener
            data = stream.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise OSError(f"it is larger than {MAX_FILE_BYTES:,} bytes")
        import tomllib  # not loaded if there is no file

        # Editors on Windows write a byte order mark, which tomllib rejects.
        return tomllib.loads(data.decode("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError) as error:  # ValueError: not UTF-8, or not TOML
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        problems.append(f"{file} cannot be read as TOML: {reason}; the whole file is ignored until that is corrected")
        return {}


def _open_regular(path: str, flags: int) -> int:
    # Without O_NONBLOCK, opening a repository's FIFO would hang the server.
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError("it is not a regular file")
    return descriptor
