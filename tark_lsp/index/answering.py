"""Answers questions from the current files: those that changed since they were indexed are read for the answer."""

import os
import sqlite3
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from tark_lsp.errors import ToolError
from tark_lsp.index.answers import ANSWERS
from tark_lsp.index.dense import Dense
from tark_lsp.index.file_rows import FileRow, Seen, State, is_current
from tark_lsp.index.keeper import Damaged, guarded
from tark_lsp.index.model import Found
from tark_lsp.index.overlay import Overlay
from tark_lsp.index.questions import DefinitionsOf, Question, ReferencesTo, Search, SymbolsLike
from tark_lsp.index.ranking import Terms, terms_of
from tark_lsp.index.scanning import Scanner, look_at
from tark_lsp.index.standing import Standing
from tark_lsp.index.status import IndexState
from tark_lsp.index.view import View

AT_ONCE_FILES = 50
"""Changed files that are read for one answer. The others wait until they are indexed."""
ROUNDS = 3
"""How often a question is answered again because files changed since they were indexed."""
PATIENCE_SECONDS = 4.0
"""A question that waited longer is answered from the index as it is. While a tree is being indexed, the files that a
question is about are searched and read within this time."""
FIRST_FILES = 5
FIRST_SECONDS = 1.0
"""How many files are read at a time, and how much of PATIENCE_SECONDS is reserved for this."""
MOST_WAITING = 100
"""Files that were read for answers and are not indexed yet. With more, no further files are searched for a question:
each of these files slows down every question, and they are indexed first."""


class Answering:
    """Files that are read for an answer stay in the overlay until they are indexed. They are the next to be indexed."""

    def __init__(self, standing: Standing, overlay: Overlay, dense: Dense, scanner: Scanner) -> None:
        self._standing = standing
        self._overlay = overlay
        self._dense = dense
        self._scanner = scanner
        self._looked: set[Terms] = set()
        """The terms whose files were all read since the files were last listed."""

    def look_again(self) -> None:
        """Forget which terms were looked up: the set of files may have changed."""
        self._looked.clear()

    def answer(self, question: Question[Any], *, waited: float) -> Found[Any]:
        """`waited`: seconds that the question has waited. Raises ToolError if the question is not supported."""
        standing = self._standing
        handler = ANSWERS.get(type(question))
        if handler is None:
            raise ToolError("unsupported", f"the index does not answer {type(question).__name__}")
        self.refresh()
        left = PATIENCE_SECONDS - waited
        is_building = standing.status("").state is IndexState.BUILDING
        if is_building and left > FIRST_SECONDS and self._overlay.waiting < MOST_WAITING:
            self._read_first(question, left)
        found: Found[Any] = Found((), complete=False)
        for _ in range(ROUNDS):
            disk = standing.disk
            if disk is None:
                break
            dense = self._dense.attach(disk)
            view = View(disk.store, disk.text, self._overlay.files, standing.progress.totals, dense=dense)
            try:
                found = guarded(partial(handler, view, question))
            except (sqlite3.Error, OSError, Damaged) as error:
                standing.failed(error)
                continue
            changed = view.changed()
            if not changed:
                break
            if disk.writable and view.damaged:
                standing.safely(partial(disk.store.queue.mark_again, view.damaged))
            self.read_now(changed[:AT_ONCE_FILES])
        notes = (*found.notes, standing.problem) if standing.problem else found.notes
        return Found(found.items, standing.share(), found.complete, notes)

    def read_now(self, paths: Sequence[str]) -> None:
        """Answer from the current content of these files, and index them soon."""
        seen = {path: look_at(path) for path in paths}
        self._standing.safely(partial(self._mark, seen))
        self._overlay.show_files(paths)

    def refresh(self) -> None:
        """Remove files from memory whose current content is indexed."""
        changed = self._standing.safely(lambda: self._overlay.refresh(self._standing.disk, self._standing.writer))
        if changed:
            self.read_now(changed)

    def _mark(self, seen: dict[str, Seen | None]) -> None:
        """Mark files that differ from the index, so that they are indexed or removed soon."""
        writer = self._standing.writer
        if writer is not None:
            changed = [now for path, now in seen.items() if now and not _is_settled(writer.store.file(path), now)]
            writer.store.queue.mark(changed, priority=1)
            writer.store.queue.mark_gone(path for path, now in seen.items() if now is None)

    def _read_first(self, question: Question[Any], seconds: float) -> None:
        """While a tree is being indexed, first read the files that the question is probably about."""
        look_until = time.monotonic() + seconds - FIRST_SECONDS
        terms = None
        match question:
            case Search(query=query) | SymbolsLike(query=query) | DefinitionsOf(name=query) | ReferencesTo(name=query):
                terms = terms_of(query)
                if terms in self._looked:
                    return
                paths = self._scanner.first_files(terms.words, terms.identifiers, seconds - FIRST_SECONDS)
            case _:
                paths = [os.fspath(path)] if (path := getattr(question, "path", None)) is not None else []
        is_whole = time.monotonic() < look_until
        deadline = time.monotonic() + FIRST_SECONDS
        disk = self._standing.disk
        if disk is not None:
            indexed = self._standing.safely(lambda: {path for path in paths if _is_done(disk.store.file(path))})
            paths = [path for path in paths if path not in (indexed or ())]
        for start in range(0, len(paths), FIRST_FILES):
            if time.monotonic() >= deadline:
                return
            self.read_now(paths[start : start + FIRST_FILES])
        if terms is not None and is_whole and paths:
            self._looked.add(terms)


def _is_done(row: FileRow | None) -> bool:
    return row is not None and row.state in (State.CLEAN, State.SKIPPED)


def _is_settled(row: FileRow | None, now: Seen) -> bool:
    """Whether the file's current state is indexed or is being indexed."""
    is_begun = row is not None and row.state is State.DOING and (row.mtime, row.size) == (now.mtime, now.size)
    return is_begun or (row is not None and is_current(row, now))
