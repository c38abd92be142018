"""Sends a running turn to the client: `tark/update`, numbered without gaps, and standard work-done progress.

Text is collected for 30 ms, or longer if the client does not read. So a slow editor gets fewer and larger updates, and
no queue grows.
"""

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.server.protocol import incoming
from tark_lsp.visible import without_icons

JOIN_SECONDS = 0.03
CREATE_SECONDS = 1.0
"""How long a turn waits for the client to accept the token. If the client accepts later, progress begins later."""


class Updates:
    """The `tark/update` stream of one turn. Nothing is sent to a client without `updates`."""

    def __init__(self, connection: Connection, session_id: str, turn_id: str) -> None:
        self._connection = connection
        self._ids = {"sessionId": session_id, "turnId": turn_id}
        self._kind = ""
        self._pieces: list[str] = []
        self._timer: asyncio.TimerHandle | None = None
        self.seq = 0
        self.before_sending: Callable[[int, Mapping[str, Any]], None] = lambda _, __: None
        """Called with `seq` and the update before each update is sent."""

    def add_text(self, kind: str, delta: str) -> None:
        """`kind` is `text` or `thinking`."""
        if self._pieces and kind != self._kind:
            self.flush()
        self._kind = kind
        self._pieces.append(delta)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(JOIN_SECONDS, self._flush_if_read)

    def send(self, kind: str, /, **fields: Any) -> None:
        self.flush()
        self._send({"kind": kind, **fields})

    def flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._pieces:
            pieces, self._pieces = self._pieces, []
            self._send({"kind": self._kind, "delta": "".join(pieces)})

    def _flush_if_read(self) -> None:
        self._timer = None
        if self._connection.backlogged:
            self._timer = asyncio.get_running_loop().call_later(JOIN_SECONDS, self._flush_if_read)
        else:
            self.flush()

    def _send(self, update: dict[str, Any]) -> None:
        self.seq += 1
        self.before_sending(self.seq, update)
        if self._connection.client.understands("updates"):
            self._connection.notify(incoming.UPDATE, {**self._ids, "seq": self.seq, "update": update})


class ProgressTokens:
    """The turn of each progress token, for `window/workDoneProgress/cancel`."""

    def __init__(self) -> None:
        self._turns: dict[str | int, str] = {}

    def remember_token(self, token: str | int, turn_id: str) -> None:
        self._turns[token] = turn_id

    def forget_token(self, token: str | int) -> None:
        self._turns.pop(token, None)

    def find_turn_id(self, token: object) -> str | None:
        return self._turns.get(token) if isinstance(token, str | int) else None


class Progress:
    """The work-done progress of one turn, under a token of the server, and also under tokens of `tark.turn.wait`."""

    def __init__(self, connection: Connection, tokens: ProgressTokens, turn_id: str, title: str) -> None:
        self._connection = connection
        self._registry = tokens
        self._turn_id = turn_id
        self._title = f"Tark: {title}"
        self._tokens: list[str | int] = []
        self._message = ""
        self._began = False
        self._ended = False
        self._creating: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Begins the progress. An editor that does not support progress, or refuses the token, gets none."""
        self._began = True
        for token in self._tokens:
            self._show(token)
        if self._connection.client.has("window.workDoneProgress"):
            self._creating = asyncio.create_task(self._create())
            await asyncio.wait({self._creating}, timeout=CREATE_SECONDS)

    async def _create(self) -> None:
        token = f"tark-{secrets.token_hex(8)}"
        with contextlib.suppress(RequestFailed):
            await self._connection.request("window/workDoneProgress/create", {"token": token})
            self.mirror(token)

    def mirror(self, token: str | int) -> None:
        """Also show the turn's progress under this token, from the beginning."""
        if self._ended:
            return
        self._tokens.append(token)
        self._registry.remember_token(token, self._turn_id)
        if self._began:
            self._show(token)

    def forget(self, token: str | int) -> None:
        """Send nothing more under this token."""
        if token in self._tokens:
            self._tokens.remove(token)
        self._registry.forget_token(token)

    def _show(self, token: str | int) -> None:
        self._notify([token], {"kind": "begin", "title": self._title, "cancellable": True})
        if self._message:
            self._notify([token], {"kind": "report", "message": self._message})

    def report(self, message: str) -> None:
        self._message = message
        self._notify(self._tokens, {"kind": "report", "message": message})

    def end(self, message: str) -> None:
        self._ended = True
        if self._creating is not None:
            self._creating.cancel()
        if self._began:
            self._notify(self._tokens, {"kind": "end", "message": message})
        for token in self._tokens:
            self._registry.forget_token(token)
        self._tokens.clear()

    def _notify(self, tokens: list[str | int], value: dict[str, Any]) -> None:
        if self._connection.client.flags.draws_icons:
            words = ("title", "message")
            value = {name: without_icons(field) if name in words else field for name, field in value.items()}
        for token in tokens:
            self._connection.notify("$/progress", {"token": token, "value": value})
