"""What ends a run early: SIGTERM, SIGHUP and a closed output do the same as Ctrl-C, with exit codes of their own."""

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

from rich.console import Console

from tark_lsp.cli.discard import discard
from tark_lsp.cli.running.result import ExitCode

CODES = {"SIGHUP": ExitCode.HANGUP, "SIGTERM": ExitCode.TERMINATED}


class Interruption:
    """`code`: the exit code of a run that is cancelled. Only the first interruption cancels, because a terminal that
    closes sends SIGHUP more than once, and a second Ctrl-C would kill the server.
    """

    def __init__(self) -> None:
        self.code = ExitCode.CANCELLED

    def listen(self) -> None:
        """Handles the signals from now on. One that is ignored stays ignored (nohup)."""
        for name, code in CODES.items():
            number = getattr(signal, name, None)  # Windows has no SIGHUP
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, lambda _, frame, code=code: self._interrupt(code, frame))

    def output_closed(self) -> None:
        """The reader of the output is gone."""
        self._interrupt(ExitCode.CLOSED, None)

    def _interrupt(self, code: ExitCode, frame: FrameType | None) -> None:
        if self.code is not ExitCode.CANCELLED:
            return
        self.code = code
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
