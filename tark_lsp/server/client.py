"""The terminal's LSP client of our own server: starts it, speaks JSON-RPC to it over its pipes, and ends it.

Standard library only. Decisions are made by a `Person`; open documents are in client_documents.py. Positions are
counted in code points (utf-32), like in Python.
"""

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from tark_lsp import __version__
from tark_lsp.errors import RequestError, TarkError
from tark_lsp.processes import OWN_SERVER
from tark_lsp.server.client_documents import Documents
from tark_lsp.server.client_process import ServerGone, ServerProcess

__all__ = ["Client", "Person", "ServerError", "ServerGone"]

METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR, REQUEST_CANCELLED = -32601, -32602, -32603, -32800
LAST_OUTPUT_SECONDS = 1.0
"""How long the output is read after the server has ended: another process can have inherited it."""


class ServerError(TarkError):
    """An error of JSON-RPC: in the server's answer, or in ours to the server."""

    def __init__(self, rpc_code: int, message: str) -> None:
        super().__init__(message)
        self.rpc_code = rpc_code
        self.code = RequestError.code if rpc_code == INVALID_PARAMS else TarkError.code


class Person(Protocol):
    """The user at the terminal: is shown updates and messages, and makes decisions (payloads: protocol.md)."""

    def update(self, update: Mapping[str, Any]) -> None:
        """`update` of one `tark/update`."""

    def message(self, text: str, severity: int) -> None:
        """`window/showMessage`: 1 error, 2 warning, 3 information."""

    async def permission(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answer to `tark/requestPermission`."""
        ...

    async def input(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answer to `tark/requestInput`."""
        ...

    async def choose(self, message: str, titles: Sequence[str]) -> str | None:
        """The answer to `window/showMessageRequest`: one of the titles, or None."""
        ...


class ServerRequests:
    """Answers the requests of the server."""

    def __init__(
        self, process: ServerProcess, documents: Documents, person: Person, failed: Callable[[BaseException], None]
    ) -> None:
        """`failed(error)` is called for a defect of ours while a request is answered."""
        self._process = process
        self._person = person
        self._failed = failed
        self._answering: dict[int | str, asyncio.Task[object]] = {}
        self._handlers: Mapping[str, Callable[[Any], Awaitable[object]]] = {
            "window/workDoneProgress/create": _accept,
            "workspace/applyEdit": documents.apply,
            "window/showMessageRequest": self._choose,
            "tark/requestPermission": person.permission,
            "tark/requestInput": person.input,
        }

    def begin_answer(self, number: int | str, method: str, params: Any) -> None:
        task = self._answering[number] = asyncio.create_task(self._handle(method, params))
        task.add_done_callback(lambda done: self._answer(number, done))

    def cancel(self, number: int | str) -> None:
        if task := self._answering.get(number):
            task.cancel()

    async def close(self) -> None:
        tasks = list(self._answering.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _handle(self, method: str, params: Any) -> object:
        if method not in self._handlers:
            raise ServerError(METHOD_NOT_FOUND, f"no method {method}")
        return await self._handlers[method](params)

    def _answer(self, number: int | str, task: asyncio.Task[object]) -> None:
        del self._answering[number]
        if task.cancelled():
            self._process.send({"id": number, "error": {"code": REQUEST_CANCELLED, "message": "cancelled"}})
        elif (error := task.exception()) is None:
            self._process.send({"id": number, "result": task.result()})
        elif isinstance(error, ServerError):
            self._process.send({"id": number, "error": {"code": error.rpc_code, "message": str(error)}})
        else:  # a defect of ours: the server gets an answer, and who waits for the turn gets the exception
            self._process.send({"id": number, "error": {"code": INTERNAL_ERROR, "message": str(error)}})
            self._failed(error)

    async def _choose(self, params: Any) -> object:
        actions = {action["title"]: action for action in params.get("actions") or ()}
        title = await self._person.choose(params["message"], list(actions))
        return actions.get(title) if title is not None else None


class Client:
    """One running server. Use `async with await Client.start(...)`, which always ends it."""

    def __init__(self, process: ServerProcess, person: Person) -> None:
        self.process = process
        self._person = person
        self._last_id = 0
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._gone: BaseException | None = None
        self.documents = Documents(self.notify)
        self._requests = ServerRequests(process, self.documents, person, self._fail_waiting)
        self._reader = asyncio.create_task(self._read())
        self._reader.add_done_callback(self._read_ended)

    @classmethod
    async def start(
        cls,
        folder: Path,
        person: Person,
        *,
        settings: Mapping[str, Any] | None = None,
        environ: Mapping[str, str] | None = None,
        in_memory: bool = False,
        argv: Sequence[str] = OWN_SERVER,
        seconds: float = 30.0,
    ) -> "Client":
        """Start a server on `folder` and wait until it is initialized.

        `settings` are what the user asked for (they count as user settings). `in_memory`: no file is changed
        (protocol.md, "Edits in memory"). Raises ServerGone, ServerError,
        TimeoutError.
        """
        client = cls(await ServerProcess.start(argv, environ), person)
        try:
            async with asyncio.timeout(seconds):
                await client.request("initialize", _initialize_params(folder, settings or {}, in_memory=in_memory))
            client.notify("initialized", {})
        except BaseException:  # raised again: no server is left running
            await client.close()
            raise
        return client

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def command(self, name: str, argument: Mapping[str, Any] | None = None) -> Any:
        """`workspace/executeCommand`. Raises ServerError, ServerGone."""
        return await self.request("workspace/executeCommand", {"command": name, "arguments": [argument or {}]})

    async def request(self, method: str, params: object) -> Any:
        """Raises ServerError, ServerGone."""
        if self._gone:
            raise self._gone
        self._last_id += 1
        number = self._last_id
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        self.process.send({"id": number, "method": method, "params": params})
        try:
            return await answer
        except asyncio.CancelledError:
            self.notify("$/cancelRequest", {"id": number})
            raise
        finally:
            del self._waiting[number]

    async def ended(self) -> None:
        """Wait until the server ended or wrote something that is not LSP. Every later request raises the reason."""
        await asyncio.wait({self._reader})

    def notify(self, method: str, params: object) -> None:
        self.process.send({"method": method, "params": params})

    async def close(self, seconds: float = 3.0) -> None:
        """Ask the server to shut down and exit; kill it if it does not."""
        try:
            with contextlib.suppress(TimeoutError, ServerGone, ServerError):
                async with asyncio.timeout(seconds):
                    await self.request("shutdown", None)
                    self.notify("exit", None)
                    await self.process.wait()
        finally:
            self.process.kill()
            await self.process.wait()
            await self._requests.close()
            await asyncio.wait({self._reader}, timeout=LAST_OUTPUT_SECONDS)
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
            self.process.close_pipes()
            self.process.close_log()

    async def _read(self) -> None:
        while True:
            self._receive(await self.process.next_message())

    def _read_ended(self, task: asyncio.Task[None]) -> None:
        """The server is gone, or showing a message failed, which is a defect of ours."""
        if not task.cancelled() and (error := task.exception()):
            self._gone = error
            self._fail_waiting(error)

    def _fail_waiting(self, error: BaseException) -> None:
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(error)

    def _receive(self, message: dict[str, Any]) -> None:
        number, method = message.get("id"), message.get("method")
        params: Any = message.get("params")
        match method:
            case None:
                self._receive_answer(message)
            case "$/cancelRequest":
                self._requests.cancel(params["id"])
            case "tark/update":
                self._person.update(params["update"])
            case "window/showMessage":
                self._person.message(params["message"], params["type"])
            case _ if number is not None:
                self._requests.begin_answer(number, method, params)

    def _receive_answer(self, message: Mapping[str, Any]) -> None:
        answer = self._waiting.get(message["id"])
        if answer is None or answer.done():
            return
        if error := message.get("error"):
            answer.set_exception(ServerError(error["code"], error["message"]))
        else:
            answer.set_result(message.get("result"))


async def _accept(_: object) -> None:
    return None


def _initialize_params(folder: Path, settings: Mapping[str, Any], *, in_memory: bool) -> dict[str, Any]:
    understood = ("userSettings", "updates", "permission", "input", "review", *(["inMemory"] if in_memory else []))
    ours = {"protocol": 1} | dict.fromkeys(understood, True)
    return {
        "processId": os.getpid(),
        "clientInfo": {"name": "tark-lsp run", "version": __version__},
        "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name}],
        "rootUri": folder.as_uri(),
        "initializationOptions": dict(settings),
        "capabilities": {
            "general": {"positionEncodings": ["utf-32"]},
            "window": {"workDoneProgress": True},
            "workspace": {
                "applyEdit": True,
                "workspaceEdit": {"documentChanges": True},
                "workspaceFolders": True,
            },
            "textDocument": {"synchronization": {"didSave": True}},
            "experimental": {"tark": ours},
        },
    }
