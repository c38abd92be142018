"""The check after an edit: finds errors that the editor shows now and did not show before.

Language servers report some time after an edit, and do not say when they are done. So the editor is asked repeatedly
until its diagnostics have changed and then stayed the same, but only for a few seconds (docs/checks.md).
The check never claims that there are no errors.
"""

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tark_lsp.agent.regions import carry_region, regions_after
from tark_lsp.errors import FileMissing, WorkspaceError
from tark_lsp.tools.editor import Diagnostic
from tark_lsp.workspace.edits import ProposedEdit, rebase
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.lines import Hunk, line_changes
from tark_lsp.workspace.placing.thread import in_thread
from tark_lsp.workspace.snapshot import Snapshot

ERROR = 1
"""LSP's severity of an error."""
READ_SECONDS = 1.0
"""If the editor does not answer within this time, there is no check."""


@dataclass(frozen=True, slots=True)
class ReportedLines:
    """The lines [start, end) of a file whose diagnostics are known. A later report has a greater `moment`."""

    moment: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ShownDiagnostics:
    """The diagnostics that the editor shows, and the `versions` of its open documents.

    `reported`: the only lines whose diagnostics are known, by file. None: all diagnostics are known.
    """

    diagnostics: tuple[Diagnostic, ...]
    versions: Mapping[Path, int | None] = field(default_factory=dict)
    reported: Mapping[Path, ReportedLines] | None = None


class DiagnosticsSource(Protocol):
    async def read_shown(self) -> ShownDiagnostics | None:
        """None if this editor reports no diagnostics."""
        ...


@dataclass(frozen=True, slots=True)
class BeforeEdit:
    """The state before an edit: the diagnostics, and the texts of the files that the edit changes, by path."""

    shown: ShownDiagnostics
    texts: Mapping[Path, Snapshot]


@dataclass(frozen=True, slots=True)
class EditedFile:
    """One edited file: `then` is its text before the edit, `made` the text that the edit left, and `now` includes what
    the user typed since."""

    then: Snapshot
    made: str
    now: Snapshot
    _changes: dict[str, list[Hunk]] = field(default_factory=dict, init=False, repr=False, compare=False)
    """The changes from an earlier text to `now`. Cached, because many errors need them."""

    def changes_from(self, text: str) -> list[Hunk]:
        if text not in self._changes:
            self._changes[text] = line_changes(text, self.now.text)
        return self._changes[text]


@dataclass(frozen=True, slots=True)
class FoundErrors:
    """`new`: the errors that appeared with the edit. `shown`: all errors."""

    new: tuple[Diagnostic, ...]
    shown: tuple[Diagnostic, ...]


@dataclass(slots=True)
class EditCheck:
    """The check of one turn.

    Times in seconds: `longest` to wait for stable diagnostics, `unchanged` to wait if nothing changes at all, `every`
    between two requests to the editor.
    """

    watch: DiagnosticsSource
    workspace: Workspace
    longest: float = 3.0
    unchanged: float = 1.5
    every: float = 0.25

    async def look_before(self, edits: Iterable[ProposedEdit]) -> BeforeEdit | None:
        """The state to compare with later. None if the editor reports no diagnostics; then there is no check."""
        try:
            async with asyncio.timeout(READ_SECONDS):
                shown = await self.watch.read_shown()
        except TimeoutError:
            return None
        if shown is None:
            return None
        return BeforeEdit(shown, {edit.path: self._read(edit.path) for edit in edits})

    async def find_new_errors(self, before: BeforeEdit, applied: Iterable[ProposedEdit]) -> FoundErrors | None:
        """Wait for the diagnostics after the edits and return the new errors. None if the editor reports nothing."""
        shown = await self._wait_until_stable(before.shown)
        if shown is None:
            return None
        edits = [(edit, self._read(edit.place)) for edit in applied if not edit.removes]

        def compare() -> list[Diagnostic]:
            return new_errors(before.shown, shown, [edited_file(edit, before, now) for edit, now in edits])

        return FoundErrors(tuple(await in_thread(compare)), errors_of(shown))

    async def _wait_until_stable(self, first: ShownDiagnostics) -> ShownDiagnostics | None:
        """The first diagnostics that differ from `first` and are read twice in a row, or the last ones at the end."""
        clock = asyncio.get_running_loop().time
        began, last = clock(), first
        try:
            async with asyncio.timeout(self.longest):
                while True:
                    await asyncio.sleep(self.every)
                    shown = await self.watch.read_shown()
                    if shown is None:
                        return None
                    changed = shown.diagnostics != first.diagnostics or shown.reported != first.reported
                    if changed and shown.diagnostics == last.diagnostics:
                        return shown
                    last = shown
                    if not changed and clock() - began >= self.unchanged:
                        return shown
        except TimeoutError:
            return last

    def _read(self, path: Path) -> Snapshot:
        try:
            return self.workspace.read(path)
        except FileMissing:
            return Snapshot(path, "", exists=False)
        except WorkspaceError:  # for example, it is not text any more: then no line counts as edited
            return Snapshot(path, "")


def edited_file(edit: ProposedEdit, before: BeforeEdit, now: Snapshot) -> EditedFile:
    then = before.texts[edit.path]
    made, _ = rebase(edit, then)
    return EditedFile(then, made.after, now)


def errors_of(shown: ShownDiagnostics) -> tuple[Diagnostic, ...]:
    return tuple(diagnostic for diagnostic in shown.diagnostics if diagnostic.severity == ERROR)


def error_identity(error: Diagnostic) -> tuple[Path, str, str, str]:
    """A key that stays the same if the error moves to another line, even if its message names lines."""
    return error.path, error.source, error.code, re.sub(r"\d+", "#", error.message)


def new_errors(before: ShownDiagnostics, after: ShownDiagnostics, changed: Sequence[EditedFile]) -> list[Diagnostic]:
    """The errors of `after` that have no corresponding error in `before`, also considering moved lines.

    Errors that the user may have caused are left out: errors on lines that the user changed after the edit, and errors
    in other files that changed.
    """
    by_then = {file.then.path: file for file in changed}
    by_now = {file.now.path: file for file in changed}
    old = defaultdict(list)
    for error in errors_of(before):
        file = by_then.get(error.path)
        place, path = (error.line, error.line + 1), error.path
        if file is not None:
            place, path = _carried(place, file), file.now.path
        old[path, error_identity(error)[1:]].append(place)
    new = []
    for error in errors_of(after):
        places = old[error.path, error_identity(error)[1:]]
        same = next((place for place in places if place[0] <= error.line < max(place[1], place[0] + 1)), None)
        if same is not None:
            places.remove(same)
        elif _comparable(error, before, after, by_now.get(error.path)):
            new.append(error)
    return new


def _comparable(error: Diagnostic, before: ShownDiagnostics, after: ShownDiagnostics, file: EditedFile | None) -> bool:
    if file is None:
        if before.versions.get(error.path) != after.versions.get(error.path):
            return False
    else:
        typed = regions_after(file.changes_from(file.made))
        if any(start <= error.line < end for start, end in typed):
            return False
    if before.reported is None or after.reported is None:
        return before.reported is after.reported
    one = before.reported.get(error.path if file is None else file.then.path)
    other = after.reported.get(error.path)
    if one is None or other is None or other.moment <= one.moment:
        return False
    known = (one.start, one.end) if file is None else _carried((one.start, one.end), file)
    return known[0] <= error.line < known[1]


def _carried(lines: tuple[int, int], file: EditedFile) -> tuple[int, int]:
    return carry_region(lines, file.changes_from(file.then.text))
