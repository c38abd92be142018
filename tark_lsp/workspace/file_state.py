"""FileState: what is at a path, without following links: a file by its digest and mode, a link, or a folder; pure."""

import os
import stat
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Self

BY_STAMP = "stamp:"
"""Prefix of `content` if the bytes were not read (too many, or unreadable). Size, time and inode stand for them."""


class StateKind(StrEnum):
    FILE = "file"
    LINK = "link"
    FOLDER = "folder"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class FileState:
    """`content`: for a file its SHA-256 (or see `BY_STAMP`; empty: unknown), for a link its target in hex."""

    kind: StateKind
    mode: int = 0
    content: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """The state whose `str` is `text`."""
        kind, mode, content = text.split(" ", 2)
        return cls(StateKind(kind), int(mode, 8), content)

    @classmethod
    def of_link(cls, target: bytes) -> Self:
        return cls(StateKind.LINK, 0, target.hex())

    def __str__(self) -> str:
        return f"{self.kind} {self.mode:o} {self.content}"

    @property
    def digest(self) -> str | None:
        """The SHA-256 of a file, if it is known."""
        known = self.kind is StateKind.FILE and self.content and not self.content.startswith(BY_STAMP)
        return self.content if known else None

    @property
    def link_target(self) -> bytes:
        return bytes.fromhex(self.content)


@dataclass(frozen=True, slots=True)
class FileChange:
    """None: nothing was there, or is there."""

    path: Path
    before: FileState | None
    after: FileState | None


def kind_of(mode: int) -> StateKind:
    """`mode` is `st_mode`."""
    if stat.S_ISREG(mode):
        return StateKind.FILE
    if stat.S_ISLNK(mode):
        return StateKind.LINK
    return StateKind.FOLDER if stat.S_ISDIR(mode) else StateKind.OTHER


def stamp_content(status: os.stat_result) -> str:
    """The `content` of a file that is not read."""
    return f"{BY_STAMP}{status.st_size}:{status.st_mtime_ns}:{status.st_ino}"
