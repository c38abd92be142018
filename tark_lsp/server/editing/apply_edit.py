"""Sends `workspace/applyEdit` and reads the answer. The text or the disk must still confirm it."""

import asyncio
from typing import Any

from tark_lsp.server.connection.early_answers import answer_commands
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.protocol.capabilities import find_value

PROOF_SECONDS = 3.0
"""How long a change can take to arrive after the answer: eglot sends it after 0.5 s of idleness."""
IN_FLIGHT_SECONDS = 0.2
"""How long a change by the editor can be on its way to the server, in addition to the editor's own delay."""


async def apply_edit(
    connection: Connection, label: str, edit: dict[str, Any], *, within: float | None
) -> tuple[bool, str]:
    """Return whether the editor says that it made the edit, and if not, its reason, which can be empty.

    `within`: seconds; None if the user answers. Raises RequestFailed and TimeoutError.
    """
    await answer_commands(connection)
    async with asyncio.timeout(within):
        answer = await connection.request("workspace/applyEdit", {"label": label, "edit": edit})
    reason = find_value(answer, "failureReason")
    return find_value(answer, "applied") is True, reason if isinstance(reason, str) else ""
