"""Reads the index of a Git repository: which object each tracked file had when Git last looked. Runs no program.

Git's documentation describes the format (gitformat-index). The content is not trusted: an object counts for a file only
if the hash of the file's bytes is the object's name.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

HEADER = struct.Struct(">4sII")
ENTRY = struct.Struct(">10I20sH")
"""ctime, mtime (seconds, nanoseconds), device, inode, mode, user, group, size; the object; flags."""
EXTENDED, NAME_LENGTH = 0x4000, 0x0FFF
REGULAR, TYPE = 0o100000, 0o170000


class IndexEntry(NamedTuple):
    """`name` is the path from the top of the repository."""

    name: bytes
    object: bytes


def read_index(data: bytes) -> Iterator[IndexEntry]:
    """The regular files. Raises ValueError for an index in another format, also after some entries."""
    if len(data) < HEADER.size:
        raise ValueError("it is too short")
    signature, version, count = HEADER.unpack_from(data)
    if signature != b"DIRC" or version not in (2, 3, 4):
        raise ValueError(f"unknown version {version}")
    at, before = HEADER.size, b""
    for _ in range(count):
        if at + ENTRY.size > len(data):
            raise ValueError("it ends in the middle")
        *numbers, name_of_object, flags = ENTRY.unpack_from(data, at)
        start = at + ENTRY.size + (2 if version > 2 and flags & EXTENDED else 0)
        kept = 0
        if version == 4:
            stripped, start = _number(data, start)
            kept = len(before) - stripped
        end = data.index(b"\0", start)
        before = name = before[: max(0, kept)] + data[start:end]
        at = end + 1 if version == 4 else at + (end - at + 8) // 8 * 8
        if numbers[6] & TYPE == REGULAR:
            yield IndexEntry(name, name_of_object)


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number of variable length (as in packs, "offset encoding"), and where it ends."""
    byte = data[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = data[at]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, at + 1
