"""The server's requests to the client: numbered, awaited, and withdrawn by `$/cancelRequest` if no longer needed."""

import asyncio
import itertools
import logging
from collections.abc import Callable
from typing import Any

from tark_lsp.errors import TarkError
from tark_lsp.server.connection.messages import INTERNAL_ERROR, Message, MessageId, is_id

logger = logging.getLogger(__name__)

CONNECTION_CLOSED = -32099


class RequestFailed(TarkError):
    """The client answered a request of the server with an error, or the connection ended before it answered."""

    code = "request_failed"

    def __init__(self, rpc_code: int, message: str) -> None:
        super().__init__(message)
        self.rpc_code = rpc_code


class ClientRequests:
    def __init__(self, send: Callable[[Message], None]) -> None:
        self._send = send
        self._waiting: dict[MessageId, asyncio.Future[Any]] = {}
        self._ids = itertools.count(1)
        self._closed = False

    def __len__(self) -> int:
        """How many requests wait for an answer."""
        return len(self._waiting)

    async def request(self, method: str, params: object) -> Any:
        """The client's result. Raises RequestFailed."""
        if self._closed:
            raise RequestFailed(CONNECTION_CLOSED, "the connection to the editor is closed")
        request_id = next(self._ids)
        answer = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = answer
        try:
            message = {"jsonrpc": "2.0", "id": request_id, "method": method}
            self._send(message if params is None else message | {"params": params})
            return await answer
        except asyncio.CancelledError:
            if request_id in self._waiting:
                self._send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": request_id}})
            raise
        finally:
            self._waiting.pop(request_id, None)

    def resolve(self, response: Message) -> None:
        """Pass a response to the task that waits for it. Drops a late response for which no task waits."""
        answer = self._waiting.pop(response["id"], None) if is_id(response["id"]) else None
        if answer is None or answer.done():
            logger.debug("a response that nobody waits for")
            return
        if (error := response.get("error")) is None:
            answer.set_result(response.get("result"))
            return
        code, text = (error.get("code"), error.get("message")) if isinstance(error, dict) else (None, error)
        answer.set_exception(RequestFailed(code if isinstance(code, int) else INTERNAL_ERROR, str(text)))

    def close(self) -> None:
        """Call this when no more responses will come: all waiting requests fail."""
        self._closed = True
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(RequestFailed(CONNECTION_CLOSED, "the connection to the editor is closed"))
