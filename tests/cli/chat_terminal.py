"""`tark-lsp chat` in a terminal that really is one: a pty whose screen is kept by pyte, scrolled lines included."""

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pexpect
import pyte

from tark_lsp.cli.chatting.question_prompt import AFTER_ANSWER_SECONDS
from tests.cli.terminal import Pty, configure, environment

SECONDS = 60
SCENARIO = Path(__file__).parent / "chat_scenario.toml"
READY = "❯"
ENTER, CTRL_C, CTRL_D, ALT_ENTER, TAB, UP = "\r", "\x03", "\x04", "\x1b\r", "\t", "\x1b[A"
CTRL_R, CTRL_V, CTRL_Z, CTRL_X_CTRL_E = "\x12", "\x16", "\x1a", "\x18\x05"
SHORT_QUIET = 1.2
"""Seconds: longer than keys are left undecided, or dropped after an answer."""


class ChatTerminal:
    """`raw` is every byte the terminal was sent."""

    def __init__(
        self,
        arguments: Sequence[str],
        cwd: Path,
        env: dict[str, str],
        size: tuple[int, int] = (120, 36),
        *,
        fresh: bool = False,
        shell: bool = False,
    ) -> None:
        columns, rows = size
        self._screen = pyte.HistoryScreen(columns, rows, history=10_000, ratio=1.0)
        self._stream = pyte.ByteStream(self._screen)
        self.raw = b""
        self._shown: str | None = None
        self._pty = Pty(["chat", *arguments], cwd, env, size, fresh=fresh, shell=shell)

    def read(self, seconds: float = 0.05) -> bool:
        """Take in what comes; False: the program has ended."""
        try:
            data = self._pty.stream.read_nonblocking(65536, seconds)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.raw += data
        self._shown = None
        self._stream.feed(data)
        return True

    @property
    def screen(self) -> list[str]:
        return [line.rstrip() for line in self._screen.display]

    @property
    def shown(self) -> str:
        """All lines, those scrolled away first."""
        if self._shown is None:
            gone = ["".join(line[at].data for at in range(self._screen.columns)) for line in self._screen.history.top]
            self._shown = "\n".join(line.rstrip() for line in [*gone, *self._screen.display])
        return self._shown

    @property
    def status(self) -> str:
        return next((line for line in reversed(self.screen) if line), "")

    def expect(self, text: str, *, times: int = 1) -> None:
        """Wait until `text` is shown (so often), on one line."""
        self.until(lambda: self.shown.count(text) >= times, text)

    def until(self, holds: Any, what: str = "") -> None:
        end = time.monotonic() + SECONDS
        while not holds():
            assert self.read() or holds(), f"it ended, without {what!r}:\n{self.shown}"
            assert time.monotonic() < end, f"not seen: {what!r}\n{self.shown}"

    def rest(self, seconds: float = SHORT_QUIET) -> None:
        """Let it go on for a while."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read()

    def send(self, keys: str) -> None:
        self._pty.stream.send(keys)

    def say(self, line: str) -> None:
        self.send(line + ENTER)

    def answer(self, question: str, line: str, *, times: int = 1) -> None:
        """Answer a question once it can be: it takes no keys while somebody types."""
        self.expect(question, times=times)
        self.rest()
        self.say(line)
        self.rest(AFTER_ANSWER_SECONDS * 2)

    def resize(self, columns: int, rows: int, *, wraps: bool = False) -> None:
        """`wraps`: like most terminals, this one wraps its lines anew; else what is too much is cut off."""
        if wraps:
            self._wrap_lines(columns, rows)
        else:
            self._screen.resize(rows, columns)
        self._shown = None
        self._pty.resize(columns, rows)

    def _wrap_lines(self, columns: int, rows: int) -> None:
        screen, lines, cursor = self._screen, list[str](), 0
        for number, line in enumerate(self.screen):
            if number == screen.cursor.y:
                cursor = len(lines) + screen.cursor.x // columns
            lines += [line[at : at + columns] for at in range(0, len(line), columns)] or [""]
        while len(lines) > max(rows, cursor + 1) and not lines[-1]:
            lines.pop()
        scrolled = max(0, len(lines) - rows)
        screen.erase_in_display(2)
        screen.resize(rows, columns)
        for number, line in enumerate(lines[scrolled:], 1):
            screen.cursor_position(number, 1)
            screen.draw(line)
        screen.cursor_position(max(1, cursor - scrolled + 1), 1)

    def server(self) -> int:
        """The id of the server's process."""
        pid = self._pty.program.pid
        [server] = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return int(server)

    def kill(self, pid: int | None = None) -> None:
        os.kill(self._pty.program.pid if pid is None else pid, signal.SIGKILL)

    def end(self) -> int:
        """Wait for the end; the exit code, or minus the signal."""
        end = time.monotonic() + SECONDS
        while self.read():
            assert time.monotonic() < end, f"it does not end:\n{self.shown}"
        code = self._pty.program.wait()
        self.close()
        return code

    def close(self) -> None:
        """End it, if it has not ended."""
        self._pty.close()
        self._pty.program.wait()

    def leave(self) -> None:
        self.send(CTRL_D)
        assert self.end() == 0


Start = Callable[..., ChatTerminal]


@contextmanager
def chats(
    tmp_path: Path, folder: Path, scenario: Path = SCENARIO, env: dict[str, str] | None = None
) -> Iterator[Start]:
    """Starts chats in the folder, each ready to be typed into, and closes them; a scripted model plays the scenario."""
    configure(tmp_path, f'model = "scripted/m"\n[providers.scripted]\nscenario = "{scenario}"\n')
    started: list[ChatTerminal] = []

    def start(
        *arguments: str, size: tuple[int, int] = (120, 36), fresh: bool = False, shell: bool = False
    ) -> ChatTerminal:
        own = environment(tmp_path) if env is None else env
        terminal = ChatTerminal(arguments, folder, own, size, fresh=fresh, shell=shell)
        started.append(terminal)
        terminal.expect(READY)
        return terminal

    try:
        yield start
    finally:
        for item in started:
            item.close()
