"""`!COMMAND` in the terminal chat: runs a command in the user's shell, and offers its output for the next prompt."""

import asyncio
import codecs
import os
import signal
import sys
import time
from pathlib import Path

from tark_lsp.cli.chatting.conversation import ChatInput, Conversation
from tark_lsp.cli.screen import outcome_text
from tark_lsp.cli.visible import one_line, visible
from tark_lsp.errors import RequestError
from tark_lsp.redaction import environment_secrets, redact

MARK = "!"
MAX_OFFERED = 30_000
"""Characters. If the output is longer, only its last lines are offered."""
CHUNK = 65_536
REST_SECONDS = 1.0
"""After an interrupt, how long processes that outlive the shell may run."""


def own_command(text: str) -> str:
    """The command that follows the mark; "" if this is a prompt."""
    return text[len(MARK) :].strip() if text.startswith(MARK) else ""


def offered_text(lines: list[str], secrets: tuple[str, ...]) -> str:
    """The last lines of the output, with keys masked."""
    kept, room = 0, MAX_OFFERED
    while kept < len(lines) and len(lines[-kept - 1]) < room:
        kept += 1
        room -= len(lines[-kept]) + 1
    text = redact("\n".join(lines[len(lines) - kept :]), secrets)
    return text if kept == len(lines) else f"[{len(lines) - kept:,} lines before these are left out]\n{text}"


class OwnCommands:
    """A command has the user's whole environment, and no input. Its output is sent to a model only if they agree."""

    def __init__(self, conversation: Conversation, terminal: ChatInput, folder: Path) -> None:
        self._chat, self._terminal, self._folder = conversation, terminal, folder
        self._screen = conversation.screen
        self._running: dict[asyncio.subprocess.Process, bool] = {}
        """For each running command, whether it was interrupted."""

    async def run(self, command: str) -> None:
        """Raises RequestError if the shell does not start."""
        started = time.monotonic()
        try:
            process = await asyncio.create_subprocess_shell(
                command,
                executable=None if sys.platform == "win32" else os.environ.get("SHELL"),
                cwd=self._folder,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise RequestError(f"the shell does not start: {error.strerror}", hint="set SHELL to a shell") from error
        self._running[process] = False
        try:
            lines = await self._show_lines(process)
            code = await process.wait()
        finally:
            self._running.pop(process)
            _send_signal(process, "SIGKILL")
        outcome = {"exitCode": code, "seconds": time.monotonic() - started}
        self._screen.print_line(outcome_text(outcome), "dim" if code == 0 else "yellow")
        if lines:
            await self._offer(command, lines)

    def interrupt(self) -> bool:
        """Interrupts the running commands; the second time it kills them. Returns whether there are any."""
        for process, again in self._running.items():
            _send_signal(process, "SIGKILL" if again else "SIGINT")
            self._running[process] = True
            asyncio.get_running_loop().call_later(REST_SECONDS, self._kill_rest, process)
        return bool(self._running)

    def _kill_rest(self, process: asyncio.subprocess.Process) -> None:
        """If only the shell ended, kills its children, because the user would wait for them."""
        if process in self._running and process.returncode is not None:
            _send_signal(process, "SIGKILL")

    async def _show_lines(self, process: asyncio.subprocess.Process) -> list[str]:
        """Prints the output as it arrives. Returns its lines."""
        assert process.stdout is not None
        lines: list[str] = []
        decoder, rest = codecs.getincrementaldecoder("utf-8")("replace"), ""
        while data := await process.stdout.read(CHUNK):
            *whole, rest = (rest + decoder.decode(data)).split("\n")
            # If a line overwrites itself, as a progress bar does, only its last state is kept.
            new = [line.rstrip("\r").rpartition("\r")[2] for line in whole]
            lines += new
            if new:
                self._screen.print_line(visible("\n".join(new)))
        if rest := rest.rpartition("\r")[2]:
            lines.append(rest)
            self._screen.print_line(visible(rest))
        return lines

    async def _offer(self, command: str, lines: list[str]) -> None:
        text = offered_text(lines, environment_secrets(os.environ))
        masked = "" if text == "\n".join(lines) or "***" not in text else ", keys masked"
        count = f"{len(lines):,} line{'s' * (len(lines) > 1)}"
        if (
            await self._terminal.ask(f"Add this output to your next prompt ({count}{masked})? [y]es, [n]o: ", "yn")
            == "y"
        ):
            name = f"The output of `{redact(one_line(command))}`, which the person has run"
            self._chat.attached.append({"type": "text", "name": name, "text": text})


def _send_signal(process: asyncio.subprocess.Process, name: str) -> None:
    """Sends a signal to the command and to its children."""
    try:
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.Signals[name])
    except ProcessLookupError:
        pass  # all have ended
