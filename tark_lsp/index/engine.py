"""What the index process does between two messages: brings the index up to date in small steps, and answers."""

import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tark_lsp.errors import ToolError
from tark_lsp.index.answers import ANSWERS
from tark_lsp.index.cache_folder import bytes_in
from tark_lsp.index.disk_index import DENIED, DiskIndex
from tark_lsp.index.keeper import DAMAGED_NOTE, Damaged, Keeper, guarded, is_ours
from tark_lsp.index.model import Found, IndexState, IndexStatus
from tark_lsp.index.overlay import OverlaidFile
from tark_lsp.index.questions import DefinitionsOf, Question, ReferencesTo, Search, SymbolsLike
from tark_lsp.index.ranking import terms_of
from tark_lsp.index.reading import LARGEST_BYTES, read_for_index, why_skipped
from tark_lsp.index.scanning import Scanner, look_at
from tark_lsp.index.store import FileRow, Seen, State, Totals
from tark_lsp.index.view import View
from tark_lsp.workspace.search.ignore_files import IGNORE_FILES

PERMIT_FILES = 200
"""How many files the server is asked about at once."""
STEP_SECONDS = 0.02
"""A question waits for one step at most, or for one large file."""
COMMIT_CHARACTERS = 12_000_000
COMMIT_FILES = 2_000
COMMIT_SECONDS = 5.0
"""A batch is committed when it has so many characters or files, or is so old."""
AT_ONCE_FILES = 50
"""Changed files that are indexed before anything else; more of them take their turn."""
ROUNDS = 3
"""How often a question is asked again, because files changed since they were indexed."""
PATIENCE_SECONDS = 3.0
"""A question that waited longer is answered from what there is."""

Permit = Callable[[Sequence[str]], Sequence[bool]]
NO_TOTALS = Totals(0, 0, 0, 0, 0, ())


@dataclass(slots=True)
class Progress:
    """What is known of the work."""

    totals: Totals = NO_TOTALS
    bytes_on_disk: int = 0
    listed: bool = False
    """Whether the number of files is known: by this process, or by the one before."""
    scanned: bool = False
    scanning: bool = False
    scan_again: bool = False
    problem: str = ""


