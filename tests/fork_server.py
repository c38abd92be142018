"""Starts `tark-lsp` for the tests: a Python that has imported everything, and forks for each start.

What it starts is a process of its own, with its own folder, environment, terminal and signals. A start takes 0.02
seconds of the processor; a new Python takes 0.5, or 0.9 if it is a server. Two ask for a start: `tests/forked.py`, and
the terminal's client, which starts its server (`tests/fork_shim.py`).
"""

import asyncio
import atexit
import contextlib
import fcntl
import gc
import importlib
import marshal
import os
import pkgutil
import selectors
import shutil
import signal
import socket
import sys
import termios
import threading
import traceback
from pathlib import Path
from typing import Any

import tark_lsp
from tark_lsp import processes
from tark_lsp.cli import main as tark_lsp_main
from tark_lsp.server.connection.lazy_lsprotocol import import_lsprotocol

PROGRAM = Path(tark_lsp.__file__).with_name("__main__.py")
SHIM = Path(__file__).with_name("fork_shim.py")
RUN_ONLY = ("tark_lsp.__main__", "tark_lsp.llm.catalog.price_lookup")
"""Modules that are programs."""

IMPORTED_LATE = ("anyio._backends._asyncio", "httpx", "pydantic.type_adapter", "pygls.progress")
"""What our modules, and those that they use, import when it is first needed."""


class ForkServer:
    """One connection for each process: it brings the request, and is told the process id and the exit code.

    If it is closed early, the process is killed. A connection without a request keeps the fork server alive.
    """

    def __init__(self, listener: socket.socket, folder: Path) -> None:
        """`folder`: `tests/forked.py` looks there for what a process writes if it does not end."""
        self._listener = listener
        self._folder = folder
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ)
        self._ended, ended = socket.socketpair()
        for end in (self._ended, ended):
            end.setblocking(False)
        self._selector.register(self._ended, selectors.EVENT_READ)
        self._wakes_us = ended
        self._running: dict[int, socket.socket] = {}
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(ended.fileno())

    def next_process(self) -> list[str] | None:
        """Serves. Returns in each new process, with its arguments; and here, with None, if nobody is connected."""
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._listener:
                    self._selector.register(self._listener.accept()[0], selectors.EVENT_READ)
                elif key.fileobj is self._ended:
                    self._reap()
                elif (arguments := self._receive(key.fileobj)) is not None:
                    return arguments
            if len(self._selector.get_map()) == len((self._listener, self._ended)):
                return None

    def _receive(self, connection: Any) -> list[str] | None:
        try:
            head, fds, _, _ = socket.recv_fds(connection, 4, 3)
        except ConnectionResetError:  # closed before our answer was read
            head, fds = b"", []
        if not head:
            self._hang_up(connection)
            return None
        with connection.makefile("rb") as stream:
            request = marshal.loads(stream.read(int.from_bytes(head, "big")))
        if (pid := os.fork()) == 0:
            self._let_go()
            signal.signal(signal.SIGUSR1, lambda *_: _write_stacks(self._folder))
            return _become(fds, *request)
        for fd in fds:
            os.close(fd)
        self._running[pid] = connection
        _tell(connection, pid)
        return None

    def _hang_up(self, connection: socket.socket) -> None:
        self._selector.unregister(connection)
        connection.close()
        for pid, other in self._running.items():
            if other is connection:
                os.kill(pid, signal.SIGKILL)

    def _reap(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._ended.recv(4096)
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                connection = self._running.pop(ended[0])
                if connection.fileno() >= 0:
                    _tell(connection, os.waitstatus_to_exitcode(ended[1]))

    def _let_go(self) -> None:
        """In a new process: nothing of this one is left."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]  # all are sockets
        self._wakes_us.close()
        self._selector.close()


def _tell(connection: socket.socket, number: int) -> None:
    with contextlib.suppress(OSError):  # nobody waits for it
        connection.sendall(b"%d\n" % number)


def _write_stacks(folder: Path) -> None:
    """What each thread and each task of this process is doing."""
    with (folder / f"{os.getpid()}.stacks").open("w", encoding="utf-8") as file:
        for frame in sys._current_frames().values():
            traceback.print_stack(frame, file=file)
            print(file=file)
        with contextlib.suppress(RuntimeError):  # no loop runs
            for task in asyncio.all_tasks():
                task.print_stack(file=file)


def _become(fds: list[int], arguments: list[str], cwd: str, env: dict[str, str], fresh: bool) -> list[str]:
    """This new process gets what it is to have. `fresh`: it starts a new Python."""
    os.setsid()
    for at, fd in enumerate(fds):
        os.dup2(fd, at)
        os.close(fd)
    if os.isatty(0):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(cwd)
    if fresh:
        os.execve(sys.executable, [sys.executable, "-m", "tark_lsp", *arguments], env)
    os.environ.clear()
    os.environ.update(env)
    sys.stdout.reconfigure(line_buffering=os.isatty(1))  # type: ignore[union-attr]  # it is a text stream
    return arguments


def _import_all(path: str) -> None:
    processes.OWN_SERVER = (sys.executable, "-IS", str(SHIM), path)

    import_lsprotocol()
    for module in pkgutil.walk_packages(tark_lsp.__path__, "tark_lsp."):
        if module.name not in RUN_ONLY:
            importlib.import_module(module.name)
    for name in IMPORTED_LATE:
        importlib.import_module(name)


class Ending:
    """Ends a process without taking apart all that was imported, which takes 0.06 seconds and finds nothing."""

    code = 1
    """That of an exception which is not caught."""

    def __call__(self) -> None:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(self.code)


def main(path: str) -> None:
    ending = Ending()
    os.setsid()  # Ctrl-C in the terminal of the tests is not for us
    atexit.register(ending)  # the first one: all others run before it
    _import_all(path)
    gc.collect()
    gc.freeze()  # what nobody looks through stays shared
    assert threading.active_count() == 1, "a fork has no other threads, but it would have their locks"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    print("ready", flush=True)
    if (arguments := ForkServer(listener, Path(path).parent).next_process()) is None:
        shutil.rmtree(Path(path).parent)
        ending.code = 0
        return
    sys.argv = [str(PROGRAM), *arguments]
    try:
        ending.code = tark_lsp_main()
    except SystemExit as end:
        ending.code = end.code if isinstance(end.code, int) else 1


if __name__ == "__main__":
    main(sys.argv[1])
