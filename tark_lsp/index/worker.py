"""The writer's work: files to be indexed are fetched, read, parsed and committed, in small steps."""

import time
from collections.abc import Callable, Sequence

from tark_lsp.index.disk_index import DENIED, DiskIndex
from tark_lsp.index.file_rows import FileRow
from tark_lsp.index.keeper import guarded
from tark_lsp.index.memory import trim_memory

PERMIT_FILES = 200
"""How many files the server is asked about at once."""
STEP_SECONDS = 0.02
"""A question waits for one step at most, or for one large file."""
COMMIT_CHARACTERS = 8_000_000
COMMIT_FILES = 2_000
COMMIT_SECONDS = 5.0
"""A batch is committed when it has so many characters or files, or is so old."""

Permit = Callable[[Sequence[str]], Sequence[bool]]


class Worker:
    """`permit` asks the server which files may be indexed. Raises what DiskIndex raises."""

    def __init__(self, permit: Permit) -> None:
        self._permit = permit
        self._queue: list[tuple[FileRow, bool]] = []
        """Files that are marked as begun, in reverse order, and whether they may be indexed."""
        self._batch_began = 0.0
        self._checked: str | None = ""
        """Files up to this path were compared with the rules of the server; None: all of them."""

    def reset(self) -> None:
        """Another index is open than before."""
        self._queue.clear()
        self.check_rules()

    def check_rules(self) -> None:
        """Ask again for all files, when there is nothing else to do."""
        self._checked = ""

    def step(self, disk: DiskIndex, *, is_full: bool) -> bool:
        """A little work. False if there is none. `is_full`: only remove files."""
        if not self._queue:
            self._fetch(disk, is_full=is_full)
        has_work = bool(self._queue)
        deadline = time.monotonic() + STEP_SECONDS
        while self._queue and time.monotonic() < deadline:
            self._take(disk, *self._queue.pop())
        batch = disk.batch
        is_large = batch.characters >= COMMIT_CHARACTERS or batch.files >= COMMIT_FILES
        is_old = time.monotonic() - self._batch_began >= COMMIT_SECONDS
        if batch.files and (is_large or is_old or (not self._queue and disk.store.queue.is_idle())):
            guarded(disk.commit)
            if is_large or is_old:
                trim_memory()
        return has_work or bool(batch.files) or self._compare_with_rules(disk)

    def _fetch(self, disk: DiskIndex, *, is_full: bool) -> None:
        rows = disk.store.queue.next_work(PERMIT_FILES, only_removals=is_full)
        if rows:
            allowed = self._permit([row.path for row in rows])
            disk.begin(rows)
            self._queue = [*reversed([*zip(rows, allowed, strict=True)])]

    def _take(self, disk: DiskIndex, row: FileRow, is_allowed: bool) -> None:
        if not disk.batch.files:
            self._batch_began = time.monotonic()
        guarded(lambda: disk.take(row, is_allowed=is_allowed))

    def _compare_with_rules(self, disk: DiskIndex) -> bool:
        """The next files: those that were allowed and are denied now, or the reverse, are to be done. False: none."""
        if self._checked is None:
            return False
        files = disk.store.files_after(self._checked, PERMIT_FILES)
        if not files:
            self._checked = None
            return False
        self._checked = files[-1][0]
        allowed = self._permit([path for path, _ in files])
        disk.store.queue.mark_again(
            path for (path, reason), is_allowed in zip(files, allowed, strict=True) if is_allowed == (reason == DENIED)
        )
        return True
