"""One connection to a real server process on top of pytest-lsp: plain JSON in and out, everything recorded in order.

pytest-lsp (by pygls and lsprotocol) still checks each message from the server against the LSP types and the client's
capabilities; what tests see is the JSON itself, since that is what protocol.md speaks of.
"""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar, cast

from cattrs import Converter
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import JsonRPCNotification, JsonRPCRequestMessage, JsonRPCResponseMessage, default_converter
from pytest_lsp import LanguageClient, LanguageClientProtocol

from tests.patience import AT_ONCE

Json: TypeAlias = dict[str, Any]
Sender = Literal["server", "client"]
Handler = Callable[[Json], Any]
"""What the editor does with the params of one method; a coroutine function where it answers later."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Message:
    """`at` is the event loop's time in seconds."""

    sender: Sender
    at: float
    body: Json

    @property
    def method(self) -> str:
        return str(self.body.get("method", ""))

    @property
    def params(self) -> Any:
        return self.body.get("params")


class ResponseError(Exception):
    """The server answered a request with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class PlainProtocol(LanguageClientProtocol):
    """Hands the JSON itself to the handlers, after pygls has made sure that it has the shape LSP gives it."""

    recorder: Callable[[Sender, Json], None]

    def structure_message(self, data: Json) -> Any:
        if "jsonrpc" not in data:  # pygls asks about every nested object
            return data
        self.recorder("server", data)
        method = data.get("method")
        if method is None:
            checked = super().structure_message(data) if self._result_types.get(data["id"]) or "error" in data else None
            return checked if "error" in data else JsonRPCResponseMessage(data["id"], "2.0", data.get("result"))
        checked = super().structure_message(data) if self.get_message_type(method) else None
        if method == types.CANCEL_REQUEST:
            return checked
        if "id" in data:
            return JsonRPCRequestMessage(data["id"], method, "2.0", data.get("params"))
        return JsonRPCNotification(method, "2.0", data.get("params"))

    def _send_data(self, data: Any) -> None:
        body = data if isinstance(data, dict) else self._converter.unstructure(data)
        self.recorder("client", body)
        super()._send_data(body)

    def request(self, method: str, params: Any) -> tuple[str, "Future[Any]"]:
        """Unlike pygls's own, takes the JSON as it is, however wrong."""
        identity = str(uuid.uuid4())
        future: Future[Any] = Future()
        self._request_futures[identity] = future
        self._result_types[identity] = self.get_result_type(method)
        self._send_data({"jsonrpc": "2.0", "id": identity, "method": method, "params": params})
        return identity, future

    def forget(self, identity: str) -> None:
        self._request_futures.pop(identity, None)


@cache
def converter() -> Converter:
    """pygls's, made once: it takes a quarter of a second, and longer again to learn the types it meets."""
    made: Converter = default_converter()  # type: ignore[no-untyped-call]  # pygls gives it no types
    return made


class Client(LanguageClient):
    async def _server_exit(self) -> None:
        """pygls's own fails where a handler of ours is still answering the server when that ends."""
        assert self._server is not None, "not started"
        await self._server.wait()
        futures = cast("dict[str, object]", self.protocol._request_futures)  # pygls says they are no tasks
        for identity in [identity for identity, item in futures.items() if isinstance(item, asyncio.Task)]:
            del futures[identity]
        await super()._server_exit()  # type: ignore[no-untyped-call]  # pygls gives it no types


class Connection:
    """Speaks LSP with the process it starts. `handlers` answer what the server asks, by method."""

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self.messages: list[Message] = []
        self.listeners: list[Callable[[Message], None]] = []
        self._arrived = asyncio.Event()
        self._client = Client(protocol_cls=PlainProtocol, converter_factory=converter)
        self._protocol: PlainProtocol = cast("PlainProtocol", self._client.protocol)
        self._protocol.recorder = self._record
        for method, handler in handlers.items():
            self._client.feature(method)(handler)

    @property
    def process_id(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        return self._process.returncode

    @property
    def _process(self) -> asyncio.subprocess.Process:
        assert self._client._server is not None, "not started"
        return self._client._server

    async def start(self, command: Sequence[str], *, env: Mapping[str, str], cwd: Path) -> None:
        await self._client.start_io(*command, env=dict(env), cwd=cwd)

    async def initialize(self, params: Json) -> Json:
        """The server's answer; `initialized` is sent."""
        capabilities = self._protocol._converter.structure(params["capabilities"], types.ClientCapabilities)
        self._client.capabilities = capabilities  # pytest-lsp holds the server to them
        answer: Json = await self.request("initialize", params)
        self.notify("initialized", {})
        return answer

    def notify(self, method: str, params: Any) -> None:
        self._protocol._send_data({"jsonrpc": "2.0", "method": method, "params": params})

    async def request(self, method: str, params: Any) -> Any:
        """The result. Cancelling the caller sends `$/cancelRequest`. Raises ResponseError."""
        identity, future = self._protocol.request(method, params)
        try:
            return await asyncio.wrap_future(future)
        except JsonRpcException as error:
            raise ResponseError(error.code, error.message) from None
        except asyncio.CancelledError:
            self._protocol.forget(identity)
            self.notify("$/cancelRequest", {"id": identity})
            raise

    async def until(self, condition: Callable[[], T | None], what: str, seconds: float = AT_ONCE) -> T:
        """The first true value of `condition`, asked again after each message and `wake`."""

        async def ask() -> T:
            while not (value := condition()):
                self._arrived.clear()
                await self._arrived.wait()
            return value

        return await self.within(ask(), what, seconds)

    async def within(self, waiting: Awaitable[T], what: str, seconds: float) -> T:
        """What `waiting` gives. Fails with the last messages."""
        try:
            async with asyncio.timeout(seconds):
                return await waiting
        except TimeoutError:
            raise AssertionError(f"not within {seconds} s: {what}\n{self.transcript()}") from None

    def wake(self) -> None:
        """Something `until` may wait for has changed beside the messages."""
        self._arrived.set()

    def transcript(self, last: int = 25) -> str:
        arrow = {"server": "<-", "client": "->"}
        lines = (f"{message.at:10.3f} {arrow[message.sender]} {message.body}" for message in self.messages[-last:])
        return "\n".join(line if len(line) < 600 else line[:600] + "..." for line in lines)

    async def exited(self, seconds: float = AT_ONCE) -> int:
        """The exit code. Raises TimeoutError."""
        async with asyncio.timeout(seconds):
            return await self._process.wait()

    def close_input(self) -> None:
        """As an editor that dies: the server reads the end of its input."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    async def stop(self) -> None:
        """End the process, by force where it does not end by itself."""
        if self.exit_code is None:
            self.close_input()
            try:
                await self.exited(5)
            except TimeoutError:
                self._process.kill()
        await self._client.stop()  # type: ignore[no-untyped-call]  # pytest-lsp gives it no types
        if self._client.error is not None:
            raise AssertionError(f"the server broke the protocol: {self._client.error}")

    def _record(self, sender: Sender, body: Json) -> None:
        message = Message(sender, asyncio.get_running_loop().time(), body)
        self.messages.append(message)
        for listener in self.listeners:
            listener(message)
        self._arrived.set()
