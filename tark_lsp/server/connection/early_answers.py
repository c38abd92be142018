"""Answers a command before its work is done, for editors that send no change until they have the answer.

eglot waits for the answer inside a command of Emacs, and sends didChange only when Emacs is idle: never while the
server waits for the text to show the result of an edit. After 10 s it gives up with an error (jsonrpc.el).
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from tark_lsp.server.connection.lsp import Connection

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 1.0


class EarlyAnswers:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._working: set[asyncio.Task[Any]] = set()

    async def answer(self, work: Coroutine[Any, Any, Any], *, slow: bool) -> Any:
        """The result of `work`; None if the editor cannot wait for it any longer. Then the work goes on by itself.

        `slow`: it can wait for a document's text or for a model.
        """
        client = self._connection.client
        # A client that draws hunks by our own protocol can wait for long answers, whatever the editor is.
        if not slow or not client.flags.blocks_on_commands or client.understands("review"):
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
        log.error("failed after the command was answered: %s", error)
