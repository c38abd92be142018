"""The index on disk: the files (store.py) and the words (text_index.py) together, and a batch of work on both.

The order of writes makes it safe to be killed at any moment: a file is marked, the text index is committed, then the
file is marked as done. What is still marked at the next start is done again.
"""

import contextlib
import json
import os
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import tantivy

from tark_lsp.index.cache_folder import create_private
from tark_lsp.index.file_rows import FileRow, State
from tark_lsp.index.packing import PackedFile, pack
from tark_lsp.index.parsing import parse_file
from tark_lsp.index.reading import read_for_index
from tark_lsp.index.store import Store
from tark_lsp.index.text_index import TextIndex

DATABASE, TEXT, PARSING = "files.sqlite3", "text", "parsing"
FAILED = "its parsing failed"
DENIED = "denied, secret or protected"
MOST_DEATHS = 2
"""A file that was being parsed at so many deaths of the process is skipped until it changes."""
TICK_NANOSECONDS = 20_000_000
"""Times of files are those of the kernel's clock, which ticks 100 to 1,000 times a second."""
FOOTER_MAGIC = 1337
"""The last 4 bytes of tantivy's files; before them the length of a footer of JSON, with the CRC of what is above it."""


@dataclass(slots=True)
class Batch:
    """Files whose words are in the text index, but not yet committed."""

    done: list[tuple[FileRow, bytes, PackedFile]] = field(default_factory=list)
    skipped: list[tuple[FileRow, bytes, str]] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)
    same: list[FileRow] = field(default_factory=list)
    characters: int = 0
    writes_text: bool = False

    @property
    def files(self) -> int:
        return len(self.done) + len(self.skipped) + len(self.removed) + len(self.same)


class DiskIndex:
    """Raises what Store and TextIndex raise. `writable`: this process holds the lock of the folder."""

    def __init__(self, folder: Path, *, writable: bool) -> None:
        create_private(folder)
        create_private(folder / TEXT)
        self.folder = folder
        self.writable = writable
        if not writable and not ((folder / DATABASE).exists() and tantivy.Index.exists(str(folder / TEXT))):
            raise FileNotFoundError("the first server has not begun it yet")
        if writable:
            check_words(folder / TEXT)
        self.store = Store(folder / DATABASE, writable=writable)
        if writable:
            self.store.check()
        self.text = TextIndex(folder / TEXT, writable=writable)
        self.blamed = False
        """Whether the process before died while it parsed a file."""
        self._parsing = self._opened_parsing() if writable else None
        self._batch = Batch()
        self.commits = 0

    @property
    def batch(self) -> Batch:
        return self._batch

    def take(self, row: FileRow, *, is_allowed: bool) -> None:
        """Bring the index up to date for one file, in the current batch. `begin` has marked it."""
        batch = self._batch
        had_words = row.chunks > 0 or row.tries > 0
        read = read_for_index(row.path) if is_allowed and row.state is not State.GONE else None
        if row.deaths >= MOST_DEATHS:
            self._skip(row, b"", FAILED, had_words=had_words)
        elif row.state is not State.GONE and not is_allowed:
            self._skip(row, b"", DENIED, had_words=had_words)
        elif read is None:
            self._remove_words(row, had_words=had_words)
            batch.removed.append(row.id)
        elif read.reason:
            self._skip(_at(row, read.mtime, read.size), read.digest, read.reason, had_words=had_words)
        elif row.hash == read.digest and row.state is State.DUE and row.tries == 0:
            batch.same.append(_at(row, read.mtime, read.size))
        else:
            self.mark_parsing(row.id)
            parsed = parse_file(row.path, read.text)
            self.mark_parsing(0)
            if had_words:
                self.text.remove(row.id)
            self.text.add(row.id, row.path, read.text, parsed)
            batch.done.append((_at(row, read.mtime, read.size), read.digest, pack(parsed)))
            batch.characters += len(read.text)
            batch.writes_text = True

    def begin(self, rows: Sequence[FileRow]) -> None:
        self.store.queue.begin([row.id for row in rows])

    def commit(self) -> None:
        batch, self._batch = self._batch, Batch()
        if batch.writes_text:
            self.text.commit()
        self.store.queue.finish(batch.done, batch.skipped, batch.removed)
        self.store.queue.touch(batch.same)
        self.commits += 1

    def mark_parsing(self, file: int) -> None:
        """Which file would be the cause if the process died now; 0: none. A grammar is native code."""
        if self._parsing is not None:
            os.pwrite(self._parsing, file.to_bytes(8, "little"), 0)

    def close(self) -> None:
        """Without a commit of the current batch."""
        if self._parsing is not None:
            os.close(self._parsing)
            self._parsing = None
        with contextlib.suppress(Exception):
            self.text.close()
        with contextlib.suppress(Exception):
            self.store.close()

    def _opened_parsing(self) -> int:
        handle = os.open(self.folder / PARSING, os.O_RDWR | os.O_CREAT, 0o600)
        if file := int.from_bytes(os.read(handle, 8), "little") & 0xFFFFFFFF:
            self.store.queue.blame(file)
            self.blamed = True
        return handle

    def _skip(self, row: FileRow, digest: bytes, reason: str, *, had_words: bool) -> None:
        self._remove_words(row, had_words=had_words)
        self._batch.skipped.append((row, digest, reason))

    def _remove_words(self, row: FileRow, *, had_words: bool) -> None:
        if had_words:
            self.text.remove(row.id)
            self._batch.writes_text = True


def check_words(folder: Path) -> None:
    """Compare the files of the text index with their checksums. Raises ValueError or OSError if one is damaged.

    tantivy itself does not, and maps them into memory: it can crash on a damaged one. Files that no commit names are
    what a killed process left.
    """
    meta = folder / "meta.json"
    if not meta.exists():
        return
    segments = {segment["segment_id"].replace("-", "") for segment in json.loads(meta.read_bytes())["segments"]}
    for path in sorted(folder.iterdir()):
        if path.name.split(".")[0] not in segments:
            continue
        data = path.read_bytes()
        length, magic = int.from_bytes(data[-8:-4], "little"), int.from_bytes(data[-4:], "little")
        footer = data[-8 - length : -8]
        if magic != FOOTER_MAGIC or f'"crc":{zlib.crc32(data[: -8 - length])}'.encode() not in footer:
            raise ValueError(f"{path.name} is damaged")


def _at(row: FileRow, mtime: int, size: int) -> FileRow:
    """The file as it was when it was read. If it changed a moment ago, its time does not count.

    It could change again within the same tick of the file system's clock, so the next look reads it once more.
    """
    if time.time_ns() - mtime < TICK_NANOSECONDS:
        mtime = -1
    return FileRow(row.id, row.path, mtime, size, row.hash, row.state, row.tries, row.deaths, row.chunks)
