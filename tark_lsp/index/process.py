"""The index process: `python -P -m tark_lsp.index.process`. It answers JSON lines from the server (client.py).

One thread handles messages, another indexes in small steps. They take turns (`_turn`), and messages go first. Both have
the normal priority, because a question would otherwise wait for a thread that gets no CPU time. Slow work has a low
priority and needs no turn: the helpers and the commits of words. Two more threads read the input and list files. When
the input ends, the process always ends.
"""

import contextlib
import json
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from tark_lsp.errors import ToolError
from tark_lsp.index.engine import Engine
from tark_lsp.index.file_rows import Seen
from tark_lsp.index.json_values import question_from_json, to_json
from tark_lsp.index.keeper import Keeper
from tark_lsp.index.memory import trim_memory
from tark_lsp.index.parsing_apart import limit_memory
from tark_lsp.index.scanning import Scanner
from tark_lsp.index.status import IndexState, IndexStatus

WAIT_SECONDS = 0.5
"""How long a process that cannot write the index waits before it checks again."""
END_SECONDS = 0.2
STATUS_SECONDS = 0.2
MOST_MEMORY = 800_000_000
"""Bytes. A grammar can exhaust the memory in one step. With this limit, it ends only this process."""
URGENT = frozenset({"ask", "changed", "text"})
QUIET_SECONDS, MOST_QUIET_SECONDS = 0.1, 1.0
"""After an URGENT message, the next step of indexing waits for QUIET_SECONDS: a question often follows directly. It
never waits longer than MOST_QUIET_SECONDS."""

Message = Mapping[str, Any]


REBUILD: Message = {"do": "rebuild", "id": 0}
"""The message for a rebuild that another process requests with a signal. No request of the server has this id."""


class InputEnded(Exception):
    """The server closed the pipe or has ended."""


