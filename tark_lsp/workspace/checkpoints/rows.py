"""The rows of the checkpoints: their tables, and how they stay few."""

from typing import TYPE_CHECKING

from tark_lsp.database import Layout

if TYPE_CHECKING:
    from sqlite3 import Connection

KEPT_TURNS = 200
"""As many as can be waited for (protocol.md, "The turn's end"); older ones are forgotten."""
KEPT_BYTES = 256 * 1024**2
"""Of texts and files; the oldest turns go first, never the one that is being written."""
TABLES = (
    """CREATE TABLE contents (digest TEXT PRIMARY KEY, size INTEGER NOT NULL, base TEXT, depth INTEGER NOT NULL,
    data BLOB NOT NULL)""",
    """CREATE TABLE turns (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, time REAL NOT NULL,
    title TEXT NOT NULL, folders BLOB NOT NULL)""",
    """CREATE TABLE changes (number INTEGER PRIMARY KEY AUTOINCREMENT, turn TEXT NOT NULL, kind TEXT NOT NULL,
    path BLOB NOT NULL, target BLOB, before TEXT, after TEXT, mode INTEGER NOT NULL, sure INTEGER NOT NULL,
    undone INTEGER NOT NULL)""",
    "CREATE INDEX changes_of_turn ON changes (turn)",
)
"""Paths are blobs, since they need not be text; `before`, `after` and `base` are digests in `contents`. Where there is
a `base`, `data` is the difference from it, and `depth` how many there are below it."""
LAYOUT = Layout(1, TABLES)
UNUSED_CHANGES = "DELETE FROM changes WHERE turn NOT IN (SELECT id FROM turns)"
NEEDED_CONTENTS = """
WITH RECURSIVE needed(digest) AS (
    SELECT before FROM changes WHERE before IS NOT NULL AND {changes}
    UNION SELECT after FROM changes WHERE after IS NOT NULL AND {changes}
    UNION SELECT base FROM contents JOIN needed USING (digest) WHERE base IS NOT NULL)
"""
UNUSED_CONTENTS = NEEDED_CONTENTS.format(changes=1) + "DELETE FROM contents WHERE digest NOT IN needed"
OF_TURN = {
    "turns": "SELECT * FROM turns WHERE id = :turn",
    "changes": "SELECT * FROM changes WHERE turn = :turn",
    "contents": NEEDED_CONTENTS.format(changes="turn = :turn") + "SELECT * FROM contents WHERE digest IN needed",
}
"""What was noted of one turn, by table."""


def forget_old(connection: "Connection", current: str) -> None:
    """Keep the last turns, as many as the bounds allow; within a transaction."""
    newest = f"SELECT number FROM turns ORDER BY number DESC LIMIT {KEPT_TURNS}"
    connection.execute(f"DELETE FROM turns WHERE id != ? AND number NOT IN ({newest})", (current,))
    _delete_unused(connection)
    oldest = "SELECT min(number) FROM turns WHERE id != ?"
    while size_of(connection) > KEPT_BYTES:
        if not connection.execute(f"DELETE FROM turns WHERE number = ({oldest})", (current,)).rowcount:
            break
        _delete_unused(connection)


def size_of(connection: "Connection") -> int:
    """Bytes of all contents."""
    ((size,),) = connection.execute("SELECT coalesce(sum(size), 0) FROM contents")
    return int(size)


def _delete_unused(connection: "Connection") -> None:
    connection.execute(UNUSED_CHANGES)
    connection.execute(UNUSED_CONTENTS)
