"""What each turn changed, noted before it is, and how that is taken back without touching what the person wrote."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from tark_lsp.errors import WorkspaceError
from tark_lsp.workspace.checkpoints.file_histories import FileHistory, histories_of
from tark_lsp.workspace.checkpoints.imagined import Files, ImaginedFiles
from tark_lsp.workspace.checkpoints.store import CheckpointStore, LoggedTurn
from tark_lsp.workspace.checkpoints.undoing import Foreseen, Undoing, Undone
from tark_lsp.workspace.outcomes import Applied, Outcome

About: TypeAlias = Callable[[str], tuple[str, Sequence[Path]]]
"""A turn's title and the folders of its workspace, for its id."""


class Checkpoints:
    """Each change is noted by `changing`, `moving` or `removing` just before it is made, since the server may be killed
    in between; `settled` then says what became of it. Bytes of edits follow from their texts: edits keep the encoding.
    """

    def __init__(self, store: CheckpointStore, about: About = lambda _: ("", ())) -> None:
        self._store = store
        self._about = about
        self._undoing = asyncio.Lock()

    def changing(self, turn_id: str, path: Path, before: str | None, after: str) -> int:
        """An edit: the text it is of (None: there is no file), and what it will leave.

        So what the person typed between two edits is told from the agent's. Gives what `settled` takes.
        """
        self._begin(turn_id)
        return self._store.add(
            turn_id, "edit", path, before=None if before is None else _bytes(before), after=_bytes(after)
        )

    def moving(self, turn_id: str, source: Path, target: Path) -> int:
        """A move without a change of text."""
        self._begin(turn_id)
        return self._store.add(turn_id, "move", source, target=target)

    def removing(self, turn_id: str, path: Path, data: bytes, mode: int) -> int:
        """`data` is all of the file as the person had it, `mode` its permission bits."""
        self._begin(turn_id)
        return self._store.add(turn_id, "remove", path, before=data, mode=mode)

    def removed(self, turn_id: str, path: Path) -> tuple[bytes, int, int]:
        """What `removing` was given for a file that the turn removed, and the number it gave.

        Raises WorkspaceError where that is not kept any more.
        """
        for change in reversed(self._store.changes(turn_id)):
            if change.kind == "remove" and change.path == path and change.before is not None and not change.undone:
                return self._store.content(change.before), change.mode, change.number
        raise WorkspaceError("no copy of it is kept any more")

    def settled(self, change: int, outcome: Outcome) -> None:
        """What became of a change. Where this is never called, undo decides by what it finds."""
        if isinstance(outcome, Applied):
            self._store.sure(change)
        else:
            self._store.drop(change)

    def turns(self) -> list[LoggedTurn]:
        """All that changed something and are not forgotten, of whatever workspace; the newest first."""
        return self._store.turns()

    def touched(self, turn_id: str) -> tuple[Path, ...]:
        """Every path the turn changed something at, be it taken back by now; none for a turn that is not known."""
        changes = self._store.changes(turn_id)
        paths = (path for change in changes for path in (change.path, change.target) if path is not None)
        return tuple(dict.fromkeys(paths))

    def histories(self, turn_id: str) -> list[FileHistory]:
        """What the turn did to each file, in the order of their first changes."""
        return histories_of(self._store.changes(turn_id))

    async def undo(self, turn_id: str, files: Files) -> Undone:
        """Take back the turn's changes, and each only once. What is kept can be tried again by a second call."""
        async with self._undoing:
            undoing = Undoing(self._store.changes(turn_id), self._store.content, files, self._store.undone)
            undone = await undoing.undo()
            self._store.give_up(undoing.absent)
            return undone

    async def foresee(self, turn_id: str, files: Files) -> Foreseen:
        """What `undo` would do now: the same, done to imagined files, and noted nowhere."""
        imagined = ImaginedFiles(files)
        changes = self._store.changes(turn_id)
        undone = await Undoing(changes, self._store.content, imagined, lambda _: None).undo()
        return Foreseen(tuple(reversed(imagined.edits)), undone)  # the first change first, as people read

    def _begin(self, turn_id: str) -> None:
        self._store.begin(turn_id, *self._about(turn_id))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