class IndexProcess:
    def __init__(self, folders: Sequence[Path], cache: Path, most_bytes: int, *, fresh: bool) -> None:
        self._inbox: queue.SimpleQueue[tuple[float, Message] | None] = queue.SimpleQueue()
        self._permits: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._permit_number = 0
        self._turn = threading.Lock()
        self._no_message = threading.Event()
        self._work = threading.Event()
        self._ready = threading.Event()
        self._wanted = threading.Event()
        """Set while a request waits until everything is indexed."""
        self._handled = 0.0
        """The time of the last urgent message."""
        self._settling: list[int] = []
        self._status: IndexStatus | None = None
        self._told = 0.0
        self._fresh = fresh
        self._keeper = Keeper(cache)
        self._scanner = Scanner(folders)
        self._new_engine = partial(
            Engine, folders, self._keeper, self._scanner, self._permit, self._scanned, most_bytes
        )
        if sys.platform != "win32":  # before the process takes the lock, which shows others where to send the signal
            signal.signal(signal.SIGUSR1, lambda *_: self._inbox.put((time.monotonic(), REBUILD)))

    def run(self) -> None:
        """Handle messages until the input ends."""
        threading.Thread(target=self._read, name="input", daemon=True).start()
        threading.Thread(target=self._index, name="indexer", daemon=True).start()
        self._ready.wait()
        while (arrived := self._inbox.get()) is not None:
            self._no_message.clear()
            with self._turn:
                try:
                    self._handle(*arrived)
                except InputEnded:
                    break
                finally:
                    if arrived[1]["do"] in URGENT:
                        self._handled = time.monotonic()
                    if self._inbox.empty():
                        self._no_message.set()
            self._work.set()
        if self._turn.acquire(timeout=END_SECONDS):
            self._engine.abandon()
        self._scanner.close()

    def _index(self) -> None:
        """Run in the thread that indexes."""
        try:
            with self._turn:
                self._keeper.open(fresh=self._fresh)
                self._engine = self._new_engine()
                self._tell_status(now=True)
            self._no_message.set()
            self._ready.set()
            was_busy = False
            while True:
                self._no_message.wait()
                self._wait_for_quiet()
                with self._turn:
                    is_busy = self._engine.step()
                    self._tell_status(now=not is_busy)
                    if not is_busy and self._engine.is_settled:
                        self._tell_settled()
                if was_busy and not is_busy:
                    trim_memory()  # tantivy merges segments after the last commit
                was_busy = is_busy
                if not is_busy:
                    self._work.wait(WAIT_SECONDS if self._engine.is_waiting else None)
                    self._work.clear()
        except InputEnded:
            self._ready.set()
        except Exception as error:  # noqa: BLE001  # the server starts another process and needs the reason
            self.fail(error)

    def _wait_for_quiet(self) -> None:
        most = time.monotonic() + MOST_QUIET_SECONDS
        while not self._settling and (left := min(self._handled + QUIET_SECONDS, most) - time.monotonic()) > 0:
            self._wanted.wait(left)

    def fail(self, error: Exception) -> NoReturn:
        reason = f"the index process failed: {type(error).__name__}: {error}"
        with contextlib.suppress(InputEnded):
            self._send({"status": to_json(IndexStatus(IndexState.FAILED, reason=reason))})
        os._exit(1)

    def _handle(self, at: float, message: Message) -> None:
        engine = self._engine
        match message["do"]:
            case "ask":
                self._answer(at, message)
            case "text":
                self._show_text(message)
            case "changed":
                engine.files_changed(message["paths"])
            case "scanned":
                engine.take_scan(message["found"])
            case "settle":
                self._settling.append(message["id"])
                self._wanted.set()
            case "rescan":
                engine.rescan()
            case "vectors":
                engine.use_vectors(message["embedder"])
            case "rules":
                engine.rules_changed()
            case "rebuild":
                self._rebuild(message)

    def _show_text(self, message: Message) -> None:
        """Report the text first. If its grammar ends this process, the server sends it to the next one with `plain`."""
        self._send({"parsing": "" if message["plain"] else message["path"]})
        self._engine.show_text(message["path"], message["text"], plain=message["plain"])
        self._send({"parsing": ""})

    def _rebuild(self, message: Message) -> None:
        try:
            self._engine.rebuild()
        except ToolError as error:
            self._send(_failure(message, error))
        else:
            self._tell_status(now=True)
            self._send({"id": message["id"], "answer": {}})

    def _tell_settled(self) -> None:
        self._wanted.clear()
        while self._settling:
            self._send({"id": self._settling.pop(), "answer": {}})

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
        """Ask the server which of these files may be indexed."""
        self._permit_number += 1
        self._send({"id": self._permit_number, "may": [*paths]})
        message = self._permits.get()
        if message is None:
            raise InputEnded
        answers: list[bool] = message["answers"]
        return answers

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
        """Call only while holding `_turn`."""
        try:
            sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
            sys.stdout.buffer.flush()
        except OSError:
            raise InputEnded from None

    def _read(self) -> None:
        for line in sys.stdin.buffer:
            message = json.loads(line)
            if message["do"] == "may":
                self._permits.put(message)
            else:
                self._inbox.put((time.monotonic(), message))
        self._permits.put(None)
        self._inbox.put(None)
        time.sleep(END_SECONDS)
        os._exit(0)  # the other threads are busy for longer


def _failure(message: Message, error: ToolError) -> Message:
    failed = {"code": error.code, "message": error.message, "hint": error.hint}
    return {"id": message["id"], "failed": failed}


def main() -> None:
    os.umask(0o077)
    limit_memory(MOST_MEMORY)
    arguments = json.loads(sys.argv[1])
    folders = [Path(folder) for folder in arguments["folders"]]
    process = IndexProcess(folders, Path(arguments["cache"]), arguments["mostBytes"], fresh=arguments["fresh"])
    try:
        process.run()
    except Exception as error:  # noqa: BLE001  # see IndexProcess._index
        process.fail(error)
    os._exit(0)  # do not wait for other threads


if __name__ == "__main__":
    main()
