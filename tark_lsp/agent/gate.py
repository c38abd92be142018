"""The gate after an edit: which errors does the editor show now that it did not show before?

Language servers answer some time after an edit, and nobody says when they are done. So the editor is asked again and
again until what it shows has changed and stayed as it is, and never for longer than a few seconds (docs/checks.md).
What is not known is not said: no result of this ever means that there are no errors.
"""

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tark_lsp.agent.regions import carried, regions_after
from tark_lsp.errors import FileMissing, WorkspaceError
from tark_lsp.tools.tool import Diagnostic
from tark_lsp.workspace.edits import ProposedEdit, rebase
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.lines import line_changes
from tark_lsp.workspace.snapshot import Snapshot

ERROR = 1
"""LSP's severity of an error."""
LOOK_SECONDS = 1.0
"""An editor that does not answer by then is not asked."""


@dataclass(frozen=True, slots=True)
class Glimpse:
    """Of one file only the lines [start, end) were told of, at some moment: a greater number is a later one."""

    moment: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sight:
    """What the editor shows. `versions`: of its open documents. `glimpses`: all that is known, None: it is complete."""

    diagnostics: tuple[Diagnostic, ...]
    versions: Mapping[Path, int | None] = field(default_factory=dict)
    glimpses: Mapping[Path, Glimpse] | None = None


class Watch(Protocol):
    async def look(self) -> Sight | None:
        """None: this editor says nothing about diagnostics."""
        ...


@dataclass(frozen=True, slots=True)
class Before:
    """The moment before an edit: what was shown, and the texts of the files it is to change, by their path."""

    sight: Sight
    texts: Mapping[Path, Snapshot]


@dataclass(frozen=True, slots=True)
class Changed:
    """One edited file: its text before, as the edit alone would have left it, and now."""

    then: Snapshot
    made: str
    now: Snapshot


@dataclass(frozen=True, slots=True)
class Found:
    """`new`: the errors that came with the edit; `shown`: all that are there."""

    new: tuple[Diagnostic, ...]
    shown: tuple[Diagnostic, ...]


@dataclass(slots=True)
class Gate:
    """Of one turn. `longest`: until what is shown has come to rest; `unchanged`: where nothing happens at all."""

    watch: Watch
    workspace: Workspace
    longest: float = 3.0
    unchanged: float = 1.5
    every: float = 0.25

    async def before(self, edits: Iterable[ProposedEdit]) -> Before | None:
        """None: nothing can be known, so nothing is waited for afterwards."""
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                sight = await self.watch.look()
        except TimeoutError:
            return None
        if sight is None:
            return None
        return Before(sight, {edit.path: self._read(edit.path) for edit in edits})

    async def after(self, before: Before, applied: Iterable[ProposedEdit]) -> Found | None:
        """Wait for what the editor makes of the edits. None: that is not known."""
        sight = await self._rest(before.sight)
        if sight is None:
            return None
        changed = []
        for edit in applied:
            if not edit.removes:
                then = before.texts[edit.path]
                made, _ = rebase(edit, then)
                changed.append(Changed(then, made.after, self._read(made.drafted.path)))
        return Found(tuple(new_errors(before.sight, sight, changed)), errors_of(sight))

    async def _rest(self, first: Sight) -> Sight | None:
        """What is shown once that is another than `first`, and the same twice; the last look where time is up."""
        clock = asyncio.get_running_loop().time
        began, last = clock(), first
        try:
            async with asyncio.timeout(self.longest):
                while True:
                    await asyncio.sleep(self.every)
                    sight = await self.watch.look()
                    if sight is None:
                        return None
                    changed = sight.diagnostics != first.diagnostics or sight.glimpses != first.glimpses
                    if changed and sight.diagnostics == last.diagnostics:
                        return sight
                    last = sight
                    if not changed and clock() - began >= self.unchanged:
                        return sight
        except TimeoutError:
            return last

    def _read(self, path: Path) -> Snapshot:
        try:
            return self.workspace.read(path)
        except FileMissing:
            return Snapshot(path, "", exists=False)
        except WorkspaceError:  # not text by now, say: then none of its lines are known, and none are the edit's
            return Snapshot(path, "")


def errors_of(sight: Sight) -> tuple[Diagnostic, ...]:
    return tuple(each for each in sight.diagnostics if each.severity == ERROR)


def identity(error: Diagnostic) -> tuple[Path, str, str, str]:
    """The same for the same error elsewhere in the file, whose message may name other lines."""
    return error.path, error.source, error.code, re.sub(r"\d+", "#", error.message)


def new_errors(before: Sight, after: Sight, changed: Sequence[Changed]) -> list[Diagnostic]:
    """The errors of `after` that are not those of `before` where their lines have gone.

    Left out is what the person may be at: lines that are not as the edit left them, and other files that changed.
    """
    by_then = {each.then.path: each for each in changed}
    by_now = {each.now.path: each for each in changed}
    old = defaultdict(list)
    for error in errors_of(before):
        each = by_then.get(error.path)
        place, path = (error.line, error.line + 1), error.path
        if each is not None:
            place, path = _carried(place, each), each.now.path
        old[path, identity(error)[1:]].append(place)
    new = []
    for error in errors_of(after):
        places = old[error.path, identity(error)[1:]]
        same = next((place for place in places if place[0] <= error.line < max(place[1], place[0] + 1)), None)
        if same is not None:
            places.remove(same)
        elif _comparable(error, before, after, by_now.get(error.path)):
            new.append(error)
    return new


def _comparable(error: Diagnostic, before: Sight, after: Sight, each: Changed | None) -> bool:
    if each is None:
        if before.versions.get(error.path) != after.versions.get(error.path):
            return False
    else:
        typed = regions_after(line_changes(each.made, each.now.text))
        if any(start <= error.line < end for start, end in typed):
            return False
    if before.glimpses is None or after.glimpses is None:
        return before.glimpses is after.glimpses
    one = before.glimpses.get(error.path if each is None else each.then.path)
    other = after.glimpses.get(error.path)
    if one is None or other is None or other.moment <= one.moment:
        return False
    known = (one.start, one.end) if each is None else _carried((one.start, one.end), each)
    return known[0] <= error.line < known[1]


def _carried(lines: tuple[int, int], each: Changed) -> tuple[int, int]:
    return carried(lines, line_changes(each.then.text, each.now.text))
