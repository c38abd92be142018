"""The client's running requests. Each is a task, so that cancelling it ends its work."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol

from tark_lsp.errors import RequestError, TarkError
from tark_lsp.server.connection.messages import INTERNAL_ERROR, INVALID_REQUEST, REQUEST_CANCELLED, MessageId, is_id

logger = logging.getLogger(__name__)


class SendResponse(Protocol):
    def __call__(self, request_id: MessageId, /, result: object = None, error: RequestError | None = None) -> None: ...


class RunningRequests:
    def __init__(self, send_response: SendResponse) -> None:
        self._send_response = send_response
        self._tasks: dict[MessageId, asyncio.Task[None]] = {}

    def start(self, request_id: MessageId, method: str, work: Callable[[], Awaitable[object]]) -> None:
        """Raises RequestError if a request with this id is running."""
        if request_id in self._tasks:
            raise RequestError(f"the id {request_id!r} is in use", rpc_code=INVALID_REQUEST)
        task = asyncio.ensure_future(self._run(request_id, work))
        self._tasks[request_id] = task
        task.add_done_callback(partial(self._finish, request_id, method))

    def cancel(self, request_id: object) -> None:
        """Cancel the work of a request. Nothing happens if it is not running."""
        task = self._tasks.get(request_id) if is_id(request_id) else None
        if task is not None:
            task.cancel()

    async def cancel_all(self, *, except_task: asyncio.Task[None] | None, seconds: float) -> None:
        """Cancel the running requests and wait until they are answered, at most `seconds`."""
        tasks = [task for task in self._tasks.values() if task is not except_task]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)

    async def wait_for_answers(self, seconds: float) -> None:
        """Wait until the running requests are answered, at most `seconds`."""
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=seconds)

    async def _run(self, request_id: MessageId, work: Callable[[], Awaitable[object]]) -> None:
        # Answered here, not when the task is done: work that the handler started must not report before the answer.
        self._send_response(request_id, await work())

    def _finish(self, request_id: MessageId, method: str, task: asyncio.Task[None]) -> None:
        del self._tasks[request_id]
        if task.cancelled():
            error = RequestError("cancelled", rpc_code=REQUEST_CANCELLED)
        elif (exception := task.exception()) is None:
            return
        else:
            error = _answered_error(method, exception)
        self._send_response(request_id, error=error)


def _answered_error(method: str, exception: BaseException) -> RequestError:
    """The error that the client gets for an exception. Details that the client does not get are logged."""
    if isinstance(exception, RequestError):
        return exception
    if isinstance(exception, TarkError):  # its message is written for users
        logger.warning("%s: %s", method, exception)
        return RequestError(str(exception), rpc_code=INTERNAL_ERROR)
    logger.error("%s failed", method, exc_info=exception)
    return RequestError("internal error, see the server's log", rpc_code=INTERNAL_ERROR)