class Engine:
    """`permit` asks the server which files may be indexed. `tell` is called when the status may have changed.

    All methods are for one thread.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        keeper: Keeper,
        scanner: Scanner,
        permit: Permit,
        scanned: Callable[[list[Seen] | ToolError], None],
        most_bytes: int,
    ) -> None:
        """`most_bytes`: of the index on disk."""
        self._roots = tuple(str(folder).rstrip(os.sep) + os.sep for folder in folders)
        self._keeper = keeper
        self._scanner = scanner
        self._permit = permit
        self._scanned = scanned
        self._most_bytes = most_bytes
        self._overlay: dict[str, OverlaidFile] = {}
        self._progress = Progress()
        self._queue: list[tuple[FileRow, bool]] = []
        self._batch_began = 0.0
        self._look_again()
        self._recheck: str | None = ""
        """Files up to this path were compared with the rules of the server; None: all of them."""

    # What arrives

    def rescan(self) -> None:
        """Lists the files in another thread, which passes them to `scanned`."""
        progress = self._progress
        if progress.scanning:
            progress.scan_again = True
        elif self._keeper.writer is not None:
            progress.scanning = True
            self._scanner.scan(self._scanned)

    def take_scan(self, found: list[Seen] | ToolError) -> None:
        progress = self._progress
        progress.scanning = False
        writer = self._keeper.writer
        if isinstance(found, ToolError):
            progress.problem = f"the files cannot be listed: {found}"
        elif writer is not None:
            progress.problem = ""
            self._safely(lambda: writer.store.compare(found))
            progress.scanned = progress.listed = True
            self._count()
        if progress.scan_again:
            progress.scan_again = False
            self.rescan()

    def files_changed(self, paths: Sequence[str]) -> None:
        """What is known is brought up to date at once; for the rest the files are listed again."""
        writer = self._keeper.writer
        if writer is None:
            self._overlay_disk([path for path in paths if self._is_inside(path)])
            return
        known = []
        for path in filter(self._is_inside, paths):
            seen = look_at(path)
            if seen is not None and Path(path).name not in IGNORE_FILES and writer.store.file(path) is not None:
                known.append(seen)
            else:
                self.rescan()
        self._safely(lambda: writer.store.mark(known, priority=1))
        if len(known) <= AT_ONCE_FILES:
            self._index_now([seen.path for seen in known])

    def show_text(self, path: str, text: str | None) -> None:
        """Text of an open document; None: its file counts again."""
        self._overlay.pop(path, None)
        if text is None or not self._is_inside(path) or len(text) > LARGEST_BYTES:
            return
        if self._permit([path])[0] and not why_skipped(text):
            self._overlay[path] = OverlaidFile.of(path, text)

    def rules_changed(self) -> None:
        self._recheck = ""
        for path in [*self._overlay]:
            if not self._permit([path])[0]:
                del self._overlay[path]

    def rebuild(self) -> None:
        """Begin with nothing. If another process writes the index, that one does. Raises ToolError if it cannot."""
        if not self._keeper.has_lock:
            if not self._keeper.ask_for_rebuild():
                raise ToolError("unsupported", "another tark-lsp has the index open: close it, then try again")
            return
        self._keeper.open(fresh=True)
        self._look_again()
        self.rescan()

    # Work

    def step(self) -> bool:
        """A little work. False if there is none."""
        if self._keeper.poll():
            self._look_again()
            self.rescan()
        writer = self._keeper.writer
        if writer is None:
            return False
        return self._safely(lambda: self._work(writer)) or False

    @property
    def is_waiting(self) -> bool:
        """Whether `step` should be called again after a while, although nothing arrives."""
        return self._keeper.writer is None

    def abandon(self) -> None:
        """Before the end of the process: what is not committed is to be done again."""
        writer = self._keeper.writer
        if writer is not None:
            writer.store.abandon()
        self._keeper.close()

    def _work(self, writer: DiskIndex) -> bool:
        if not self._queue:
            self._fetch(writer)
        deadline = time.monotonic() + STEP_SECONDS
        while self._queue and time.monotonic() < deadline:
            self._take(writer, *self._queue.pop(0))
        batch = writer.batch
        if batch.files and (
            not self._queue
            and writer.store.is_idle()
            or batch.characters >= COMMIT_CHARACTERS
            or batch.files >= COMMIT_FILES
            or time.monotonic() - self._batch_began >= COMMIT_SECONDS
        ):
            self._commit(writer)
        return bool(self._queue) or bool(batch.files) or self._check_rules(writer)

    def _fetch(self, writer: DiskIndex) -> None:
        is_full = self._progress.bytes_on_disk > self._most_bytes
        rows = writer.store.next_work(PERMIT_FILES, only_removals=is_full)
        if is_full:
            self._progress.problem = (
                f"the index has reached its limit of {self._most_bytes // 1_000_000:,} MB (index.maxMegabytes), so the "
                "other files are not indexed; ignore large folders in .gitignore or .ignore"
            )
        if any(row.tries for row in rows):
            rows = [next(row for row in rows if row.tries)]  # alone: it may be what ended the process
            if writer.batch.files:
                self._commit(writer)
        if rows:
            allowed = self._permit([row.path for row in rows])
            writer.begin(rows)
            self._queue = [*zip(rows, allowed, strict=True)]

    def _take(self, writer: DiskIndex, row: FileRow, is_allowed: bool) -> None:  # noqa: FBT001  # a pair of the queue
        if not writer.batch.files:
            self._batch_began = time.monotonic()
        writer.take(row, is_allowed=is_allowed)
        if row.tries:
            self._commit(writer)

    def _commit(self, writer: DiskIndex) -> None:
        guarded(writer.commit)
        self._count()

    def _check_rules(self, writer: DiskIndex) -> bool:
        """When there is nothing else to do: whether the rules of the server are still what they were."""
        if self._recheck is None:
            return False
        files = writer.store.files_after(self._recheck, PERMIT_FILES)
        if not files:
            self._recheck = None
            return False
        self._recheck = files[-1][0]
        allowed = self._permit([path for path, _ in files])
        writer.store.mark_again(
            path for (path, reason), is_allowed in zip(files, allowed, strict=True) if is_allowed == (reason == DENIED)
        )
        return True

    def _index_now(self, paths: Sequence[str]) -> None:
        """Bring these files up to date before anything else is done."""
        writer = self._keeper.writer
        if writer is None:
            self._overlay_disk(paths)
            return

        def work(disk: DiskIndex) -> None:
            queued = {row.path for row, _ in self._queue}
            rows = [row for path in paths if path not in queued and (row := disk.store.file(path)) is not None]
            rows = [row for row in rows if row.state is not State.DOING]
            allowed = self._permit([row.path for row in rows]) if rows else ()
            disk.begin(rows)
            first = [pair for pair in self._queue if pair[0].path in {*paths}]
            self._queue = [pair for pair in self._queue if pair[0].path not in {*paths}]
            for row, is_allowed in [*first, *zip(rows, allowed, strict=True)]:
                self._take(disk, row, is_allowed)
            self._commit(disk)

        self._safely(lambda: work(writer))

    def _overlay_disk(self, paths: Sequence[str]) -> None:
        """For a reader, which cannot write: changed files are kept in memory, like open documents."""
        for path, is_allowed in zip(paths, self._permit(paths) if paths else (), strict=True):
            read = read_for_index(path) if is_allowed else None
            text = read.text if read is not None and not read.reason else ""
            self._overlay[path] = OverlaidFile.of(path, text)

    # Answers

    def answer(self, question: Question[Any], *, waited: float) -> Found[Any]:
        """Raises ToolError if nobody can answer."""
        handler = ANSWERS.get(type(question))
        if handler is None:
            raise ToolError("unsupported", f"the index does not answer {type(question).__name__} yet")
        if self.status().state is IndexState.BUILDING and waited < PATIENCE_SECONDS:
            self._index_first(question)
        found: Found[Any] = Found(())
        for _ in range(ROUNDS):
            disk = self._keeper.disk
            if disk is None:
                return Found((), 0.0, complete=False, notes=self._notes())
            view = View(disk.store, disk.text, self._overlay)
            try:
                found = guarded(partial(handler, view, question))
            except (sqlite3.Error, OSError, Damaged) as error:
                self._on_error(error)
                continue
            changed = view.changed()
            if not changed:
                break
            self._bring_up_to_date(changed[:AT_ONCE_FILES])
        return Found(found.items, self._share(), found.complete, (*found.notes, *self._notes()))

    def status(self) -> IndexStatus:
        progress, totals = self._progress, self._progress.totals
        problem = self._keeper.problem or progress.problem
        is_ready = (
            (progress.scanned and not totals.work) or self._keeper.disk is not None and not self._keeper.disk.writable
        )
        if self._keeper.problem:
            state = IndexState.FAILED
        else:
            state = IndexState.READY if is_ready else IndexState.BUILDING
        return IndexStatus(
            state,
            files=totals.files,
            indexed=totals.done,
            chunks=totals.chunks,
            definitions=totals.definitions,
            bytes_on_disk=progress.bytes_on_disk,
            reason=problem or self._keeper.note,
            skipped=totals.skipped,
        )

    def _share(self) -> float:
        totals = self._progress.totals
        if not self._progress.listed:
            return 0.0
        return totals.done / totals.files if totals.files else 1.0

    def _notes(self) -> tuple[str, ...]:
        problem = self._keeper.problem or self._progress.problem
        return (problem,) if problem else ()

    def _index_first(self, question: Question[Any]) -> None:
        """While a large tree is indexed: the files that the question is probably about come first."""
        match question:
            case Search(query=query) | SymbolsLike(query=query) | DefinitionsOf(name=query) | ReferencesTo(name=query):
                terms = terms_of(query)
                paths = self._scanner.first_files(terms.words, terms.identifiers)
            case _:
                paths = [str(path)] if (path := getattr(question, "path", None)) is not None else []
        self._bring_up_to_date(paths)

    def _bring_up_to_date(self, paths: Sequence[str]) -> None:
        writer = self._keeper.writer
        if writer is None:
            self._overlay_disk(paths)
            return
        seen = {path: look_at(path) for path in paths}
        gone = [path for path, found in seen.items() if found is None]
        changed = []
        for path, found in seen.items():
            row = writer.store.file(path) if found is not None else None
            if found is not None and (
                row is None or row.state is State.TODO or (row.mtime, row.size) != (found.mtime, found.size)
            ):
                changed.append(found)
        self._safely(lambda: (writer.store.mark(changed, priority=1), writer.store.mark_gone(gone)))
        self._index_now([*(found.path for found in changed), *gone])

    # What can go wrong

    def _safely(self, work: Callable[[], Any]) -> Any:
        """What `work` returns, or None if the index could not be written or read."""
        try:
            return guarded(work)
        except (sqlite3.Error, OSError, ValueError, Damaged) as error:
            self._on_error(error)
            return None

    def _on_error(self, error: Exception) -> None:
        self._queue.clear()
        if is_ours(error) and self._keeper.writer is not None:
            self._keeper.begin_again(DAMAGED_NOTE)
            self._look_again()
            self.rescan()
        else:
            self._keeper.failed(error)

    def _look_again(self) -> None:
        """Another index is open than before."""
        self._queue.clear()
        was_scanning = self._progress.scanning
        self._progress = Progress(scanning=was_scanning, scan_again=was_scanning)
        self._safely(self._count)
        self._progress.listed = self._progress.totals.files > 0

    def _count(self) -> None:
        disk = self._keeper.disk
        if disk is not None:
            self._progress.totals = disk.store.totals()
            self._progress.bytes_on_disk = bytes_in(disk.folder)

    def _is_inside(self, path: str) -> bool:
        return path.startswith(self._roots)
