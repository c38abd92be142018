"""The server of a conversation. It starts when it is first needed, and again after it ended."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

from tark_lsp.cli.chatting.chat_screen import ChatScreen
from tark_lsp.cli.person import TerminalPerson
from tark_lsp.server.client import Client, ServerGone

SETTINGS = {"editReview": "ask"}
"""Edits are always reviewed before they are written: a terminal has no undo like an editor's."""


class ChatServer:
    """`spawn` starts a background task. `on_started(client)` runs before any other use of a new client. `on_ended()`
    runs when the server ended by itself.
    """

    def __init__(
        self,
        folder: Path,
        screen: ChatScreen,
        person: TerminalPerson,
        *,
        spawn: Callable[[Coroutine[Any, Any, None]], None],
        on_started: Callable[[Client], Awaitable[None]],
        on_ended: Callable[[], None],
    ) -> None:
        self._folder, self._screen, self._person = folder, screen, person
        self._spawn, self._on_started, self._on_ended = spawn, on_started, on_ended
        self._client: Client | None = None
        self._starting = asyncio.Lock()

    @property
    def running_client(self) -> Client | None:
        return self._client

    async def client(self) -> Client:
        """The running server, or a new one. Raises the errors of `Client.start`."""
        async with self._starting:
            if self._client is None:
                client = await Client.start(self._folder, self._person, settings=SETTINGS)
                self._client = client
                self._screen.documents = client.documents
                self._spawn(self._watch(client))
                await self._on_started(client)
        return self._client

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _watch(self, client: Client) -> None:
        await client.ended()
        if self._client is not client:
            return
        self._client = None
        self._on_ended()
        try:
            await client.request("shutdown", None)
        except ServerGone as error:
            self._screen.print_error(error.message, error.hint)
        self._screen.print_line("your next prompt or command restarts it and continues this session", "yellow")
        await client.close()
