"""Runs `tark-lsp` as a person does: in a terminal of its own (a real pty), or with no terminal, and nothing of the
machine's own settings or keys in its environment.

Each is a process of its own, started by `tests/forked.py`: with `fresh` it is a new Python, for what only that shows.
"""

import fcntl
import os
import pty
import re
import shlex
import struct
import subprocess
import termios
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pexpect import EOF, fdpexpect

from tark_lsp.processes import OWN_SERVER
from tests import forked

SECONDS = 60
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def environment(home: Path, **more: str) -> dict[str, str]:
    own = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), "XDG_STATE_HOME": str(home / "state")}
    own["TARK_KEYRING"] = own["TARK_SANDBOX"] = "off"
    return {**forked.kept_environment(), **own, "TERM": "xterm-256color", "NO_PROXY": "*", **more}


def configure(home: Path, toml: str) -> None:
    """The person's config.toml."""
    (home / "config" / "tark").mkdir(parents=True)
    (home / "config" / "tark" / "config.toml").write_text(toml, encoding="utf-8")


class Shell:
    """An interactive shell whose first command is `tark-lsp`: only a shell can continue what Ctrl-Z has stopped."""

    def __init__(self, arguments: Sequence[str], cwd: Path, env: dict[str, str], stream: int) -> None:
        shell = ["setsid", "--ctty", "bash", "--norc", "--noprofile", "-i"]
        self._process = subprocess.Popen(shell, cwd=cwd, env=env, stdin=stream, stdout=stream, stderr=stream)
        self.pid = self._process.pid
        self.first_command = shlex.join([*OWN_SERVER, *arguments]) + "\n"

    def wait(self) -> int:
        return self._process.wait(SECONDS)


class Pty:
    """A terminal, and the program that runs in it. `stream` reads what is written to it."""

    def __init__(
        self,
        arguments: Sequence[str],
        cwd: Path,
        env: dict[str, str],
        size: tuple[int, int],
        *,
        fresh: bool = False,
        shell: bool = False,
    ) -> None:
        """`size`: columns and rows."""
        self._end, theirs = pty.openpty()
        self.resize(*size)
        self.program: Shell | forked.Program
        if shell:
            self.program = Shell(arguments, cwd, env, theirs)
        else:
            self.program = forked.Program(arguments, cwd, env, [theirs] * 3, fresh=fresh)
        os.close(theirs)
        self.stream: Any = fdpexpect.fdspawn(self._end, timeout=SECONDS)
        if isinstance(self.program, Shell):
            self.stream.send(self.program.first_command)

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def close(self) -> None:
        """Close the terminal, if it is not closed; its program is told so (SIGHUP)."""
        self.stream.close()


class Terminal:
    """One command in a pty. `plain` is everything it has shown, less the escapes."""

    def __init__(self, arguments: Sequence[str], cwd: Path, env: dict[str, str], *, fresh: bool = False) -> None:
        self._pty = Pty(arguments, cwd, env, (160, 40), fresh=fresh)
        self.shown = ""

    def see(self, text: str) -> None:
        """Wait until `text` is shown."""
        stream = self._pty.stream
        stream.expect_exact(text.encode())
        self.shown += (stream.before + stream.after).decode()

    def type(self, line: str) -> None:
        self._pty.stream.send(line + "\n")

    @property
    def pid(self) -> int:
        return self._pty.program.pid

    def press(self, key: str) -> None:
        self._pty.stream.send(key)

    def press_ctrl_c(self) -> None:
        self.press("\x03")

    def end(self) -> int:
        """Wait for the end; the exit code (minus the signal, if one ended it)."""
        self._pty.stream.expect(EOF)
        self.shown += self._pty.stream.before.decode()
        code = self._pty.program.wait()
        self._pty.close()
        return code

    @property
    def plain(self) -> str:
        return _ESCAPES.sub("", self.shown).replace("\r\n", "\n")


def without_terminal(
    arguments: Sequence[str], cwd: Path, env: dict[str, str], given: str = "", *, fresh: bool = False
) -> "subprocess.CompletedProcess[str]":
    """`given` is its standard input."""
    done = forked.run(arguments, cwd, env, given.encode(), fresh=fresh)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())
