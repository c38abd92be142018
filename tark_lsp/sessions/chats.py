"""Which session goes on with which chat document, kept so that it does under the next server, too: a row for each.

A row holds as long as nothing was said in its session since: a turn that was cut off with its process, or one that was
begun elsewhere, is not in the document.
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

    def keep(self, path: Path, session_id: str, turn_id: str, digest: str) -> None:
        """The session that answered last in the document, by that turn; `digest` is of the conversation it knows."""

        def work(connection: "Connection") -> None:
            connection.execute(ADD, (os.fsencode(path), session_id, turn_id, digest))

        self._store.write(work)

    def find(self, path: Path, digest: str) -> str | None:
        """The id of the session that knows that conversation and no more; None where there is none."""
        rows = self._store.read(FIND, os.fsencode(path), digest)
        return str(rows[0][0]) if rows else None
