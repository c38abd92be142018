"""Asks the system's keyring in a child process, which ends when it is idle for a while (keyring_program.py)."""

import contextlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

PROGRAM = (sys.executable, "-P", "-m", "tark_lsp.llm.keys.keyring_program")
"""-P: the current folder is the user's workspace, and nothing may be imported from there."""

IDLE_SECONDS = 5.0
"""The process is kept this long: a turn's requests ask one after another, and starting the process takes 0.2 s."""

PAUSE_SECONDS = 60.0
"""How long a keyring that did not answer is not asked again, because each request would wait for a timeout."""


class KeyringFailed(Exception):
    """The text follows the words "the keyring"."""


class KeyringProcess:
    """Callable from any thread; asks one question at a time. The process gets the whole environment, because a keyring
    finds its service there (D-Bus, the desktop).
    """

    def __init__(self, program: Sequence[str] = PROGRAM, *, idle_seconds: float = IDLE_SECONDS) -> None:
        self._program = program
        self._idle_seconds = idle_seconds
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._idle: threading.Timer | None = None
        self._left_alone_until = 0.0
        self._missing = False

    def __call__(self, question: dict[str, str], seconds: float) -> Any:
        """The value of the answer (keyring_program.py); None if there is no keyring, which is not asked about again.
        Blocks for `seconds` at most, after the callers before this one. Raises KeyringFailed.
        """
        with self._lock:
            if self._missing:
                return None
            if time.monotonic() < self._left_alone_until:
                raise KeyringFailed("did not answer")
            if self._idle is not None:
                self._idle.cancel()
            answer = self._ask(question, seconds)
            self._missing = "missing" in answer
            if self._missing:
                self._end()
                return None
            self._idle = threading.Timer(self._idle_seconds, self._end_if_idle)
            self._idle.daemon = True
            self._idle.start()
        if "failed" in answer:
            raise KeyringFailed(f"failed ({answer['failed']})")
        return answer["value"]

    def _ask(self, question: dict[str, str], seconds: float) -> dict[str, Any]:
        late = threading.Event()

        def give_up() -> None:
            late.set()
            process.kill()

        try:
            process = self._started()
            timer = threading.Timer(seconds, give_up)
            timer.daemon = True
            timer.start()
            try:
                line = _exchange(process, json.dumps(question).encode())
            finally:
                timer.cancel()
            answer = json.loads(line) if line else None
        except (OSError, ValueError) as error:
            self._end()
            raise KeyringFailed(f"failed ({type(error).__name__})") from None
        if late.is_set():
            self._end()
            self._left_alone_until = time.monotonic() + PAUSE_SECONDS
            raise KeyringFailed(f"did not answer within {seconds:g} s")
        if not isinstance(answer, dict):
            self._end()
            raise KeyringFailed("failed (its process ended)")
        return answer

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            pipe = subprocess.PIPE
            # What a backend writes to standard error could contain a secret.
            self._process = subprocess.Popen(self._program, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        return self._process

    def _end_if_idle(self) -> None:
        with self._lock:
            # A question may have come between the end of this timer and its lock.
            if self._idle is threading.current_thread():
                self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # a question that could not be written
                    pipe.close()
        process.wait()


def _exchange(process: subprocess.Popen[bytes], line: bytes) -> bytes:
    """The line that the program answers; empty if it ended. Raises OSError."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line + b"\n")
    process.stdin.flush()
    return process.stdout.readline()
