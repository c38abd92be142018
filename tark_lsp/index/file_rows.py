"""What a row of the table of files says: where its indexing stands, and what the file was when it was indexed."""

import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum


class State(IntEnum):
    DUE = 0
    """New, or changed since it was indexed. If it has chunks, they are those of its former text."""
    DOING = 1
    """It is being replaced: what is stored here and in the text index may differ. So may they at the next start, which
    makes it DUE, while `tries` counts."""
    CLEAN = 2
    SKIPPED = 3
    """`reason` says why it is not indexed."""
    GONE = 4
    """It no longer exists, or must not be indexed: to be removed."""


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
    """How often it was begun since it was last finished."""
    chunks: int


def is_current(row: FileRow, now: Seen) -> bool:
    """Whether what the index has of a file is up to date."""
    return row.state in (State.CLEAN, State.SKIPPED) and (row.mtime, row.size) == (now.mtime, now.size)


@dataclass(frozen=True, slots=True)
class Totals:
    """`done` counts files that are indexed or skipped; `bytes` are those of indexed files."""

    files: int = 0
    done: int = 0
    work: int = 0
    chunks: int = 0
    definitions: int = 0
    bytes: int = 0
    skipped: tuple[tuple[str, int], ...] = ()


COLUMNS = "id, path, mtime, size, hash, state, tries, chunks"


def select_rows(connection: sqlite3.Connection, where: str, values: Sequence[object]) -> list[FileRow]:
    """`where`: the rest of the statement, from WHERE."""
    found = connection.execute(f"SELECT {COLUMNS} FROM files {where}", values)
    return [
        FileRow(number, os.fsdecode(path), mtime, size, digest, State(state), tries, chunks)
        for number, path, mtime, size, digest, state, tries, chunks in found
    ]
