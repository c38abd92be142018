"""A server with minimal handlers that show what the connection does."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from lsprotocol import types
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from tark_lsp.errors import RequestError, SettingsError
from tark_lsp.server.connection.lsp import RequestFailed
from tark_lsp.server.connection.server import TarkServer
from tark_lsp.server.documents.sync import DocumentSync
from tark_lsp.server.turns.updates import Progress, ProgressTokens
from tark_lsp.workspace.documents import Documents


class Place(BaseModel):
    line: int


class Params(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)

    place: Place
    long_name: str = ""


class Probe:
    def __init__(self) -> None:
        self.server = TarkServer()
        self.connection = self.server.protocol
        self.documents = Documents()
        self.events: list[str] = []
        self.tasks: set[asyncio.Task[None]] = set()
        sync = DocumentSync(self.documents)
        handlers: dict[str, Callable[..., Any]] = {
            types.INITIALIZE: self.initialize,
            types.SHUTDOWN: self.stop,
            "test/echo": self.echo,
            "test/events": self.list_events,
            "test/sleep": self.sleep,
            "test/fail": self.fail,
            "test/print": self.print_about,
            "test/ask": self.ask,
            "test/text": self.text,
            "test/threads": self.threads,
            "test/begin": self.begin,
            "test/progress": self.progress,
            "test/flood": self.flood,
            "test/state": self.state,
            "test/typed": self.typed,
            "test/note": self.note,
            types.TEXT_DOCUMENT_DID_OPEN: sync.did_open,
            types.TEXT_DOCUMENT_DID_CHANGE: sync.did_change,
            types.TEXT_DOCUMENT_DID_SAVE: sync.did_save,
            types.TEXT_DOCUMENT_DID_CLOSE: sync.did_close,
        }
        for method, handler in handlers.items():
            self.server.feature(method)(partial(handler))  # pygls notes the method's name on it
        self.server.command("test.sleep")(partial(self.sleep))

    def initialize(self, _params: dict[str, Any]) -> None:
        self.documents.encoding = self.connection.client.position_encoding
        self.events.append(f"client {self.connection.client.name}")

    async def stop(self, _params: dict[str, Any]) -> None:
        self.connection.notify("test/stopped")

    async def echo(self, params: dict[str, Any]) -> object:
        return params

    async def typed(self, params: Params) -> object:
        return params.model_dump(by_alias=True)

    async def list_events(self, _params: dict[str, Any]) -> object:
        events, self.events = self.events, []
        return events

    async def sleep(self, _params: dict[str, Any]) -> object:
        self.events.append("sleep begins")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            self.events.append("sleep cancelled")
            raise
        return "woke up"

    async def fail(self, params: dict[str, Any]) -> object:
        match params["how"]:
            case "request":
                raise RequestError("no such thing", hint="name another", rpc_code=-32801)
            case "settings":
                raise SettingsError("a bad setting")
            case "result":
                return object()
            case _:
                raise KeyError("/secret/path")

    async def print_about(self, _params: dict[str, Any]) -> object:
        print("a stray print")
        os.write(1, b"a stray write\n")
        child = [sys.executable, "-c", "import sys; print('a stray child', repr(sys.stdin.read()))"]
        subprocess.run(child, check=True)  # noqa: ASYNC221  as somebody's library might
        return "clean"

    async def ask(self, params: dict[str, Any]) -> object:
        """Ask the client, and give up after `seconds`."""
        try:
            async with asyncio.timeout(params.get("seconds")):
                return {"answer": await self.connection.request("test/question", {"n": 1})}
        except TimeoutError:
            return "no answer"
        except RequestFailed as error:
            return {"code": error.rpc_code, "message": error.message}

    async def text(self, params: dict[str, Any]) -> object:
        document = self.documents.find_document(params["uri"])
        return None if document is None else [document.version, document.text]

    async def threads(self, _params: dict[str, Any]) -> object:
        await asyncio.to_thread(time.sleep, 60)
        return None

    async def begin(self, _params: dict[str, Any]) -> object:
        """Start work that sends a notification at once."""

        async def work() -> None:
            self.connection.notify("test/begun")

        task = asyncio.ensure_future(work())
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return "begins"

    async def progress(self, _params: dict[str, Any]) -> object:
        """One progress bar from begin to end. Returns the turn of its token after each."""
        tokens = ProgressTokens()
        progress = Progress(self.connection, tokens, "turn", "title")
        await progress.begin()
        [(token, during)] = tokens._turns.items() or [("", None)]
        progress.end("done")
        return [during, tokens.find_turn_id(token)]

    async def flood(self, params: dict[str, Any]) -> object:
        """Send until the client counts as not reading, then write so to stderr."""
        sent = 0
        while not (backlogged := self.connection.backlogged) and sent < params["most"]:
            self.connection.notify("test/flood", {"text": "x" * 10_000})
            await asyncio.sleep(0)
            sent += 1
        print("flooded", file=sys.stderr, flush=True)
        return {"sent": sent, "backlogged": backlogged}  # by now the pipe can have taken some of it

    async def state(self, _params: dict[str, Any]) -> object:
        client = self.connection.client
        pending = len(self.connection.to_client)
        tasks = len(asyncio.all_tasks())
        return {"name": client.name, "encoding": client.position_encoding, "pending": pending, "tasks": tasks}

    def note(self, params: dict[str, Any]) -> None:
        if params.get("fail"):
            raise KeyError("/secret/path")
        self.events.append(f"note {params.get('n')}")
