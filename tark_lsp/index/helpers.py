"""The processes that prepare files for the index (helper.py). A thread starts each process and waits for it.

The processes have a low priority. Their threads do not: while one of them holds the GIL, all other threads wait.
"""

import contextlib
import json
import os
import queue
import select
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeAlias

from tark_lsp.index.prepared import LENGTH_BYTES, Prepared, from_bytes, prepare

PROGRAM = (sys.executable, "-P", "-m", "tark_lsp.index.helper")
MOST_HELPERS = 3
FAILED = "its parsing failed"
ATTEMPTS = 2
"""A file is skipped until it changes if this many helpers died on it."""
MOST_FILES = 10_000
"""After this many files, a helper is replaced: it grows by a megabyte per thousand files."""
IDLE_SECONDS = 10.0
"""After this time, a helper ends to free its memory."""
ANSWER_SECONDS = 60.0
"""For one file. A grammar has a limit of 1 s of CPU time, but checks it only now and then."""

Prepare: TypeAlias = Callable[[str, bytes], Future[Prepared | None]]
"""Called with a path and a known hash, like `prepare`."""


def prepare_here(path: str, known: bytes) -> Future[Prepared | None]:
    """Prepare a file in this process."""
    future: Future[Prepared | None] = Future()
    future.set_result(prepare(path, known))
    return future


class HelperDied(Exception):
    """The helper ended, or did not answer in time."""


class Helper:
    """One process. Call all methods except `kill` on one thread."""

    def __init__(self) -> None:
        """Raises OSError."""
        self._process = subprocess.Popen(
            PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.files = 0

    def prepare(self, path: str, known: bytes) -> Prepared | None:
        """Raises HelperDied."""
        self.files += 1
        questions, answers = self._process.stdin, self._process.stdout
        assert questions is not None
        assert answers is not None
        try:
            questions.write(json.dumps([path, known.hex()]).encode() + b"\n")
            questions.flush()
            if sys.platform != "win32" and not select.select([answers], [], [], ANSWER_SECONDS)[0]:
                raise HelperDied
            length = int.from_bytes(answers.read(LENGTH_BYTES))
            return from_bytes(answers.read(length))
        except (OSError, ValueError, TypeError) as error:
            raise HelperDied from error

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()


class Helpers:
    """`prepare` can be called on any thread. Helpers are started when they are needed."""

    def __init__(self, count: int = min(MOST_HELPERS, os.cpu_count() or 1)) -> None:
        self._jobs: queue.SimpleQueue[tuple[str, bytes, Future[Prepared | None]] | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._run, name="helper", daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def prepare(self, path: str, known: bytes) -> Future[Prepared | None]:
        """The result has the reason `FAILED` if no helper survived the file."""
        future: Future[Prepared | None] = Future()
        self._jobs.put((path, known, future))
        return future

    def close(self) -> None:
        """End all helpers. Calls that come after this are not run."""
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def _run(self) -> None:
        helper: Helper | None = None
        while True:
            try:
                job = self._jobs.get(timeout=IDLE_SECONDS if helper is not None else None)
            except queue.Empty:
                _end(helper)
                helper = None
                continue
            if job is None:
                _end(helper)
                return
            path, known, future = job
            if future.set_running_or_notify_cancel():
                helper = _work(helper, path, known, future)
            if helper is not None and helper.files >= MOST_FILES:
                _end(helper)
                helper = None


def _end(helper: Helper | None) -> None:
    if helper is not None:
        helper.kill()


def _work(helper: Helper | None, path: str, known: bytes, future: Future[Prepared | None]) -> Helper | None:
    """Returns the helper that is running afterwards, if any."""
    try:
        for _ in range(ATTEMPTS):
            helper = helper or Helper()
            try:
                future.set_result(helper.prepare(path, known))
            except HelperDied:
                _end(helper)
                helper = None
            else:
                return helper
        future.set_result(Prepared(b"", -1, -1, FAILED))
    except OSError as error:
        future.set_exception(error)
    return helper
