"""What the index process does between two messages: it keeps the index up to date, and answers."""

import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tark_lsp.errors import ToolError
from tark_lsp.index.answers import ANSWERS
from tark_lsp.index.cache_folder import bytes_in
from tark_lsp.index.dense import Dense
from tark_lsp.index.keeper import DAMAGED_NOTE, Damaged, Keeper, guarded, is_ours
from tark_lsp.index.model import Found, IndexState, IndexStatus
from tark_lsp.index.overlay import Overlay
from tark_lsp.index.questions import DefinitionsOf, Question, ReferencesTo, Search, SymbolsLike
from tark_lsp.index.ranking import terms_of
from tark_lsp.index.scanning import Scanner, look_at
from tark_lsp.index.store import FileRow, Seen, State, Totals
from tark_lsp.index.view import View
from tark_lsp.index.worker import Permit, Worker
from tark_lsp.workspace.search.ignore_files import IGNORE_FILES

AT_ONCE_FILES = 50
"""Changed files that are indexed before anything else; more of them take their turn."""
ROUNDS = 3
"""How often a question is asked again, because files changed since they were indexed."""
PATIENCE_SECONDS = 3.0
"""A question that waited longer is answered from what there is."""
FIRST_FILES = 10
FIRST_SECONDS = 1.0
"""While a tree is indexed, so many files at a time are indexed for a question, until so much time has passed."""

Scanned = Callable[[list[Seen] | ToolError], None]


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


