"""Rows of the table of files: the state of a file's indexing, and the file's properties when it was indexed."""

import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum


class State(IntEnum):
    DUE = 0
    """New, or changed since it was indexed. Its chunks, if any, are from its former text."""
    DOING = 1
    """Being replaced: the data here and in the text index may differ. If the process ends now, the next start makes the
    file DUE again, and `tries` counts the attempt."""
    CLEAN = 2
    SKIPPED = 3
    """Not indexed; the column `reason` says why."""
    GONE = 4
    """To be removed: the file no longer exists, or must not be indexed."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as a scan found it. `mtime` in nanoseconds, `size` in bytes."""

    path: str
    mtime: int
    size: int


@dataclass(frozen=True, slots=True)
class FileRow:
    id: int
    path: str
    mtime: int
    size: int
    hash: bytes
    state: State
    tries: int
    """How often its indexing was begun since it was last finished."""
    chunks: int


def is_current(row: FileRow, now: Seen) -> bool:
    """Whether the index is up to date for this file."""
    return row.state in (State.CLEAN, State.SKIPPED) and (row.mtime, row.size) == (now.mtime, now.size)


@dataclass(frozen=True, slots=True)
class Totals:
    """`done`: files that are indexed or skipped. `bytes`: total size of indexed files."""

    files: int = 0
    done: int = 0
    work: int = 0
    chunks: int = 0
    definitions: int = 0
    bytes: int = 0
    skipped: tuple[tuple[str, int], ...] = ()


COLUMNS = "id, path, mtime, size, hash, state, tries, chunks"


def select_rows(connection: sqlite3.Connection, where: str, values: Sequence[object]) -> list[FileRow]:
    """`where`: the rest of the statement, beginning with WHERE."""
    found = connection.execute(f"SELECT {COLUMNS} FROM files {where}", values)
    return [
        FileRow(number, os.fsdecode(path), mtime, size, digest, State(state), tries, chunks)
        for number, path, mtime, size, digest, state, tries, chunks in found
    ]
