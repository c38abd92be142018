"""The tables of the session file, and which of their rows belong to one session.

Two logs only grow: `messages` is what the model is sent, `updates` what the user was shown. Three columns of `sessions`
say which messages are still sent. Paths are blobs, because they may not be valid text.
"""

import re
from collections.abc import Mapping

from tark_lsp.database import Layout

TABLES = (
    """CREATE TABLE sessions (id TEXT PRIMARY KEY, title TEXT NOT NULL, created REAL NOT NULL, updated REAL NOT NULL,
    folders BLOB NOT NULL, model TEXT, mode TEXT NOT NULL, approval TEXT NOT NULL, thinking TEXT NOT NULL, parent TEXT,
    summary TEXT, told_from INTEGER NOT NULL DEFAULT 1, shortened_before INTEGER NOT NULL DEFAULT 1)""",
    """CREATE TABLE turns (id TEXT NOT NULL UNIQUE, session TEXT NOT NULL,
    prompt TEXT NOT NULL, kind TEXT NOT NULL, model TEXT, began REAL NOT NULL, ended REAL, ending TEXT,
    request TEXT NOT NULL)""",
    "CREATE INDEX turns_of_session ON turns (session, ended)",
    """CREATE TABLE messages (session TEXT NOT NULL, number INTEGER NOT NULL, turn TEXT NOT NULL, time REAL NOT NULL,
    message TEXT NOT NULL, call_ids TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (session, number))""",
    """CREATE TABLE updates (turn TEXT NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, said TEXT NOT NULL,
    PRIMARY KEY (turn, seq))""",
    """CREATE TABLE leases (session TEXT PRIMARY KEY, owner TEXT NOT NULL, pid INTEGER NOT NULL, host TEXT NOT NULL,
    machine TEXT NOT NULL, started TEXT NOT NULL, beat REAL NOT NULL)""",
    """CREATE TABLE usage (session TEXT NOT NULL, turn TEXT NOT NULL, model TEXT NOT NULL,
    purpose TEXT NOT NULL, time REAL NOT NULL, seconds REAL NOT NULL, stop TEXT NOT NULL, input_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL, cache_write_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL, cost_usd REAL, workspace TEXT NOT NULL)""",
    "CREATE INDEX usage_of_session ON usage (session)",
    "CREATE INDEX usage_by_time ON usage (time)",
    """CREATE TABLE tool_calls (session TEXT NOT NULL, turn TEXT NOT NULL, tool TEXT NOT NULL,
    time REAL NOT NULL, seconds REAL, waited REAL NOT NULL, status TEXT NOT NULL, code TEXT NOT NULL,
    retry INTEGER NOT NULL)""",
    "CREATE INDEX tool_calls_of_session ON tool_calls (session)",
    "CREATE INDEX tool_calls_by_time ON tool_calls (time)",
    """CREATE TABLE results (session TEXT NOT NULL, id TEXT NOT NULL, size INTEGER NOT NULL, text BLOB NOT NULL,
    UNIQUE (session, id))""",
    """CREATE TABLE kept_hunks (number INTEGER PRIMARY KEY, lease TEXT NOT NULL, path BLOB NOT NULL,
    digest TEXT NOT NULL, text BLOB, hunks TEXT NOT NULL)""",
    "CREATE INDEX kept_hunks_of_lease ON kept_hunks (lease, path)",
    "CREATE TABLE chats (path BLOB PRIMARY KEY, session TEXT NOT NULL, turn TEXT NOT NULL, digest TEXT NOT NULL)",
    "CREATE INDEX chats_of_session ON chats (session)",
    "CREATE TABLE deferred_tools (session TEXT PRIMARY KEY, tools TEXT NOT NULL)",
    "CREATE TABLE agents (session TEXT PRIMARY KEY, name TEXT NOT NULL)",
)


def _if_missing(statement: str) -> str:
    return re.sub("^CREATE (TABLE|INDEX)", r"\g<0> IF NOT EXISTS", statement)


LAYOUT = Layout(4, tuple(map(_if_missing, TABLES)))
"""An older file gets the missing tables: version 1 has no `tool_calls`, version 2 no `deferred_tools`, version 3 no
`agents`.

`summary` replaces the messages before `told_from`; tool results before `shortened_before` are sent shortened."""

TURNS_OF = "SELECT id FROM turns WHERE session = :session"
TEXT_OF: Mapping[str, str] = {
    "updates": f"turn IN ({TURNS_OF})",
    "messages": "session = :session",
    "results": "session = :session",
    "chats": "session = :session",
    "deferred_tools": "session = :session",
    "agents": "session = :session",
    "turns": "session = :session",
    "leases": "session = :session",
    "sessions": "id = :session",
}
"""The rows that are deleted with a session, by table, in this order."""
COPIED: Mapping[str, str] = {**TEXT_OF, "kept_hunks": "lease = :session"}
"""The rows of a session, or of another lease, that are copied when the database changes its file, without `FIGURES`."""
FIGURES = ("usage", "tool_calls")
"""Tables whose rows have no text, and stay when their session is deleted."""
COLUMNS = {"kept_hunks": "NULL, lease, path, digest, text, hunks"}
"""The columns to copy, if not all, because a row gets a new number in another file."""
