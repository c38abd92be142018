"""The definitions of the tools that a session defers, so that it continues with the same list of tools."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tark_lsp.messages import ToolDefinition
from tark_lsp.sessions.session_file import SessionFile

if TYPE_CHECKING:
    from sqlite3 import Connection

ADD = "INSERT OR REPLACE INTO deferred_tools (session, tools) VALUES (?, ?)"
FIND = "SELECT tools FROM deferred_tools WHERE session = ?"


def keep_deferred(file: SessionFile, session_id: str, tools: Sequence[ToolDefinition]) -> None:
    text = json.dumps([[tool.name, tool.description, dict(tool.parameters)] for tool in tools], separators=(",", ":"))

    def work(connection: "Connection") -> None:
        connection.execute(ADD, (session_id, text))

    file.write(work)


def deferred_of(file: SessionFile, session_id: str) -> tuple[ToolDefinition, ...]:
    """Empty if the session defers none."""
    rows = file.read(FIND, session_id)
    stored = json.loads(rows[0][0]) if rows else []
    return tuple(ToolDefinition(name, described, schema, "deferred") for name, described, schema in stored)
