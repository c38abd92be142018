"""The lifecycle from `initialize` to `exit`: which messages are served when, and what runs once at the end."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from tark_lsp.errors import RequestError
from tark_lsp.server.connection.messages import INVALID_REQUEST, NOT_INITIALIZED
from tark_lsp.server.connection.running_requests import RunningRequests

logger = logging.getLogger(__name__)

STOP_SECONDS = 3.0
"""How long the handler of `shutdown` can take. Clients wait for its answer, and many kill the server soon after."""
CANCEL_SECONDS = 0.5


class Lifecycle:
    def __init__(self, running: RunningRequests, stop_handler: Callable[[], Callable[..., Awaitable[Any]] | None]):
        """`stop_handler` returns the registered handler of `shutdown`, if there is one."""
        self._running = running
        self._stop_handler = stop_handler
        self._stopping: asyncio.Future[None] | None = None
        self.initialized = False
        self.shut_down = False
        self.ended = asyncio.Event()
        """Set when the server must end: by `exit`, the end of the stream, a signal or the end of the client."""

    @property
    def exit_code(self) -> int:
        return 0 if self.shut_down else 1

    def refusal(self, method: str) -> RequestError | None:
        """Why the method is not served now; None if it is."""
        if method == "exit":
            return None
        if self.shut_down:
            return RequestError("the server is shut down", rpc_code=INVALID_REQUEST)
        if method == "initialize":
            return RequestError("initialized already", rpc_code=INVALID_REQUEST) if self.initialized else None
        return None if self.initialized else RequestError("not initialized", rpc_code=NOT_INITIALIZED)

    def exit(self, _params: dict[str, Any]) -> None:
        self.ended.set()

    async def stop(self) -> None:
        """End turns and processes, once: at `shutdown`, or at the end if there was none."""
        if self._stopping is None:
            self._stopping = asyncio.ensure_future(self._end_work(asyncio.current_task()))
        await asyncio.shield(self._stopping)

    async def _end_work(self, shutdown: asyncio.Task[Any] | None) -> None:
        """The handler comes first, so that requests that wait for a turn are answered with its end."""
        handler = self._stop_handler()
        if handler is not None and self.initialized:
            try:
                async with asyncio.timeout(STOP_SECONDS):
                    await handler({})
            except TimeoutError:
                logger.warning("gave up what did not end within %.0f s", STOP_SECONDS)
            except Exception:  # logged, because the requests must still be ended
                logger.exception("the handler of shutdown failed")
        await self._running.cancel_all(except_task=shutdown, seconds=CANCEL_SECONDS)
