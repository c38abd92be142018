"""What one turn did to each file, followed through its moves, out of the log of its changes; pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tark_lsp.workspace.checkpoints.store import LoggedChange


class Step(NamedTuple):
    """Edits with nothing of the person's between them. Digests of texts; `before` None: there was no file."""

    before: str | None
    after: str | None


@dataclass(slots=True, eq=False)
class FileHistory:
    """One file's changes in their order, taken back ones included; never empty."""

    changes: list[LoggedChange] = field(default_factory=list)

    @property
    def origin(self) -> Path:
        """Where it was before the turn."""
        return self.changes[0].path

    @property
    def place(self) -> Path:
        """Where the turn left it, less the moves that were taken back; where it was if it is removed."""
        targets = [change.target for change in self.changes if change.target is not None and not change.undone]
        return targets[-1] if targets else self.origin

    @property
    def created(self) -> bool:
        """Whether the turn made the file."""
        return self.changes[0].kind == "edit" and self.changes[0].before is None

    @property
    def undone(self) -> bool:
        return all(change.undone for change in self.changes)

    @property
    def removal(self) -> LoggedChange | None:
        last = self.changes[-1]
        return last if last.kind == "remove" and not last.undone else None

    @property
    def edits(self) -> list[LoggedChange]:
        """Those that were not taken back."""
        return [change for change in self.changes if change.kind == "edit" and not change.undone]


def steps_of(edits: Sequence[LoggedChange]) -> list[Step]:
    steps: list[Step] = []
    for edit in edits:
        if steps and steps[-1].after == edit.before:
            steps[-1] = Step(steps[-1].before, edit.after)
        else:
            steps.append(Step(edit.before, edit.after))
    return steps


def histories_of(changes: Sequence[LoggedChange]) -> list[FileHistory]:
    """In the order of the files' first changes."""
    histories: list[FileHistory] = []
    at: dict[Path, FileHistory] = {}
    for change in changes:
        history = at.get(change.path)
        new = change.kind == "edit" and change.before is None
        # Whatever stands at a path after all was taken back there need not be the file of before.
        if history is None or new or history.undone:
            history = at[change.path] = FileHistory()
            histories.append(history)
        history.changes.append(change)
        if change.kind == "move" and change.target is not None:
            at[change.target] = at.pop(change.path)
        elif change.kind == "remove":
            del at[change.path]
    return histories
