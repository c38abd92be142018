"""The work of the index process: it keeps the index up to date and answers questions."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tark_lsp.errors import ToolError
from tark_lsp.index.answering import AT_ONCE_FILES, Answering
from tark_lsp.index.dense import Dense
from tark_lsp.index.file_rows import Seen
from tark_lsp.index.helpers import Helpers
from tark_lsp.index.keeper import Keeper
from tark_lsp.index.model import Found
from tark_lsp.index.overlay import Overlay
from tark_lsp.index.questions import Question
from tark_lsp.index.scanning import Scanner, look_at
from tark_lsp.index.standing import Standing
from tark_lsp.index.status import IndexStatus
from tark_lsp.index.worker import Permit, Worker
from tark_lsp.workspace.search.ignore_files import IGNORE_FILES

Scanned = Callable[[list[Seen] | ToolError], None]


class Engine:
    """`scanned` is called in another thread with the files that a scan found. Call all methods on one thread."""

    def __init__(
        self,
        folders: Sequence[Path],
        keeper: Keeper,
        scanner: Scanner,
        permit: Permit,
        scanned: Scanned,
        most_bytes: int,
    ) -> None:
        """Starts a scan. `most_bytes`: size limit of the index on disk."""
        self._roots = tuple(str(folder).rstrip(os.sep) + os.sep for folder in folders)
        self._keeper = keeper
        self._scanner = scanner
        self._scanned = scanned
        self._overlay = Overlay(permit)
        self._helpers = Helpers()
        self._worker = Worker(permit, self._helpers.prepare)
        self._dense = Dense()
        self._standing = Standing(keeper, most_bytes, self._begin)
        self._answering = Answering(self._standing, self._overlay, self._dense, scanner)
        self._standing.start_over()

    # What arrives

    def rescan(self) -> None:
        """List the files in another thread, which passes them to `scanned`."""
        progress = self._standing.progress
        self._answering.look_again()
        self._keeper.retry_soon()
        if progress.scanning:
            progress.scan_again = True
        elif self._keeper.writer is not None:
            progress.scanning = True
            self._scanner.scan(self._scanned)

    def take_scan(self, found: list[Seen] | ToolError) -> None:
        progress = self._standing.progress
        progress.scanning = False
        writer = self._keeper.writer
        if isinstance(found, ToolError):
            progress.problem = f"the files cannot be listed: {found}"
        elif writer is not None and not progress.scan_again:
            progress.problem = ""
            self._standing.safely(lambda: writer.store.queue.compare(found))
            progress.scanned = progress.listed = True
            self._standing.safely(self._standing.count)
        if progress.scan_again:
            progress.scan_again = False
            self.rescan()

    def files_changed(self, paths: Sequence[str]) -> None:
        """Read changed files that the index knows. If there are other ones, list all files again."""
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
        if len(known) > AT_ONCE_FILES:
            self._standing.safely(lambda: writer.store.queue.mark(known, priority=1))
            self._standing.safely(self._standing.count)  # so that answers report it and read their own files first
        else:
            self._answering.read_now([seen.path for seen in known])

    def show_text(self, path: str, text: str | None, *, plain: bool = False) -> None:
        """Use the text of an open document; None: use its file again. `plain`: parse it without a grammar."""
        if text is None or not path.startswith(self._roots):
            self._overlay.drop(path)
        else:
            self._overlay.show_text(path, text, plain=plain)

    def use_vectors(self, embedder: str) -> None:
        """`static`: vectors of the model in this process; another name: vectors from the server; empty: none."""
        self._standing.safely(lambda: self._dense.use(embedder))

    def rules_changed(self) -> None:
        self._worker.check_rules()
        self._overlay.check_rules()

    def rebuild(self) -> None:
        """Rebuild the index, or have the process that writes it rebuild it. Raises ToolError if this is impossible."""
        if not self._keeper.has_lock:
            if self._keeper.problem:
                raise ToolError("unsupported", self._keeper.problem)
            if not self._keeper.ask_for_rebuild():
                raise ToolError("unsupported", "another tark-lsp has the index open: close it, then try again")
            return
        self._keeper.open(fresh=True)
        self._standing.start_over()

    # Work

    def step(self) -> bool:
        """Do a little work. False if there is none."""
        if self._keeper.poll():
            self._standing.start_over()
        writer = self._keeper.writer
        if writer is None:
            return False
        is_full = self._standing.is_full()
        commits = writer.commits
        is_busy = bool(self._standing.safely(lambda: self._worker.step(writer, is_full=is_full)))
        if writer.commits != commits:
            self._standing.safely(self._standing.count)
            self._answering.refresh()
        return is_busy or bool(self._standing.safely(lambda: self._dense.step(writer)))

    @property
    def is_settled(self) -> bool:
        """Whether all work is done, provided that the last `step` returned False."""
        return not self._standing.progress.scanning

    @property
    def is_waiting(self) -> bool:
        """Whether `step` should be called again after a while, even if no message arrives."""
        return self._keeper.writer is None

    def abandon(self) -> None:
        """Call before the process ends. Work that is not committed will be done again."""
        writer = self._keeper.writer
        if writer is not None:
            writer.store.queue.abandon()
        self._keeper.close()

    # Answers

    def answer(self, question: Question[Any], *, waited: float) -> Found[Any]:
        """Raises ToolError if the index does not support the question."""
        return self._answering.answer(question, waited=waited)

    def status(self) -> IndexStatus:
        return self._standing.status(self._dense.describe())

    def _begin(self) -> None:
        """Start over after another index was opened."""
        self._worker.reset()
        self.rescan()
