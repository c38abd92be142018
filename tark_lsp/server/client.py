"""The terminal's LSP client of our own server: starts it, speaks JSON-RPC to it over its pipes, and ends it.

Standard library only. What a person decides goes to a `Person`; open documents are in `client_documents.py`.
Positions are counted in code points (utf-32), which are Python's own.
"""

import asyncio
import contextlib
import json
import os
import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from tark_lsp import __version__
from tark_lsp.errors import TarkError
from tark_lsp.processes import OWN_SERVER
from tark_lsp.server.client_documents import Documents

METHOD_NOT_FOUND, INTERNAL_ERROR, REQUEST_CANCELLED = -32601, -32603, -32800


class ServerError(TarkError):
    """An error of JSON-RPC: the server's answer, or ours to the server."""

    def __init__(self, rpc_code: int, message: str) -> None:
        super().__init__(message)
        self.rpc_code = rpc_code


class ServerGone(TarkError):
    """The server ended, or wrote what is not LSP; the hint holds the last lines of its log."""


class Person(Protocol):
    """Who sits at the terminal: shown updates and messages, asked for decisions (payloads: protocol.md)."""

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


class Client:
    """One running server. Use `async with await Client.start(...)`, which ends it whatever happens."""

    def __init__(self, process: asyncio.subprocess.Process, log: Any, person: Person) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process, self._stdin, self._stdout, self._log = process, process.stdin, process.stdout, log
        self._person = person
        self._last_id = 0
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._answering: dict[int | str, asyncio.Task[object]] = {}
        self._gone: BaseException | None = None
        self.documents = Documents(self.notify)
        self._handlers: Mapping[str, Callable[[Any], Awaitable[object]]] = {
            "window/workDoneProgress/create": _accept,
            "workspace/applyEdit": self.documents.apply,
            "window/showMessageRequest": self._choose,
            "tark/requestPermission": person.permission,
            "tark/requestInput": person.input,
        }
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
        argv: Sequence[str] = OWN_SERVER,
        seconds: float = 30.0,
    ) -> "Client":
        """Start a server on `folder` and wait until it is initialized.

        `settings` are what the person asked for (they count as user settings). Raises ServerGone, ServerError,
        TimeoutError.
        """
        log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        # A group of its own: Ctrl-C in the terminal is for us, who then tell the server what to do.
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            env=environ,
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        client = cls(process, log, person)
        try:
            async with asyncio.timeout(seconds):
                await client.request("initialize", _initialize_params(folder, settings or {}))
            client.notify("initialized", {})
        except BaseException:  # raised again: no server is left behind
            await client.close()
            raise
        return client

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    async def command(self, name: str, argument: Mapping[str, Any] | None = None) -> Any:
        """`workspace/executeCommand`. Raises ServerError, ServerGone."""
        return await self.request("workspace/executeCommand", {"command": name, "arguments": [argument or {}]})

    async def request(self, method: str, params: object) -> Any:
        if self._gone:
            raise self._gone
        self._last_id += 1
        number = self._last_id
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._send({"id": number, "method": method, "params": params})
        try:
            return await answer
        except asyncio.CancelledError:
            self.notify("$/cancelRequest", {"id": number})
            raise
        finally:
            del self._waiting[number]

    async def ended(self) -> None:
        """Wait until the server is gone, or wrote what is not LSP; every request raises why from then on."""
        await asyncio.wait({self._reader})

    def notify(self, method: str, params: object) -> None:
        self._send({"method": method, "params": params})

    async def close(self, seconds: float = 3.0) -> None:
        """Ask the server to shut down and exit; kill it if it does not."""
        try:
            with contextlib.suppress(TimeoutError, ServerGone, ServerError):
                async with asyncio.timeout(seconds):
                    await self.request("shutdown", None)
                    self.notify("exit", None)
                    await self._process.wait()
        finally:
            self.kill()
            await self._process.wait()
            self._stdin.close()
            for task in self._answering.values():
                task.cancel()
            await asyncio.gather(self._reader, *self._answering.values(), return_exceptions=True)
            self._log.close()

    def kill(self) -> None:
        """End the server at once, without a word to it; nothing happens if it has ended."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()

    def _send(self, message: Mapping[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode("utf-8", "replace")
        if not self._stdin.is_closing():
            self._stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    async def _read(self) -> None:
        while (message := await self._next_message()) is not None:
            self._receive(message)

    async def _next_message(self) -> dict[str, Any] | None:
        """None: the server has ended, or wrote what is not LSP; everybody waiting knows by then."""
        try:
            headers = await self._stdout.readuntil(b"\r\n\r\n")
            length = next(int(line[15:]) for line in headers.split(b"\r\n") if line[:15].lower() == b"content-length:")
            message: dict[str, Any] = json.loads(await self._stdout.readexactly(length))
            return message
        except (EOFError, asyncio.LimitOverrunError, StopIteration, ValueError):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), 1)
            self._log.seek(0)
            lines = self._log.read().decode("utf-8", "replace").strip().splitlines()[-12:]
            self._fail(ServerGone("the server ended unexpectedly", hint="\n".join(lines)))
            return None

    def _read_ended(self, task: asyncio.Task[None]) -> None:
        # A bug of ours in showing what came: without this, whoever waits for the server would wait for ever.
        if not task.cancelled() and (error := task.exception()):
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        """Every request waiting, and every later one, ends with this."""
        self._gone = error
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(error)

    def _receive(self, message: dict[str, Any]) -> None:
        number, method = message.get("id"), message.get("method")
        params: Any = message.get("params")
        match method:
            case None:
                self._answered(message)
            case "$/cancelRequest":
                if task := self._answering.get(params["id"]):
                    task.cancel()
            case "tark/update":
                self._person.update(params["update"])
            case "window/showMessage":
                self._person.message(params["message"], params["type"])
            case _ if number is not None:
                task = self._answering[number] = asyncio.create_task(self._handle(method, params))
                task.add_done_callback(lambda done: self._answer(number, done))

    def _answered(self, message: Mapping[str, Any]) -> None:
        answer = self._waiting.get(message["id"])
        if answer is None or answer.done():
            return
        if error := message.get("error"):
            answer.set_exception(ServerError(error["code"], error["message"]))
        else:
            answer.set_result(message.get("result"))

    async def _handle(self, method: str, params: Any) -> object:
        if method not in self._handlers:
            raise ServerError(METHOD_NOT_FOUND, f"no method {method}")
        return await self._handlers[method](params)

    def _answer(self, number: int | str, task: asyncio.Task[object]) -> None:
        del self._answering[number]
        if task.cancelled():
            self._send({"id": number, "error": {"code": REQUEST_CANCELLED, "message": "cancelled"}})
        elif (error := task.exception()) is None:
            self._send({"id": number, "result": task.result()})
        elif isinstance(error, ServerError):
            self._send({"id": number, "error": {"code": error.rpc_code, "message": str(error)}})
        else:
            # A bug of ours: the server gets its answer, and whoever waits for the turn gets the exception.
            self._send({"id": number, "error": {"code": INTERNAL_ERROR, "message": str(error)}})
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(error)

    async def _choose(self, params: Any) -> object:
        actions = {action["title"]: action for action in params.get("actions") or ()}
        title = await self._person.choose(params["message"], list(actions))
        return actions.get(title) if title is not None else None


async def _accept(_: object) -> None:
    return None


def _initialize_params(folder: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    ours = {"protocol": 1} | dict.fromkeys(("userSettings", "updates", "permission", "input", "review"), True)
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
