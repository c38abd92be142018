"""What a client is told of a running turn: `tark/update`, numbered without gaps, and standard work-done progress.

Text is joined for at most 30 ms, and for longer while the client does not read, so that a slow editor gets fewer and
larger updates and never a growing queue.
"""

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from tark_lsp.server import protocol
from tark_lsp.server.connection.lsp import Connection, RequestFailed

JOIN_SECONDS = 0.03
CREATE_SECONDS = 1.0
"""How long a turn holds back for the client to take the token; where that comes later, progress begins later."""


class Updates:
    """The `tark/update` stream of one turn; silent where the client has no `updates`."""

    def __init__(self, connection: Connection, session_id: str, turn_id: str) -> None:
        self._connection = connection
        self._ids = {"sessionId": session_id, "turnId": turn_id}
        self._kind = ""
        self._pieces: list[str] = []
        self._timer: asyncio.TimerHandle | None = None
        self.seq = 0
        self.about_to_say: Callable[[int, Mapping[str, Any]], None] = lambda _, __: None
        """Called with each update and its `seq` before it goes out."""

    def text(self, kind: str, delta: str) -> None:
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
        self.about_to_say(self.seq, update)
        if self._connection.client.understands("updates"):
            self._connection.notify(protocol.UPDATE, {**self._ids, "seq": self.seq, "update": update})


class ProgressTokens:
    """Which turn a progress token belongs to, so that `window/workDoneProgress/cancel` finds it."""

    def __init__(self) -> None:
        self._turns: dict[str | int, str] = {}

    def add(self, token: str | int, turn_id: str) -> None:
        self._turns[token] = turn_id

    def forget(self, token: str | int) -> None:
        self._turns.pop(token, None)

    def turn(self, token: object) -> str | None:
        return self._turns.get(token) if isinstance(token, str | int) else None


class Progress:
    """The work-done progress of one turn, under a token made by the server; further tokens (of `wait`) mirror it."""

    def __init__(self, connection: Connection, tokens: ProgressTokens, turn_id: str, title: str) -> None:
        self._connection = connection
        self._registry = tokens
        self._turn_id = turn_id
        self._title = f"Tark: {title}"
        self._tokens: list[str | int] = []
        self._message = ""
        self._begun = False
        self._ended = False
        self._creating: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """An editor without progress, or one that refuses the token, gets none."""
        self._begun = True
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
        """Show the turn under this token, too, from its beginning on."""
        if self._ended:
            return
        self._tokens.append(token)
        self._registry.add(token, self._turn_id)
        if self._begun:
            self._show(token)

    def forget(self, token: str | int) -> None:
        """Say nothing more under this token."""
        if token in self._tokens:
            self._tokens.remove(token)
        self._registry.forget(token)

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
        if self._begun:
            self._notify(self._tokens, {"kind": "end", "message": message})
        for token in self._tokens:
            self._registry.forget(token)
        self._tokens.clear()

    def _notify(self, tokens: list[str | int], value: dict[str, Any]) -> None:
        for token in tokens:
            self._connection.notify("$/progress", {"token": token, "value": value})
