"""Neovim as a user sees it: in a terminal of its own, whose screen is read. tmux is the terminal."""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from tests.editors.neovim.driver import wait_for_end

COLUMNS, ROWS = 100, 30
SECONDS = 30.0
STILL_SECONDS = 0.5
SETTINGS = """\
set -g status off
set -g escape-time 0
set -g default-terminal tmux-256color
set -g remain-on-exit on
set -g remain-on-exit-format ''
"""
# tmux does not always come to know it.
_NOTED = ["/bin/sh", "-c", '"$@"; echo $? > "$0"']


class Screen:
    """A private server of tmux with one program. `env` is the complete environment of the program."""

    def __init__(self, argv: Sequence[str], folder: Path, env: Mapping[str, str]) -> None:
        self._own = Path(tempfile.mkdtemp(prefix="tmux-"))  # a socket's path must be short
        (self._own / "settings").write_text(SETTINGS)
        self._exit_code = self._own / "exit_code"
        variables = [f"{name}={value}" for name, value in ({"TERM": "tmux-256color"} | dict(env)).items()]
        size = ["-x", str(COLUMNS), "-y", str(ROWS)]
        self._tmux(
            "new-session", "-d", *size, "-c", str(folder), "env", "-i", *variables, *_NOTED, str(self._exit_code), *argv
        )
        self.process = psutil.Process(int(self._tmux("display-message", "-p", "#{pane_pid}")))
        self._server = psutil.Process(int(self._tmux("display-message", "-p", "#{pid}")))

    def type(self, text: str) -> None:
        """Types the text literally, at once."""
        # A semicolon at the end would end the command of tmux.
        self._tmux("send-keys", "-l", f"{text[:-1]}\\;" if text.endswith(";") else text)

    def press(self, *keys: str) -> None:
        """Presses keys by tmux's names: Enter, C-w, BSpace."""
        self._tmux("send-keys", *keys)

    def escape(self) -> None:
        """Returns to normal mode. Escape directly followed by another key would count as Alt."""
        self.press("Escape")
        self.until(lambda: not any(f"-- {mode}" in self.text for mode in ("INSERT", "VISUAL", "SELECT")), "normal mode")

    def command(self, line: str) -> None:
        """Types a command in normal mode."""
        self.type(f":{line}")
        self.press("Enter")

    @property
    def lines(self) -> list[str]:
        return self._tmux("capture-pane", "-p").split("\n")[:ROWS]

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.lines)

    def see(self, *texts: str) -> str:
        """Wait until all of them are on the screen, each on one line or on several that were wrapped; all it shows."""

        def shown() -> str:
            lines = self.lines
            text = "\n".join(line.rstrip() for line in lines)
            unwrapped = " ".join("".join(line.ljust(COLUMNS) for line in lines).split())
            return text if all(wanted in text or wanted in unwrapped for wanted in texts) else ""

        return self.until(shown, repr(texts))

    def answer(self, key: str) -> None:
        """Presses a key in the float, which has the focus: once, because a second one would be typed into the file.

        The keys are disabled for 0.3 s after each change of the float, so this waits until the screen stands still for
        longer.
        """
        seen, since = "", 0.0

        def is_still() -> bool:
            nonlocal seen, since
            if (text := self.text) != seen:
                seen, since = text, time.monotonic()
            return "Tark asks" in seen and time.monotonic() - since > STILL_SECONDS

        self.until(is_still, "a screen that does not change")
        self.type(key)
        self.until(lambda: "Tark asks" not in self.text, "an answer")

    def until(self, holds: Callable[[], str | bool], what: str, seconds: float = SECONDS) -> str:
        deadline = time.monotonic() + seconds
        while not (value := holds()):
            assert time.monotonic() < deadline, f"not within {seconds} s: {what}\n{self.text}"
            time.sleep(0.03)
        return str(value)

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        text = self._exit_code.read_text() if self._exit_code.exists() else ""
        return int(text) if text.endswith("\n") else None

    @property
    def has_ended(self) -> bool:
        return self.exit_code is not None

    def processes(self) -> list[psutil.Process]:
        """The descendants of the program, such as the language server."""
        with suppress(psutil.NoSuchProcess):
            return list(self.process.children(recursive=True))
        return []

    def close(self) -> None:
        with suppress(psutil.NoSuchProcess):
            self._server.kill()
            wait_for_end(self._server)
        with suppress(psutil.NoSuchProcess):
            self.process.kill()
        shutil.rmtree(self._own, ignore_errors=True)

    def _tmux(self, *arguments: str) -> str:
        command = ["tmux", "-u", "-S", str(self._own / "socket"), "-f", str(self._own / "settings"), *arguments]
        return subprocess.run(command, check=True, capture_output=True, encoding="utf-8", timeout=60).stdout.rstrip(
            "\n"
        )
