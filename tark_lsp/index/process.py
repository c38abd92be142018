"""The index process: `python -P -m tark_lsp.index.process`. It reads JSON lines of the server (client.py) and answers.

One thread does all work, in small steps between messages. Two others read the input and list files; both only put
messages into the inbox. When the input ends, the process ends, whatever it does.
"""

import contextlib
import json
import os
import queue
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tark_lsp.errors import ToolError
from tark_lsp.index.engine import Engine
from tark_lsp.index.json_values import question_from_json, to_json
from tark_lsp.index.keeper import Keeper
from tark_lsp.index.model import IndexState, IndexStatus
from tark_lsp.index.priority import lower_priority
from tark_lsp.index.scanning import Scanner
from tark_lsp.index.store import Seen

WAIT_SECONDS = 0.5
"""How long a process that cannot write waits before it looks again."""
END_SECONDS = 0.2
STATUS_SECONDS = 0.2

Message = Mapping[str, Any]


REBUILD: Message = {"do": "rebuild", "id": 0}
"""As another process asks for it, by a signal. No request of the server has this id."""


class InputEnded(Exception):
    """The server closed the pipe, or is gone."""


class IndexProcess:
    def __init__(self, folders: Sequence[Path], cache: Path, most_bytes: int, *, fresh: bool) -> None:
        self._inbox: queue.SimpleQueue[tuple[float, Message | None]] = queue.SimpleQueue()
        self._deferred: deque[tuple[float, Message]] = deque()
        self._output = sys.stdout.buffer
        self._status: IndexStatus | None = None
        self._told = 0.0
        self._permits = 0
        self._keeper = Keeper(cache)
        self._scanner = Scanner(folders)
        if sys.platform != "win32":  # before the lock says that this process can be asked
            signal.signal(signal.SIGUSR1, lambda *_: self._inbox.put((time.monotonic(), REBUILD)))
        self._keeper.open(fresh=fresh)
        self._engine = Engine(folders, self._keeper, self._scanner, self._permit, self._scanned, most_bytes)

    def run(self) -> None:
        threading.Thread(target=self._read, name="input", daemon=True).start()
        try:
            self._engine.rescan()
            is_busy = True
            while True:
                self._tell_status(now=not is_busy)
                while (arrived := self._next(is_busy=is_busy)) is not None:
                    self._handle(*arrived)
                    is_busy = True
                is_busy = self._engine.step()
        except InputEnded:
            self._engine.abandon()
        finally:
            with contextlib.suppress(Exception):
                self._scanner.close()

    def tell_failure(self, error: Exception) -> None:
        reason = f"the index process failed: {type(error).__name__}: {error}"
        with contextlib.suppress(InputEnded):
            self._send({"status": to_json(IndexStatus(IndexState.FAILED, reason=reason))})

    def _next(self, *, is_busy: bool) -> tuple[float, Message] | None:
        if self._deferred:
            return self._deferred.popleft()
        try:
            if is_busy:
                at, message = self._inbox.get_nowait()
            else:
                at, message = self._inbox.get(timeout=WAIT_SECONDS if self._engine.is_waiting else None)
        except queue.Empty:
            return None
        if message is None:
            raise InputEnded
        return at, message

    def _handle(self, at: float, message: Message) -> None:
        engine = self._engine
        match message["do"]:
            case "ask":
                self._answer(at, message)
            case "text":
                engine.show_text(message["path"], message["text"])
            case "changed":
                engine.files_changed(message["paths"])
            case "scanned":
                engine.take_scan(message["found"])
            case "rescan":
                engine.rescan()
            case "rules":
                engine.rules_changed()
            case "rebuild":
                self._rebuild(message)

    def _rebuild(self, message: Message) -> None:
        try:
            self._engine.rebuild()
        except ToolError as error:
            self._send(_failure(message, error))
        else:
            self._tell_status(now=True)
            self._send({"id": message["id"], "answer": {}})

    def _answer(self, at: float, message: Message) -> None:
        try:
            found = self._engine.answer(question_from_json(message), waited=time.monotonic() - at)
        except (ValueError, KeyError, TypeError) as error:
            failed = {"code": "internal", "message": f"the index cannot answer this: {error!r}", "hint": ""}
            self._send({"id": message["id"], "failed": failed})
        except ToolError as error:
            self._send(_failure(message, error))
        else:
            self._send({"id": message["id"], "answer": to_json(found)})

    def _permit(self, paths: Sequence[str]) -> Sequence[bool]:
        """Ask the server which of these files may be indexed. What else arrives meanwhile is handled later."""
        self._permits += 1
        self._send({"id": self._permits, "may": [*paths]})
        while True:
            at, message = self._inbox.get()
            if message is None:
                raise InputEnded
            if message["do"] == "may" and message["id"] == self._permits:
                answers: list[bool] = message["answers"]
                return answers
            self._deferred.append((at, message))

    def _scanned(self, found: list[Seen] | ToolError) -> None:
        self._inbox.put((time.monotonic(), {"do": "scanned", "found": found}))

    def _tell_status(self, *, now: bool) -> None:
        if not now and time.monotonic() < self._told + STATUS_SECONDS:
            return
        status = self._engine.status()
        if status != self._status:
            self._status, self._told = status, time.monotonic()
            self._send({"status": to_json(status)})

    def _send(self, message: Message) -> None:
        try:
            self._output.write(json.dumps(message).encode() + b"\n")
            self._output.flush()
        except OSError:
            raise InputEnded from None

    def _read(self) -> None:
        for line in sys.stdin.buffer:
            self._inbox.put((time.monotonic(), json.loads(line)))
        self._inbox.put((time.monotonic(), None))
        time.sleep(END_SECONDS)
        os._exit(0)  # the other thread is in something long


def _failure(message: Message, error: ToolError) -> Message:
    failed = {"code": error.code, "message": error.message, "hint": error.hint}
    return {"id": message["id"], "failed": failed}


def main() -> None:
    os.umask(0o077)
    lower_priority()
    arguments = json.loads(sys.argv[1])
    folders = [Path(folder) for folder in arguments["folders"]]
    process = IndexProcess(folders, Path(arguments["cache"]), arguments["mostBytes"], fresh=arguments["fresh"])
    try:
        process.run()
    except Exception as error:  # noqa: BLE001  # the server starts another process; it shall know why
        process.tell_failure(error)
        os._exit(1)
    os._exit(0)  # threads of tantivy are not waited for


if __name__ == "__main__":
    main()
