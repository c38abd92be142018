"""The commands `tark.permission.*`: list the requests that wait for permission, and answer them."""

from collections.abc import Iterable
from typing import Any

from tark_lsp.errors import RequestError
from tark_lsp.server.asking.permission import Permissions, check_reply
from tark_lsp.server.commands import Command
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.protocol import command_payloads


class PermissionCommands:
    def __init__(self, connection: Connection, permissions: Permissions) -> None:
        self._connection = connection
        self._permissions = permissions

    def commands(self) -> Iterable[Command]:
        yield Command("tark.permission.list", command_payloads.ListPermissions, self.list)
        yield Command("tark.permission.answer", command_payloads.PermissionAnswer, self.answer)

    def state(self, session_id: str | None) -> Any:
        """For `tark.state`."""
        waiting = self._permissions.waiting()
        return [self._permissions.json(request) for request in waiting if session_id in (None, request.session_id)]

    async def list(self, request: command_payloads.ListPermissions) -> Any:
        permissions = self._permissions
        if request.show is not None:
            await permissions.show_whole(permissions.find_request(request.show))
        return {"requests": [permissions.json(waiting) for waiting in permissions.waiting()]}

    async def answer(self, request: command_payloads.PermissionAnswer) -> Any:
        """`accepted` is false if the request was already answered or withdrawn.

        Raises RequestError if there was no such request, if the digest does not match what the request shows now, or if
        the request must be shown in full first.
        """
        if self._permissions.is_over(request.request_id):
            return {"accepted": False}
        waiting = self._permissions.find_request(request.request_id)
        if waiting.answer.done():
            return {"accepted": False}
        if request.digest != waiting.digest:
            raise RequestError("digest: not that of what the request shows", hint="ask tark.permission.list again")
        check_reply(waiting, request)
        # A client that asks the user itself was sent everything, and shows it.
        asks_itself = self._connection.client.understands("permission")
        if request.outcome == "allow" and not asks_itself and self._permissions.needs_showing(waiting):
            raise RequestError(
                "outcome: the request can be allowed only after it was shown whole",
                hint=f"have it shown by tark.permission.list with show {waiting.id!r}",
            )
        self._permissions.resolve(waiting, request)
        return {"accepted": True}
