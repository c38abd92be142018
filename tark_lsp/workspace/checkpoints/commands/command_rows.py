"""Changes by commands, as rows of the checkpoints with the kind `file`. Their texts are `FileState`s.

The changes of one command have the same number in `mode`, which counts the commands of the turn.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tark_lsp.database import Database
from tark_lsp.workspace.checkpoints.schema import delete_oldest_turn
from tark_lsp.workspace.file_state import FileChange, FileState

if TYPE_CHECKING:
    from sqlite3 import Connection

LAST = "SELECT coalesce(max(mode), 0) FROM changes WHERE turn = ? AND kind = 'file'"
ADD = "INSERT INTO changes (turn, kind, path, before, after, mode, sure, undone) VALUES (?, 'file', ?, ?, ?, ?, 1, 0)"


class CommandRows:
    """For one thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, turn_id: str, changes: Sequence[FileChange]) -> list[int]:
        """Record the changes of one command in a turn that was begun. Returns their numbers."""
        rows = [(os.fsencode(change.path), _text(change.before), _text(change.after)) for change in changes]

        def work(connection: "Connection") -> list[int]:
            ((last,),) = connection.execute(LAST, (turn_id,))
            numbers = [connection.execute(ADD, (turn_id, *row, last + 1)).lastrowid for row in rows]
            return [number for number in numbers if number is not None]

        return self._database.write(work)

    def drop(self, numbers: Sequence[int]) -> None:
        """Delete changes that were not made."""
        rows = [(number,) for number in numbers]
        self._database.write(lambda connection: connection.executemany("DELETE FROM changes WHERE number = ?", rows))

    def last_number(self) -> int:
        """The number of the newest change of all turns."""
        ((number,),) = self._database.read("SELECT coalesce(max(number), 0) FROM changes")
        return int(number)

    def changed_after(self, number: int) -> set[Path]:
        """The paths of edits, moves and removals after this change, by any turn."""
        rows = self._database.read("SELECT path, target FROM changes WHERE number > ? AND kind != 'file'", number)
        return {Path(os.fsdecode(path)) for row in rows for path in row if path is not None}

    def paths(self, turn_id: str) -> list[Path]:
        """The paths that commands of the turn changed, even if that was undone."""
        sql = "SELECT DISTINCT path FROM changes WHERE kind = 'file' AND turn = ?"
        return [Path(os.fsdecode(path)) for (path,) in self._database.read(sql, turn_id)]

    def used_copies(self) -> set[str]:
        """The digests of the copies that changes need."""
        rows = self._database.read("SELECT before, after FROM changes WHERE kind = 'file'")
        states = [FileState.parse(text) for row in rows for text in row if text is not None]
        return {digest for state in states if (digest := state.digest) is not None}

    def forget_oldest(self) -> bool:
        """Delete the oldest turn, unless it is the only one."""
        return self._database.write(delete_oldest_turn)


def _text(state: FileState | None) -> str | None:
    return None if state is None else str(state)
