"""The work of the index's writer, in small steps: it fetches due files, has them prepared (helpers.py), and commits."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from functools import partial

from tark_lsp.index.disk_index import DENIED, DiskIndex
from tark_lsp.index.file_rows import FileRow, State
from tark_lsp.index.helpers import Prepare
from tark_lsp.index.keeper import guarded
from tark_lsp.index.memory import trim_memory
from tark_lsp.index.prepared import Prepared

PERMIT_FILES = 200
"""How many files are in one request to the server for permission."""
MOST_PREPARED = 100
"""If fewer files are being prepared, more are fetched."""
STEP_SECONDS = 0.02
"""The time limit of a step. A question waits for at most one step."""
WAIT_SECONDS = 0.005
"""How long a step waits for a file or a commit, if there is nothing else to do."""
COMMIT_CHARACTERS = 8_000_000
COMMIT_FILES = 2_000
COMMIT_SECONDS = 5.0
"""A batch is committed when it reaches one of these limits."""

Permit = Callable[[Sequence[str]], Sequence[bool]]


@dataclass(frozen=True, slots=True)
class Begun:
    """A file that is marked as begun. `coming`: its prepared content; None if it is gone or must not be read."""

    row: FileRow
    is_allowed: bool
    coming: Future[Prepared | None] | None


class Worker:
    """`permit` asks the server which files may be indexed. Raises the exceptions of DiskIndex."""

    def __init__(self, permit: Permit, prepare: Prepare) -> None:
        self._permit = permit
        self._prepare = prepare
        self._queue: deque[Begun] = deque()
        self._batch_began = 0.0
        self._checked: str | None = ""
        """Files up to this path were checked against the server's rules; None: all files."""

    def reset(self) -> None:
        """Start over after another index was opened."""
        for begun in self._queue:
            if begun.coming is not None:
                begun.coming.cancel()
        self._queue.clear()
        self.check_rules()

    def check_rules(self) -> None:
        """Check all files against the rules again when there is nothing else to do."""
        self._checked = ""

    def step(self, disk: DiskIndex, *, is_full: bool) -> bool:
        """Do a little work. False if there is none. `is_full`: only remove files."""
        if disk.is_committing:
            if guarded(partial(disk.finish_commit, WAIT_SECONDS)):
                trim_memory()
            return True
        if len(self._queue) < MOST_PREPARED:
            self._fetch(disk, is_full=is_full)
        has_work = bool(self._queue)
        deadline = time.monotonic() + STEP_SECONDS
        if self._queue and (first := self._queue[0].coming) is not None:
            wait((first,), WAIT_SECONDS)
        while self._queue and _is_ready(self._queue[0]) and time.monotonic() < deadline:
            self._take(disk, self._queue.popleft())
        batch = disk.batch
        is_large = batch.characters >= COMMIT_CHARACTERS or batch.files >= COMMIT_FILES
        is_old = time.monotonic() - self._batch_began >= COMMIT_SECONDS
        if batch.files and (is_large or is_old or (not self._queue and disk.store.queue.is_idle())):
            guarded(disk.begin_commit)
            return True
        return has_work or bool(batch.files) or self._compare_with_rules(disk)

    def _fetch(self, disk: DiskIndex, *, is_full: bool) -> None:
        rows = disk.store.queue.next_work(PERMIT_FILES, only_removals=is_full)
        if rows:
            allowed = self._permit([row.path for row in rows])
            disk.begin(rows)
            self._queue += map(self._begun, rows, allowed)

    def _begun(self, row: FileRow, is_allowed: bool) -> Begun:
        if not is_allowed or row.state is State.GONE:
            return Begun(row, is_allowed, None)
        is_whole = row.state is State.DUE and row.tries == 0
        return Begun(row, is_allowed, self._prepare(row.path, row.hash if is_whole else b""))

    def _take(self, disk: DiskIndex, begun: Begun) -> None:
        if not disk.batch.files:
            self._batch_began = time.monotonic()
        prepared = begun.coming.result() if begun.coming is not None else None
        guarded(lambda: disk.take(begun.row, prepared, is_allowed=begun.is_allowed))

    def _compare_with_rules(self, disk: DiskIndex) -> bool:
        """Check the next files, and mark those as due whose permission has changed. False if no files are left."""
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


def _is_ready(begun: Begun) -> bool:
    return begun.coming is None or begun.coming.done()
