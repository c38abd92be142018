"""Answers a command before its work is done, for editors that send no change until they have the answer.

eglot waits for the answer inside a command of Emacs, and sends didChange only when Emacs is idle. So it never sends it
while the server waits for the text to show the result of an edit. After 10 s it gives up with an error (jsonrpc.el). If
the answer, or this error, comes while eglot asks the user about an edit, the question disappears: the edit is dropped,
and the user's "y" is typed into the file. So a command is answered before an edit or a question is sent.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from tark_lsp.server.connection.lsp import Connection

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 1.0
READ_SECONDS = 0.3
"""Time for the editor to read an answer. eglot leaves what it reads together with an answer until more data comes."""

_waiting: WeakKeyDictionary[Connection, set[asyncio.Future[None]]] = WeakKeyDictionary()
"""Commands that are not answered yet, and can be answered early."""


async def answer_commands(connection: Connection) -> None:
    """Call this before sending something about which the editor asks the user."""
    if not connection.client.flags.drops_questions:
        return
    waiting = [command for command in _waiting.get(connection, ()) if not command.done()]
    for command in waiting:
        command.set_result(None)
    if waiting:
        await asyncio.sleep(READ_SECONDS)


@dataclass(frozen=True, slots=True)
class EarlyAnswer:
    """For a command that may wait for a document's text or for a model, if the editor cannot wait for its answer.

    `value`: the early answer. `outcome`: converts the result to the message for the user at the end.
    """

    value: object = None
    outcome: Callable[[Any], str] | None = None


class EarlyAnswers:
    def __init__(self, connection: Connection, tell: Callable[[str], None]) -> None:
        """`tell` shows the user a message."""
        self._connection = connection
        self._tell = tell
        self._working: set[asyncio.Task[Any]] = set()

    async def answer(self, command: str, work: Coroutine[Any, Any, Any], early: EarlyAnswer | None) -> Any:
        """Return the result of `work`, or the early answer if the editor cannot wait any longer.

        In the latter case, the work continues, and the user gets a message about its outcome or its error.
        """
        client = self._connection.client
        # A client that draws hunks with Tark's protocol can wait for long answers, in any editor.
        if early is None or not client.flags.blocks_on_commands or client.understands("review"):
            return await work
        task = asyncio.ensure_future(work)
        self._working.add(task)
        task.add_done_callback(self._working.discard)
        answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting = _waiting.setdefault(self._connection, set())
        waiting.add(answered)
        try:
            await asyncio.wait({task, answered}, timeout=PATIENCE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.discard(answered)
        if task.done():
            return task.result()
        task.add_done_callback(partial(self._report, command, early))
        return early.value

    def _report(self, command: str, early: EarlyAnswer, task: "asyncio.Task[Any]") -> None:
        if task.cancelled():
            return
        if (error := task.exception()) is not None:
            log.error("%s failed after it was answered: %s", command, error)
            self._tell(f"Tark: {command} failed: {error}")
        elif early.outcome is not None:
            self._tell(early.outcome(task.result()))
