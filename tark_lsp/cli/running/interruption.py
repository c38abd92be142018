"""What ends a run early: SIGTERM, SIGHUP and a closed output do the same as Ctrl-C, with exit codes of their own."""

import os
import signal
import sys
import threading
from _thread import interrupt_main
from collections.abc import Callable
from types import FrameType

from rich.console import Console

from tark_lsp.cli.discard import discard
from tark_lsp.cli.running.result import ExitCode

CODES = {
    getattr(signal, name): code
    for name, code in {"SIGHUP": ExitCode.HANGUP, "SIGTERM": ExitCode.TERMINATED}.items()
    if hasattr(signal, name)  # Windows has no SIGHUP
}


class Interruption:
    """`code`: the exit code of a run that is cancelled. Only the first interruption cancels, because a terminal that
    closes sends SIGHUP more than once, and a second Ctrl-C would kill the server.
    """

    def __init__(self) -> None:
        self.code = ExitCode.CANCELLED
        self._running = True

    def listen(self) -> None:
        """Handles the signals from now on. One that is ignored stays ignored (nohup)."""
        for number in CODES:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._received)

    def stop(self) -> None:
        """The run is over, and only its result is written. A signal ends the program now."""
        self._running = False
        for number in CODES:
            if signal.getsignal(number) == self._received:
                signal.signal(number, signal.SIG_DFL)

    def output_closed(self) -> None:
        """The reader of the output is gone."""
        self._interrupt(ExitCode.CLOSED, None)

    def _received(self, number: int, frame: FrameType | None) -> None:
        self._interrupt(CODES[number], frame)

    def _interrupt(self, code: ExitCode, frame: FrameType | None) -> None:
        if self.code is not ExitCode.CANCELLED:
            return
        self.code = code
        if not self._running:
            return
        if threading.current_thread() is not threading.main_thread():  # it says that standard input does not end
            interrupt_main()
            return
        if code is ExitCode.HANGUP:
            for descriptor in (1, 2):
                if os.isatty(descriptor):
                    discard(descriptor)
        handler = signal.getsignal(signal.SIGINT)
        # If SIGINT is ignored, as in background jobs of a script, this signal is not.
        (handler if callable(handler) else signal.default_int_handler)(signal.SIGINT, frame)


class ProgressConsole(Console):
    """Standard error. If its reader is gone, `closed` is called, and the rest is discarded."""

    def __init__(self, closed: Callable[[], None], *, quiet: bool) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, quiet=quiet, stderr=True)
        self._closed = closed

    def on_broken_pipe(self) -> None:
        self.quiet = True
        discard(sys.stderr.fileno())
        self._closed()
