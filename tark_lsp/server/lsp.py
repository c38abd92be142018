"""The connection to the editor: pygls, hardened. The rest of server/ sees only this small API of plain JSON dicts."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from pydantic import BaseModel
from pygls.lsp.server import LanguageServer

from tark_lsp.errors import TarkError
from tark_lsp.server.editors import ClientInfo

P = TypeVar("P", bound=BaseModel)


class RequestFailed(TarkError):
    """The client answered a request of ours with an error, or the connection ended before it answered."""

    code = "request_failed"

    def __init__(self, rpc_code: int, message: str) -> None:
        super().__init__(message)
        self.rpc_code = rpc_code


class Connection(LanguageServer):
    """A pygls server. Register handlers before it serves; use no other method of pygls."""

    client: ClientInfo
    """Known from `initialize` on; the default before."""

    def on_request(self, method: str, handler: Callable[[P], Awaitable[object]], params: type[P]) -> None:
        """`handler` is an `async def` run as a task that `$/cancelRequest` and shutdown really cancel.

        It gives JSON. Bad params are answered -32602 naming the field; RequestError gives its `rpc_code` and message,
        every other error is logged and answered -32603 with a short message.
        """

    def on_notification(self, method: str, handler: Callable[[dict[str, Any]], None]) -> None:
        """`handler` is a plain `def` that gets the params as they came ({} for none) and starts tasks where it must.

        Notifications are handled in order, each before anything later from the client. Several handlers may be
        registered for one method; what one raises is logged.
        """

    def on_initialize(self, callback: Callable[[], None]) -> None:
        """Called when `client` is known, before any other message is handled."""

    def on_stop(self, callback: Callable[[], Awaitable[None]]) -> None:
        """Awaited once at shutdown, or when the stream ends without: end turns and processes; 3 seconds in all."""

    @property
    def backlogged(self) -> bool:
        """The client does not read: join updates instead of sending more."""
        raise NotImplementedError

    def notify(self, method: str, params: object = None) -> None: ...

    async def request(self, method: str, params: object = None) -> Any:
        """The client's answer. Raises RequestFailed.

        Cancelling the awaiting task (a time-out, too) sends `$/cancelRequest`; a late answer is dropped.
        """
