"""What one turn did to each file, also through moves. Derived from the log of changes; pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tark_lsp.workspace.checkpoints.store import LoggedChange


@dataclass(slots=True, eq=False)
class FileHistory:
    """The changes of one file in order, including those that were undone. There is at least one."""

    changes: list[LoggedChange] = field(default_factory=list)

    @property
    def origin(self) -> Path:
        """Its path before the turn."""
        return self.changes[0].path

    @property
    def place(self) -> Path:
        """Its path after the turn, without the moves that were undone; its last path if it was removed."""
        targets = [change.target for change in self.changes if change.target is not None and not change.undone]
        return targets[-1] if targets else self.origin

    @property
    def created(self) -> bool:
        """Whether the turn created the file."""
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
        """The edits that were not undone."""
        return [change for change in self.changes if change.kind == "edit" and not change.undone]

    def is_only_agents(self, digest: str | None) -> bool:
        """Whether a created file has only text of the agent: nothing was typed between its edits or after the last."""
        texts: set[str | None] = {None}
        for edit in self.edits:
            if edit.before not in texts:
                return False
            # A killed server may have recorded an edit that it did not make.
            texts = {edit.after} if edit.confirmed else {edit.before, edit.after}
        return digest in texts


def histories_of(changes: Sequence[LoggedChange]) -> list[FileHistory]:
    """The histories in the order in which the files were first changed, without changes by commands."""
    histories: list[FileHistory] = []
    by_path: dict[Path, FileHistory] = {}
    for change in (change for change in changes if change.kind != "file"):
        history = by_path.get(change.path)
        new = change.kind == "edit" and change.before is None
        # After everything at a path was undone, a different file can be there.
        if history is None or new or history.undone:
            history = by_path[change.path] = FileHistory()
            histories.append(history)
        history.changes.append(change)
        if change.kind == "move" and change.target is not None:
            by_path[change.target] = by_path.pop(change.path)
        elif change.kind == "remove":
            del by_path[change.path]
    return histories
