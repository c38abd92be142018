"""Answers a command before its work is done, for editors that tell of no change until they have the answer.

eglot waits for a command inside Emacs's own command, and sends didChange when Emacs is idle: so never, while the server
waits for the text to show what became of an edit. After 10 s it gives up with an error (jsonrpc.el).
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from tark_lsp.server.connection.lsp import Connection

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 1.0
SLOW = frozenset(
    {
        "tark.hunk.accept",
        "tark.hunk.reject",
        "tark.hunk.edit",
        "tark.hunk.regenerate",
        "tark.turn.undo",
        "tark.session.compact",
    }
)
"""The commands that may wait for a document's text, or for a model."""


class EarlyAnswers:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._working: set[asyncio.Task[Any]] = set()

    async def answer(self, command: str, work: Coroutine[Any, Any, Any]) -> Any:
        """What the work gives; null where the editor cannot wait for it any longer. Then it goes on by itself."""
        client = self._connection.client
        # Who draws hunks by our own protocol was written for long answers, whatever the editor is called.
        if command not in SLOW or not client.flags.blocks_on_commands or client.understands("review"):
            return await work
        task = asyncio.ensure_future(work)
        self._working.add(task)
        task.add_done_callback(self._working.discard)
        done, _ = await asyncio.wait({task}, timeout=PATIENCE_SECONDS)
        if done:
            return task.result()
        task.add_done_callback(_log)
        return None


def _log(task: "asyncio.Task[Any]") -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("after the command was answered: %s", error)