class Engine:
    """`scanned` gets the files that a scan found, in another thread. All methods are for one thread."""

    def __init__(
        self,
        folders: Sequence[Path],
        keeper: Keeper,
        scanner: Scanner,
        permit: Permit,
        scanned: Scanned,
        most_bytes: int,
    ) -> None:
        """`most_bytes`: of the index on disk."""
        self._roots = tuple(str(folder).rstrip(os.sep) + os.sep for folder in folders)
        self._keeper = keeper
        self._scanner = scanner
        self._scanned = scanned
        self._most_bytes = most_bytes
        self._too_large = (
            f"the index has reached its limit of {most_bytes // 1_000_000:,} MB (index.maxMegabytes), so the other "
            "files are not indexed; ignore large folders in .gitignore or .ignore"
        )
        self._overlay = Overlay(permit)
        self._worker = Worker(permit)
        self._dense = Dense()
        self._progress = Progress()
        self._start_over()

    # What arrives

    def rescan(self) -> None:
        """List the files in another thread, which passes them to `scanned`."""
        progress = self._progress
        self._keeper.retry_soon()
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
        elif writer is not None and not progress.scan_again:
            progress.problem = ""
            self._safely(lambda: writer.store.compare(found))
            progress.scanned = progress.listed = True
            self._safely(self._count)
        if progress.scan_again:
            progress.scan_again = False
            self.rescan()

    def files_changed(self, paths: Sequence[str]) -> None:
        """What is known is brought up to date at once; for the rest the files are listed again."""
        paths = [path for path in paths if path.startswith(self._roots)]
        writer = self._keeper.writer
        if writer is None:
            self._overlay.show_files(paths)
            return
        known = []
        for path in paths:
            seen = look_at(path)
            if seen is None or Path(path).name in IGNORE_FILES or writer.store.file(path) is None:
                self.rescan()
            else:
                known.append(seen)
        self._safely(lambda: writer.store.mark(known, priority=1))
        if known and len(known) <= AT_ONCE_FILES:
            self._index_now([seen.path for seen in known])

    def show_text(self, path: str, text: str | None, *, plain: bool = False) -> None:
        """Text of an open document; None: its file counts again. `plain`: a grammar cannot read it."""
        if text is None or not path.startswith(self._roots):
            self._overlay.drop(path)
        else:
            self._overlay.show_text(path, text, plain=plain)

    def use_vectors(self, embedder: str) -> None:
        """`static`: those of the model in this process; another name: those that the server gives; empty: none."""
        self._safely(lambda: self._dense.use(embedder))

    def rules_changed(self) -> None:
        self._worker.check_rules()
        self._overlay.check_rules()

    def rebuild(self) -> None:
        """Begin with nothing. If another process writes the index, that one does. Raises ToolError if it cannot."""
        if not self._keeper.has_lock:
            if not self._keeper.ask_for_rebuild():
                raise ToolError("unsupported", "another tark-lsp has the index open: close it, then try again")
            return
        self._keeper.open(fresh=True)
        self._start_over()
        self.rescan()

    # Work

    def step(self) -> bool:
        """A little work. False if there is none."""
        if self._keeper.poll():
            self._start_over()
            self.rescan()
        writer = self._keeper.writer
        if writer is None:
            return False
        is_full = self._progress.bytes_on_disk > self._most_bytes
        self._progress.problem = self._too_large if is_full else self._progress.problem.replace(self._too_large, "")
        commits = writer.commits
        is_busy = bool(self._safely(lambda: self._worker.step(writer, is_full=is_full)))
        if writer.commits != commits:
            self._safely(self._count)
        return is_busy or bool(self._safely(lambda: self._dense.step(writer)))

    @property
    def is_settled(self) -> bool:
        """Whether nothing is to be done, if the last `step` did nothing."""
        return not self._progress.scanning

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

    # Answers

    def answer(self, question: Question[Any], *, waited: float) -> Found[Any]:
        """Raises ToolError if nobody can answer."""
        handler = ANSWERS.get(type(question))
        if handler is None:
            raise ToolError("unsupported", f"the index does not answer {type(question).__name__}")
        if self.status().state is IndexState.BUILDING and waited < PATIENCE_SECONDS:
            self._index_first(question)
        self._overlay.refresh(self._keeper.disk)
        found: Found[Any] = Found((), complete=False)
        for _ in range(ROUNDS):
            disk = self._keeper.disk
            if disk is None:
                break
            dense = self._dense.attach(disk)
            view = View(disk.store, disk.text, self._overlay.files, self._progress.totals, dense=dense)
            try:
                found = guarded(partial(handler, view, question))
            except (sqlite3.Error, OSError, Damaged) as error:
                self._on_error(error)
                continue
            changed = view.changed()
            if not changed:
                break
            if disk.writable and view.damaged:
                self._safely(partial(disk.store.mark_again, view.damaged))
            self._bring_up_to_date(changed[:AT_ONCE_FILES])
        problem = self._keeper.problem or self._progress.problem
        notes = (*found.notes, problem) if problem else found.notes
        return Found(found.items, self._share(), found.complete, notes)

    def status(self) -> IndexStatus:
        progress, totals, disk = self._progress, self._progress.totals, self._keeper.disk
        is_reader = disk is not None and not disk.writable
        state = IndexState.READY if is_reader or (progress.scanned and not totals.work) else IndexState.BUILDING
        return IndexStatus(
            IndexState.FAILED if self._keeper.problem else state,
            files=totals.files,
            indexed=totals.done,
            chunks=totals.chunks,
            definitions=totals.definitions,
            bytes_on_disk=progress.bytes_on_disk,
            reason=self._keeper.problem or progress.problem or self._keeper.note,
            skipped=totals.skipped,
            vectors=self._dense.describe(),
        )

    def _share(self) -> float:
        totals = self._progress.totals
        if not self._progress.listed or self._keeper.disk is None:
            return 0.0
        return totals.done / totals.files if totals.files else 1.0

    def _index_first(self, question: Question[Any]) -> None:
        """While a large tree is indexed: the files that the question is probably about come first."""
        match question:
            case Search(query=query) | SymbolsLike(query=query) | DefinitionsOf(name=query) | ReferencesTo(name=query):
                terms = terms_of(query)
                paths = self._scanner.first_files(terms.words, terms.identifiers)
            case _:
                paths = [str(path)] if (path := getattr(question, "path", None)) is not None else []
        deadline = time.monotonic() + FIRST_SECONDS
        for start in range(0, len(paths), FIRST_FILES):
            if time.monotonic() < deadline:
                self._bring_up_to_date(paths[start : start + FIRST_FILES])

    def _bring_up_to_date(self, paths: Sequence[str]) -> None:
        writer = self._keeper.writer
        if writer is None:
            self._overlay.show_files(paths)
            return
        seen = {path: look_at(path) for path in paths}
        gone = [path for path, found in seen.items() if found is None]
        changed = [
            found
            for path, found in seen.items()
            if found is not None and not _is_indexed(writer.store.file(path), found)
        ]
        self._safely(lambda: writer.store.mark(changed, priority=1))
        self._safely(lambda: writer.store.mark_gone(gone))
        self._index_now([*(found.path for found in changed), *gone])

    def _index_now(self, paths: Sequence[str]) -> None:
        writer = self._keeper.writer
        if writer is not None and paths:
            self._safely(lambda: self._worker.index_now(writer, paths))
            self._safely(self._count)

    # What can go wrong

    def _safely(self, work: Callable[[], Any]) -> Any:
        """What `work` returns, or None if the index could not be written or read."""
        try:
            return guarded(work)
        except (sqlite3.Error, OSError, ValueError, Damaged) as error:
            self._on_error(error)
            return None

    def _on_error(self, error: Exception) -> None:
        if is_ours(error) and self._keeper.writer is not None:
            self._keeper.begin_again(DAMAGED_NOTE)
            self._start_over()
            self.rescan()
        else:
            self._keeper.failed(error)

    def _start_over(self) -> None:
        """Another index is open than before."""
        self._worker.reset()
        was_scanning = self._progress.scanning
        self._progress = Progress(scanning=was_scanning, scan_again=was_scanning)
        self._safely(self._count)
        self._progress.listed = self._progress.totals.files > 0

    def _count(self) -> None:
        disk = self._keeper.disk
        if disk is not None:
            self._progress.totals = disk.store.totals()
            self._progress.bytes_on_disk = bytes_in(disk.folder)


def _is_indexed(row: FileRow | None, found: Seen) -> bool:
    """Whether what the index has of a file is up to date."""
    if row is None or row.state not in (State.CLEAN, State.SKIPPED):
        return False
    return (row.mtime, row.size) == (found.mtime, found.size)
