"""The problems that the last review found. Each stays until its lines change, the user dismisses it, or the next review
begins.

Problems are not stored: the next server starts without any.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from tark_lsp.errors import WorkspaceError
from tark_lsp.listeners import Listeners
from tark_lsp.tools.problem import Problem
from tark_lsp.workspace.documents import Change, DocumentEvent, Documents, Opened
from tark_lsp.workspace.lines import split_lines
from tark_lsp.workspace.snapshot import Snapshot


class Problems(Listeners[Path]):
    """Emits each file whose problems have changed."""

    def __init__(self, documents: Documents, read: Callable[[Path], Snapshot]) -> None:
        """`read` returns the text of a file, and raises WorkspaceError."""
        super().__init__()
        self._read = read
        self._found: dict[Path, list[Problem]] = {}
        self._numbers = count(1)
        documents.listen(self._on_document_event)

    def add(self, problem: Problem) -> None:
        known = self.find_problems(problem.path)
        stored = replace(problem, id=f"problem-{next(self._numbers)}")
        same = [one for one in known if (one.start, one.message) == (problem.start, problem.message)]
        self._set(problem.path, [*(one for one in known if one not in same), stored])

    def find_problems(self, path: Path | None = None) -> list[Problem]:
        """The problems of one file, or all."""
        if path is not None:
            return list(self._found.get(path, ()))
        return [problem for problems in self._found.values() for problem in problems]

    def dismiss(self, ids: Collection[str]) -> None:
        for path in tuple(self._found):
            self._set(path, [problem for problem in self._found[path] if problem.id not in ids])

    def clear(self) -> None:
        self.dismiss([problem.id for problem in self.find_problems()])

    def check(self, path: Path) -> None:
        """Look for the problems in the current text after it was changed without change events."""
        if path not in self._found:
            return
        try:
            lines = _without_endings(split_lines(self._read(path).text))
        except WorkspaceError:
            lines = []
        self._set(path, [moved for problem in self._found[path] if (moved := _found_again(problem, lines))])

    def _on_document_event(self, event: DocumentEvent) -> None:
        path = event.document.path
        if path is None or path not in self._found:
            return
        if isinstance(event, Opened):
            self.check(path)
        elif isinstance(event, Change):
            self._set(path, [moved for problem in self._found[path] if (moved := _follow(problem, event))])

    def _set(self, path: Path, problems: list[Problem]) -> None:
        if problems == self._found.get(path, []):
            return
        if problems:
            self._found[path] = problems
        else:
            del self._found[path]
        self.emit(path)


def _follow(problem: Problem, change: Change) -> Problem | None:
    """The problem after the change; None if its lines have changed."""
    grown = len(split_lines(f"{change.text}|")) - 1 - (change.end_line - change.start_line)
    if problem.end <= change.start_line:
        return problem
    if change.end_line < problem.start:
        return replace(problem, start=problem.start + grown) if grown else problem
    for start in (problem.start + grown, problem.start):
        here = change.document.lines[max(0, start) : max(0, start) + len(problem.lines)]
        if tuple(_without_endings(here)) == problem.lines:
            return replace(problem, start=max(0, start))
    return None


def _found_again(problem: Problem, lines: Sequence[str]) -> Problem | None:
    """The problem at its place, or at the only other place that has its lines."""
    size = len(problem.lines)
    if tuple(lines[problem.start : problem.end]) == problem.lines:
        return problem
    places = [at for at in range(len(lines) - size + 1) if tuple(lines[at : at + size]) == problem.lines]
    return replace(problem, start=places[0]) if len(places) == 1 else None


def _without_endings(lines: Sequence[str]) -> list[str]:
    return [line.rstrip("\r\n") for line in lines]
