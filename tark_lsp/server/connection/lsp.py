"""The interface of the connection to the editor for the rest of server/. `TarkProtocol` and tests implement it."""

from typing import Any, Protocol

from tark_lsp.server.connection.client_requests import RequestFailed
from tark_lsp.server.connection.editors import ClientInfo

__all__ = ["Connection", "RequestFailed"]


class Connection(Protocol):
    """Messages are plain JSON: dicts, lists, strings, numbers, booleans and None."""

    client: ClientInfo
    """Known after `initialize`. Before that, it is a default."""

    @property
    def backlogged(self) -> bool:
        """The client does not read what it was sent, so join updates instead of sending more of them."""
        return False

    def notify(self, method: str, params: object = None) -> None: ...

    async def request(self, method: str, params: object = None) -> Any:
        """Return the client's answer. Raises RequestFailed.

        Cancelling the task that awaits it (for example by a timeout) sends `$/cancelRequest`. A late answer is dropped.
        """
