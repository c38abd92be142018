"""Reads a file for the index, or returns the reason to skip it."""

import hashlib
import os
import stat
from dataclasses import dataclass

from tark_lsp.index.worth import MOST_BYTES, NotWorth, why_not_index
from tark_lsp.workspace.search.search_check import FILE, opened

NOT_READABLE = "not readable"


@dataclass(frozen=True, slots=True)
class ReadFile:
    """`reason`: why the file is skipped, or empty. A skipped file has no text. `mtime`: in nanoseconds."""

    text: str
    digest: bytes
    mtime: int
    size: int
    reason: str = ""


def read_for_index(path: str) -> ReadFile | None:
    """None if there is no such file, or if its path contains a symlink."""
    try:
        with opened(path, FILE) as handle:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                return None
            data = b"" if status.st_size > MOST_BYTES else _read(handle)
    except PermissionError:
        return ReadFile("", b"", 0, 0, NOT_READABLE)
    except OSError:
        return None
    is_large = status.st_size > MOST_BYTES
    reason = NotWorth.TOO_LARGE if is_large else why_not_index(path, data)
    text = "" if reason else data.decode("utf-8-sig")
    digest = hashlib.blake2b(data, digest_size=16).digest()
    return ReadFile(text, digest, status.st_mtime_ns, status.st_size, reason or "")


def is_worth(path: str, text: str) -> bool:
    """Whether the text of an open document would be indexed if it were saved."""
    return why_not_index(path, text.encode("utf-8", "replace")) is None


def _read(handle: int) -> bytes:
    """Read at most one byte more than the limit."""
    pieces, size = [], 0
    while size <= MOST_BYTES and (piece := os.read(handle, MOST_BYTES + 1 - size)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)
