"""The index on disk: the files (store.py), the words (text_index.py), and a batch of changes to both.

The order of writes makes it safe to kill the process at any moment: a file is marked as begun, the text index is
committed, then the file is marked as done. Files that are still marked as begun at the next start are indexed again.
"""

import contextlib
import json
import time
import zlib
from collections.abc import Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from pathlib import Path

import tantivy

from tark_lsp.index.cache_folder import create_private
from tark_lsp.index.file_rows import FileRow, State
from tark_lsp.index.packing import PackedFile
from tark_lsp.index.prepared import Prepared
from tark_lsp.index.store import Store
from tark_lsp.index.text_index import TextIndex

DATABASE, TEXT = "files.sqlite3", "text"
DENIED = "denied, secret or protected"
TICK_NANOSECONDS = 20_000_000
"""The times of files come from the kernel's clock, which ticks 100 to 1,000 times a second."""
FOOTER_MAGIC = 1337
"""The last 4 bytes of tantivy's files. Before them: a JSON footer with the CRC of the data, and the footer's length."""


@dataclass(slots=True)
class Batch:
    """Files whose words are in the text index but not committed yet."""

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
    """Raises the exceptions of Store and TextIndex. `writable`: this process holds the lock of the folder."""

    def __init__(self, folder: Path, *, writable: bool) -> None:
        create_private(folder)
        create_private(folder / TEXT)
        self.folder = folder
        self.writable = writable
        if not writable and not ((folder / DATABASE).exists() and tantivy.Index.exists(str(folder / TEXT))):
            raise FileNotFoundError("the process that writes the index has not created it yet")
        if writable:
            check_words(folder / TEXT)
        self.store = Store(folder / DATABASE, writable=writable)
        if writable:
            self.store.check()
        self.text = TextIndex(folder / TEXT, writable=writable)
        self._batch = Batch()
        self._committing: Future[object] | None = None
        self.commits = 0

    @property
    def batch(self) -> Batch:
        return self._batch

    def take(self, row: FileRow, prepared: Prepared | None, *, is_allowed: bool) -> None:
        """Update the index for one file, in the current batch. `begin` must have marked it.

        `prepared` is the current content of the file; None if the file does not exist or is not allowed.
        """
        batch = self._batch
        had_words = row.chunks > 0 or row.tries > 0
        if row.state is not State.GONE and not is_allowed:
            self._skip(row, b"", DENIED, had_words=had_words)
        elif prepared is None:
            self._remove_words(row, had_words=had_words)
            batch.removed.append(row.id)
        elif prepared.reason:
            now = _at(row, prepared) if prepared.digest else row
            self._skip(now, prepared.digest, prepared.reason, had_words=had_words)
        elif prepared.packed is None:
            batch.same.append(_at(row, prepared))
        else:
            if had_words:
                self.text.remove(row.id)
            self.text.add(row.id, prepared.chunks)
            batch.done.append((_at(row, prepared), prepared.digest, prepared.packed))
            batch.characters += prepared.characters
            batch.writes_text = True

    def begin(self, rows: Sequence[FileRow]) -> None:
        self.store.queue.begin([row.id for row in rows])

    @property
    def is_committing(self) -> bool:
        """Whether a commit is running. Do not call `take` until `finish_commit` returns True; questions are allowed."""
        return self._committing is not None

    def begin_commit(self) -> None:
        """Commit the words in another thread."""
        if self._batch.writes_text:
            self._committing = self.text.begin_commit()
        else:
            self._finish()

    def finish_commit(self, seconds: float | None = None) -> bool:
        """Wait for the commit, at most this long. False if it is not finished."""
        if self._committing is not None:
            if not wait((self._committing,), seconds).done:
                return False
            committed, self._committing = self._committing, None
            committed.result()
            self.text.reload()
            self._finish()
        return True

    def commit(self) -> None:
        self.begin_commit()
        self.finish_commit()

    def _finish(self) -> None:
        batch, self._batch = self._batch, Batch()
        self.store.queue.finish(batch.done, batch.skipped, batch.removed)
        self.store.queue.touch(batch.same)
        self.commits += 1

    def close(self) -> None:
        """Close without a commit of the current batch."""
        with contextlib.suppress(Exception):
            self.text.close()
        with contextlib.suppress(Exception):
            self.store.close()

    def _skip(self, row: FileRow, digest: bytes, reason: str, *, had_words: bool) -> None:
        self._remove_words(row, had_words=had_words)
        self._batch.skipped.append((row, digest, reason))

    def _remove_words(self, row: FileRow, *, had_words: bool) -> None:
        if had_words:
            self.text.remove(row.id)
            self._batch.writes_text = True


def check_words(folder: Path) -> None:
    """Compare the files of the text index with their checksums. Raises ValueError or OSError if one is damaged.

    tantivy does not check them: it maps the files into memory and can crash on a damaged one. Files that no commit
    names are left over from a killed process and are ignored.
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


def _at(row: FileRow, now: Prepared) -> FileRow:
    """The row of a file as it was when it was read, without its time if it changed a moment ago.

    It could change again within the same tick of the file system's clock, so the next scan reads it again.
    """
    mtime = -1 if time.time_ns() - now.mtime < TICK_NANOSECONDS else now.mtime
    return FileRow(row.id, row.path, mtime, now.size, row.hash, row.state, row.tries, row.chunks)
