"""The state of the index: which one is open, its progress, its problems, and its status for clients."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tark_lsp.index.cache_folder import bytes_in
from tark_lsp.index.disk_index import DiskIndex
from tark_lsp.index.file_rows import Totals
from tark_lsp.index.keeper import DAMAGED_NOTE, Damaged, Keeper, guarded, is_ours
from tark_lsp.index.status import IndexState, IndexStatus


@dataclass(slots=True)
class Progress:
    """The progress of the work. `listed`: the number of files is known, from this process or a previous one."""

    totals: Totals = field(default_factory=Totals)
    bytes_on_disk: int = 0
    listed: bool = False
    scanned: bool = False
    scanning: bool = False
    scan_again: bool = False
    problem: str = ""


class Standing:
    """`on_new` is called after another index was opened."""

    def __init__(self, keeper: Keeper, most_bytes: int, on_new: Callable[[], None]) -> None:
        """`most_bytes`: size limit of the index on disk."""
        self.keeper = keeper
        self.progress = Progress()
        self._most_bytes = most_bytes
        self._on_new = on_new
        self._too_large = (
            f"the index has reached its limit of {most_bytes // 1_000_000:,} MB (index.maxMegabytes), so the other "
            "files are not indexed; ignore large folders in .gitignore or .ignore"
        )

    @property
    def disk(self) -> DiskIndex | None:
        return self.keeper.disk

    @property
    def writer(self) -> DiskIndex | None:
        return self.keeper.writer

    @property
    def problem(self) -> str:
        """A sentence that is added to each answer; empty if there is no problem."""
        return self.keeper.problem or self.progress.problem

    def is_full(self) -> bool:
        """Whether the index has reached its size limit. If so, set the problem that the status shows."""
        is_full = self.progress.bytes_on_disk > self._most_bytes
        self.progress.problem = self._too_large if is_full else self.progress.problem.replace(self._too_large, "")
        return is_full

    def safely(self, work: Callable[[], Any]) -> Any:
        """Return the result of `work`, or None if the index could not be written or read."""
        try:
            return guarded(work)
        except (sqlite3.Error, OSError, ValueError, Damaged) as error:
            self.failed(error)
            return None

    def failed(self, error: Exception) -> None:
        """Handle an error of reading or writing: start over if the index is damaged."""
        if is_ours(error) and self.writer is not None:
            self.keeper.begin_again(DAMAGED_NOTE)
            self.start_over()
        else:
            self.keeper.failed(error)

    def start_over(self) -> None:
        """Reset the state after another index was opened."""
        was_scanning = self.progress.scanning
        self.progress = Progress(scanning=was_scanning, scan_again=was_scanning)
        self.safely(self.count)
        self.progress.listed = self.progress.totals.files > 0
        self._on_new()

    def count(self) -> None:
        if self.disk is not None:
            self.progress.totals = self.disk.store.totals()
            self.progress.bytes_on_disk = bytes_in(self.disk.folder)

    def share(self) -> float:
        """The share of files that are indexed."""
        totals = self.progress.totals
        if not self.progress.listed or self.disk is None:
            return 0.0
        return totals.done / totals.files if totals.files else 1.0

    def status(self, vectors: str) -> IndexStatus:
        progress, totals = self.progress, self.progress.totals
        is_reader = self.disk is not None and not self.disk.writable
        state = IndexState.READY if is_reader or (progress.scanned and not totals.work) else IndexState.BUILDING
        return IndexStatus(
            IndexState.FAILED if self.keeper.problem else state,
            files=totals.files,
            indexed=totals.done,
            chunks=totals.chunks,
            definitions=totals.definitions,
            bytes_on_disk=progress.bytes_on_disk,
            reason=self.problem or self.keeper.note,
            skipped=totals.skipped,
            vectors=vectors,
        )
