"""The tables of the checkpoints, and which rows are deleted when there are too many."""

from typing import TYPE_CHECKING

from tark_lsp.database import Layout

if TYPE_CHECKING:
    from sqlite3 import Connection

KEPT_TURNS = 200
"""As many turns as clients can wait for (protocol.md, "The turn's end"). Older turns are deleted."""
KEPT_BYTES = 256 * 1024**2
"""Limit for texts and files. The oldest turns are deleted first, but never the current turn."""
UNDO_LOG = "undo of "
"""Prefix of the id of a turn's second log, which has what its undo changed. It is a row of `turns`, too."""
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
"""Paths are blobs, because they may not be valid text. `before`, `after` and `base` are digests in `contents`. If
there is a `base`, `data` is the delta to it, and `depth` the number of deltas below."""
LAYOUT = Layout(1, TABLES)
ORPHANS = f"""DELETE FROM turns WHERE id != ? AND id LIKE '{UNDO_LOG}%'
    AND substr(id, {len(UNDO_LOG) + 1}) NOT IN (SELECT id FROM turns)"""
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
"""The rows of one turn, by table."""


def delete_old_turns(connection: "Connection", current: str) -> None:
    """Delete the oldest turns until the limits are met. Call this within a transaction."""
    turns = f"id NOT LIKE '{UNDO_LOG}%'"
    newest = f"SELECT number FROM turns WHERE {turns} ORDER BY number DESC LIMIT {KEPT_TURNS}"
    connection.execute(f"DELETE FROM turns WHERE id != ? AND {turns} AND number NOT IN ({newest})", (current,))
    _delete_unused(connection, current)
    oldest = "SELECT min(number) FROM turns WHERE id != ?"
    while size_of(connection) > KEPT_BYTES:
        if not connection.execute(f"DELETE FROM turns WHERE number = ({oldest})", (current,)).rowcount:
            break
        _delete_unused(connection, current)


def delete_oldest_turn(connection: "Connection") -> bool:
    """Delete the oldest turn and its undo, unless it is the only turn. Call this within a transaction."""
    turns = f"SELECT number FROM turns WHERE id NOT LIKE '{UNDO_LOG}%' ORDER BY number"
    found = connection.execute(f"{turns} LIMIT 2").fetchall()
    if len(found) < 2:  # the oldest, and another one
        return False
    connection.execute("DELETE FROM turns WHERE number = ?", found[0])
    _delete_unused(connection, "")
    return True


def size_of(connection: "Connection") -> int:
    """The bytes of all contents."""
    ((size,),) = connection.execute("SELECT coalesce(sum(size), 0) FROM contents")
    return int(size)


def undo_log_of(turn_id: str) -> str:
    return f"{UNDO_LOG}{turn_id}"


def _delete_unused(connection: "Connection", current: str) -> None:
    connection.execute(ORPHANS, (current,))
    connection.execute(UNUSED_CHANGES)
    connection.execute(UNUSED_CONTENTS)
