"""How the index stands: which one is open, how much of it is done, what went wrong, and what is said about it."""

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
    """What is known of the work. `listed`: the number of files is known, by this process or the one before."""

    totals: Totals = field(default_factory=Totals)
    bytes_on_disk: int = 0
    listed: bool = False
    scanned: bool = False
    scanning: bool = False
    scan_again: bool = False
    problem: str = ""


class Standing:
    """`on_new` is called when another index is open than before."""

    def __init__(self, keeper: Keeper, most_bytes: int, on_new: Callable[[], None]) -> None:
        """`most_bytes`: of the index on disk."""
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
        """What every answer says, in a sentence; else empty."""
        return self.keeper.problem or self.progress.problem

    def is_full(self) -> bool:
        """Whether the index has its largest size. Then the status says so."""
        is_full = self.progress.bytes_on_disk > self._most_bytes
        self.progress.problem = self._too_large if is_full else self.progress.problem.replace(self._too_large, "")
        return is_full

    def safely(self, work: Callable[[], Any]) -> Any:
        """What `work` returns, or None if the index could not be written or read."""
        try:
            return guarded(work)
        except (sqlite3.Error, OSError, ValueError, Damaged) as error:
            self.failed(error)
            return None

    def failed(self, error: Exception) -> None:
        """The index could not be written or read: begin again if it is damaged."""
        if is_ours(error) and self.writer is not None:
            self.keeper.begin_again(DAMAGED_NOTE)
            self.start_over()
        else:
            self.keeper.failed(error)

    def start_over(self) -> None:
        """Another index is open than before."""
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
        """The part of the files that is indexed."""
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
