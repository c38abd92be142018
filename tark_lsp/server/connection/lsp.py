"""What the rest of server/ sees of the connection to the editor. `TarkProtocol` implements it, and so do tests."""

from typing import Any, Protocol

from tark_lsp.server.connection.client_requests import RequestFailed
from tark_lsp.server.connection.editors import ClientInfo

__all__ = ["Connection", "RequestFailed"]


class Connection(Protocol):
    """Messages are plain JSON: dicts, lists, strings, numbers, booleans and None."""

    client: ClientInfo
    """Known from `initialize` on; before, it is a default."""

    @property
    def backlogged(self) -> bool:
        """The client does not read what it was sent: join updates instead of sending more of them."""
        return False

    def notify(self, method: str, params: object = None) -> None: ...

    async def request(self, method: str, params: object = None) -> Any:
        """The client's answer. Raises RequestFailed.

        Cancelling the task that awaits it (a timeout does so) sends `$/cancelRequest`; a late answer is dropped.
        """
