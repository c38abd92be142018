"""Entry: what is at one path before or after a command."""

import os
import stat
import time
from typing import NamedTuple

from tark_lsp.workspace.file_state import StateKind, kind_of

UNSURE_NANOSECONDS = 100_000_000
"""A file that changed within this time before it was read is read again: a later change can have the same time."""
MODE = 0o7777
"""What `stat.S_IMODE` keeps."""


class Stamp(NamedTuple):
    """If the stamp is the same, the file is the same: a program cannot set `changed` (ctime)."""

    size: int
    modified: int
    changed: int
    inode: int


class Entry(NamedTuple):
    """`content`: `git:` and the name of a blob, or the digest of a copy; empty until it is known. `link`: its target.

    `links`: how many names the file has.
    """

    kind: StateKind
    mode: int
    stamp: Stamp
    content: str = ""
    link: bytes = b""
    links: int = 1


def entry_at(path: str, known: Entry | None = None) -> Entry | None:
    """What is at the path, without following links; None if nothing is there, or nothing that can be restored.

    Returns `known` if it is still the same.
    """
    try:
        status = os.lstat(path)
        same = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
        if known is not None and known.stamp == same and known.mode == status.st_mode & MODE:
            return known
        entry = entry_of(status)
        if entry.kind is StateKind.LINK:
            entry = entry._replace(link=os.fsencode(os.readlink(path)))  # noqa: PTH115  # called for each file
    except OSError:
        return None
    return None if entry.kind is StateKind.OTHER else entry


def entry_of(status: os.stat_result) -> Entry:
    return Entry(kind_of(status.st_mode), stat.S_IMODE(status.st_mode), stamp_of(status), links=status.st_nlink)


def stamp_of(status: os.stat_result) -> Stamp:
    return Stamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def is_sure(entry: Entry) -> bool:
    """Whether no other content can have the same stamp."""
    return time.time_ns() - entry.stamp.changed > UNSURE_NANOSECONDS


def is_folder(entry: Entry | None) -> bool:
    return entry is not None and entry.kind is StateKind.FOLDER
