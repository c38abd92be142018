"""`workspace/applyEdit` sent, and its answer read: what the editor says, which the text or the disk is yet to prove."""

import asyncio
from typing import Any

from tark_lsp.server.capabilities import find
from tark_lsp.server.connection.lsp import Connection

ANSWER_SECONDS = 30.0
PROOF_SECONDS = 3.0
"""How long after the answer what was done may take to show: eglot sends a change after 0.5 s of idleness."""
IN_FLIGHT_SECONDS = 0.2
"""How long what the editor has done may be on its way to us, beside the editor's own delay."""


async def apply_edit(
    connection: Connection, label: str, edit: dict[str, Any], *, within: float | None
) -> tuple[bool, str]:
    """Does the editor say that it made the edit, and its words where it does not: there may be none.

    `within`: seconds; None where it is the person who answers. Raises RequestFailed, and TimeoutError.
    """
    async with asyncio.timeout(within):
        answer = await connection.request("workspace/applyEdit", {"label": label, "edit": edit})
    reason = find(answer, "failureReason")
    return find(answer, "applied") is True, reason if isinstance(reason, str) else ""
