"""Stores for the next server which session belongs to which chat document: one row per document.

A row is valid as long as its session has no later message. A turn that was interrupted with its process, or was started
elsewhere, is not in the document.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tark_lsp.sessions.store import SessionStore

if TYPE_CHECKING:
    from sqlite3 import Connection

ADD = "INSERT OR REPLACE INTO chats (path, session, turn, digest) VALUES (?, ?, ?, ?)"
FIND = """SELECT session FROM chats WHERE path = ? AND digest = ? AND turn =
(SELECT turn FROM messages WHERE messages.session = chats.session ORDER BY number DESC LIMIT 1)"""


class ChatRows:
    def __init__(self, store: SessionStore) -> None:
        self._store = store

    def keep_chat(self, path: Path, session_id: str, turn_id: str, digest: str) -> None:
        """Store which session, in which turn, answered last in the document. `digest`: of their conversation."""

        def work(connection: "Connection") -> None:
            connection.execute(ADD, (os.fsencode(path), session_id, turn_id, digest))

        self._store.file.write(work)

    def find_session(self, path: Path, digest: str) -> str | None:
        """The id of the session that has exactly this conversation; None if there is none."""
        rows = self._store.file.read(FIND, os.fsencode(path), digest)
        return str(rows[0][0]) if rows else None
