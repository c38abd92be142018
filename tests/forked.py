"""Starts `tark-lsp` fast: as a fork of a Python that has imported everything (`tests/fork_server.py`).

The first test that needs it starts it, for all processes of the test run.
"""

import fcntl
import marshal
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

SERVER = Path(__file__).with_name("fork_server.py")
SECONDS = 60
STACKS_SECONDS = 5
KEPT = ("PATH", "LANG", "TMPDIR", "PYTHONPATH")
"""Variables that a program of a test has from the machine."""

AT_START = ("PYTHON", "LC_", "LANG")
"""Beginnings of variables that Python reads when it starts."""


def kept_environment() -> dict[str, str]:
    return {name: os.environ[name] for name in KEPT if name in os.environ}


class Program:
    """A running `tark-lsp`. If the test loses it, it is killed.

    `streams` are its stdin, stdout and stderr. It has a session of its own, with their terminal if they are one.
    `fresh`: it is a new Python that imports everything itself, and so is its server.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        streams: Sequence[int],
        *,
        fresh: bool = False,
    ) -> None:
        self._fresh = fresh = fresh or _at_start(env) != _at_start(kept_environment())
        request = marshal.dumps((list(arguments), str(cwd), dict(env), fresh))
        self._connection = _connect(fork_server())
        socket.send_fds(self._connection, [len(request).to_bytes(4, "big")], streams)
        self._connection.sendall(request)
        self._told = b""
        self.pid = self._number(0, SECONDS)

    def wait(self, seconds: float = SECONDS) -> int:
        """Its exit code, or minus the signal that ended it. Raises TimeoutError, with the stacks of the process."""
        try:
            code = self._number(1, seconds)
        except TimeoutError:
            raise TimeoutError(f"process {self.pid} does not end:\n{self._stacks()}") from None
        self._connection.close()
        return code

    def __del__(self) -> None:
        self._connection.close()

    def kill(self) -> None:
        """End it at once, if it has not ended."""
        if self._told.count(b"\n") < 2:
            os.kill(self.pid, signal.SIGKILL)

    def _stacks(self) -> str:
        """What it is doing; nothing if it is `fresh`, or does not answer."""
        file = fork_server().with_name(f"{self.pid}.stacks")
        if not self._fresh:
            os.kill(self.pid, signal.SIGUSR1)
            end = time.monotonic() + STACKS_SECONDS
            while not (file.exists() and file.read_text(encoding="utf-8")) and time.monotonic() < end:
                time.sleep(0.05)
        return file.read_text(encoding="utf-8") if file.exists() else ""

    def _number(self, which: int, seconds: float) -> int:
        """The process id, or the exit code."""
        while self._told.count(b"\n") <= which:
            self._connection.settimeout(seconds)
            more = self._connection.recv(64)
            assert more, "the fork server has ended"
            self._told += more
        return int(self._told.split()[which])


def run(
    arguments: Sequence[str], cwd: Path, env: Mapping[str, str], given: bytes = b"", *, fresh: bool = False
) -> "subprocess.CompletedProcess[bytes]":
    """Run it to its end, without a terminal. `given` is its standard input."""
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        stdin.write(given)
        stdin.seek(0)
        program = Program(arguments, cwd, env, [stream.fileno() for stream in (stdin, stdout, stderr)], fresh=fresh)
        code = program.wait()
        written = []
        for stream in (stdout, stderr):
            stream.seek(0)
            written.append(stream.read())
    return subprocess.CompletedProcess(list(arguments), code, *written)


def _at_start(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith(AT_START)}


def _connect(path: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(str(path))
    except OSError:
        connection.close()
        raise
    return connection


_connected: list[tuple[Path, socket.socket]] = []


def fork_server() -> Path:
    """The socket of the running one, or of a new one. It stays until no process of the test run is connected."""
    if not _connected:
        run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
        folder = Path(tempfile.gettempdir()) / f"tark-tests-{run}"
        folder.mkdir(mode=0o700, exist_ok=True)
        path = folder / "socket"
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                connection = _connect(path)
            except OSError:
                _start(path)
                connection = _connect(path)
        _connected.append((path, connection))
    return _connected[0][0]


def disconnect() -> None:
    """At the end of the tests."""
    while _connected:
        _connected.pop()[1].close()


def _start(path: Path) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        # Python remembers of its standard streams that they have no positions, which is right for files, too.
        streams = [(os.POSIX_SPAWN_DUP2, theirs.fileno(), stream) for stream in (0, 1)]
        arguments = [sys.executable, "-P", str(SERVER), str(path)]
        os.posix_spawn(sys.executable, arguments, kept_environment(), file_actions=streams)
        theirs.close()
        assert ours.recv(16) == b"ready\n", "the fork server does not start"
