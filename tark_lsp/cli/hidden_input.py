"""Asks for a secret: the terminal does not show what you type."""

import os
import sys
from contextlib import suppress

from tark_lsp.errors import SettingsError

CTRL_C = b"\x03"


def ask_hidden(question: str, *, hint: str) -> str:
    """Write `question` to standard error, and return the line that the user types, without its end.

    What was typed before the question is dropped. Raises EOFError for Ctrl-D or if the terminal closes,
    KeyboardInterrupt for Ctrl-C, SettingsError with `hint` if the terminal would show what is typed.
    """
    if sys.platform == "win32":
        from getpass import getpass  # it reads keys: nothing is shown, and Ctrl-C is a key

        return getpass(question)
    import termios

    terminal = sys.stdin.fileno()
    try:
        before, hidden = termios.tcgetattr(terminal), termios.tcgetattr(terminal)
        # Ctrl-C ends the line, and is its last character. As a signal it can be lost: if it arrives after Python has
        # checked for signals and before `read` waits, Python notices it only after the next key. `getpass` loses it.
        hidden[3] = hidden[3] & ~(termios.ECHO | termios.ISIG) | termios.ICANON
        hidden[6][termios.VEOL] = CTRL_C
        termios.tcsetattr(terminal, termios.TCSAFLUSH, hidden)
    except termios.error as error:
        raise SettingsError("this terminal would show what you type", hint=hint) from error
    try:
        sys.stderr.write(question)
        sys.stderr.flush()
        return _read_line(terminal).decode("utf-8", "replace")
    finally:
        with suppress(termios.error):  # the terminal is closed
            termios.tcsetattr(terminal, termios.TCSAFLUSH, before)
        sys.stderr.write("\n")
        sys.stderr.flush()


def _read_line(terminal: int) -> bytes:
    typed = b""
    while not typed.endswith((b"\n", CTRL_C)):
        try:
            more = os.read(terminal, 4096)
        except OSError as error:
            raise EOFError("the terminal is closed") from error
        if not more:
            raise EOFError("the input ended")
        typed += more
    if typed.endswith(CTRL_C):
        raise KeyboardInterrupt
    return typed[:-1]
