"""The terminal chat: connects the terminal, the commands and the conversation, and runs until the user leaves."""

import asyncio
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prompt_toolkit.history import History, InMemoryHistory
from rich.console import Console

from tark_lsp.cli.chatting.background_tasks import BackgroundTasks
from tark_lsp.cli.chatting.chat_checks import check_prompt_name, report_model_problems
from tark_lsp.cli.chatting.chat_screen import ChatScreen
from tark_lsp.cli.chatting.chat_start import ChatStart
from tark_lsp.cli.chatting.commands import ChatCommands
from tark_lsp.cli.chatting.completion import PromptCompleter
from tark_lsp.cli.chatting.conversation import Conversation
from tark_lsp.cli.chatting.other_programs import edit_draft, suspend
from tark_lsp.cli.chatting.output_above import OutputAbove
from tark_lsp.cli.chatting.own_command import OwnCommands, own_command
from tark_lsp.cli.chatting.prompt_history import open_history
from tark_lsp.cli.chatting.status import status_line
from tark_lsp.cli.chatting.terminal import Terminal, TerminalCallbacks
from tark_lsp.cli.editor import edit_text
from tark_lsp.cli.model_check import check_model
from tark_lsp.cli.turn import DONE
from tark_lsp.cli.visible import visible
from tark_lsp.errors import RequestError, TarkError
from tark_lsp.folders import state_folder

AGAIN_SECONDS = 3.0
"""A second Ctrl-C within this time leaves. So does a second Ctrl-D while a turn runs. A prompt or command in between
resets this."""


async def chat(folder: Path, start: ChatStart) -> int:
    """Returns the exit code. Raises the errors of the server's start."""
    return await _Chat(folder, start.settings).run(start)


class _Chat:
    def __init__(self, folder: Path, wanted: Mapping[str, Any]) -> None:
        output = OutputAbove()
        console = Console(file=output, force_terminal=True, highlight=False, markup=False, emoji=False)  # type: ignore[arg-type]  # it has all that rich uses of a file
        self._screen = ChatScreen(console, folder)
        self._tasks = BackgroundTasks(self._screen, on_fault=lambda: self._terminal.stop())
        self._interrupted = self._wanted_to_leave = 0.0
        self._completer = PromptCompleter(
            lambda: self._commands.table.completions(), lambda: self._conversation.server.running_client
        )
        callbacks = TerminalCallbacks(
            submit=self._submit,
            interrupt=self._interrupt,
            leave=self._leave,
            suspend=lambda: self._tasks.start(suspend(self._terminal)),
            edit=lambda: self._tasks.start(edit_draft(self._terminal)),
            paste_image=lambda: self._tasks.start(self._paste_image()),
            print_line=self._screen.print_line,
            unfinished_lines=self._screen.unfinished_lines,
            status=self._status,
        )
        self._terminal = Terminal(output, self._completer, self._history(), callbacks)
        self._conversation = Conversation(
            folder,
            self._screen,
            wanted,
            self._terminal,
            edit=self._edit,
            spawn=self._tasks.start,
            check=lambda text: check_prompt_name(text, self._conversation, self._commands.table.completions()),
        )
        self._own_commands = OwnCommands(self._conversation, self._terminal, folder)
        self._commands = ChatCommands(
            self._conversation, self._terminal, clear=self._terminal.clear, leave=self._terminal.stop
        )

    async def run(self, start: ChatStart) -> int:
        client = await self._conversation.server.client()
        try:
            await check_model(client, start.settings.get("model"), self._screen, force=start.force_model)
        except TarkError:
            await self._conversation.server.close()
            raise
        self._screen.print_line("tark-lsp chat: /help lists what you can do, Ctrl-D leaves", "dim")
        self._tasks.start_unreported(self._begin(start))
        if sys.platform != "win32":  # otherwise SIGTERM would leave the terminal in raw mode
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self._terminal.stop)
        try:
            await self._terminal.run()
        except EOFError:
            pass  # the terminal is gone, so nobody could read a message
        finally:
            self._tasks.cancel_all()
            await self._conversation.server.close()
            await self._tasks.wait_all()
        if self._tasks.fault is not None:
            raise self._tasks.fault
        if self._conversation.session.id is not None:
            resume = f"tark-lsp chat --resume {self._conversation.session.id}"
            self._screen.print_line(f"{resume} continues this session", "dim")
        return DONE

    async def _begin(self, start: ChatStart) -> None:
        async with self._conversation.in_order:
            await self._tasks.report_errors(self._resume(start))
        await self._tasks.report_errors(report_model_problems(self._conversation))

    async def _resume(self, start: ChatStart) -> None:
        if start.last and not await self._commands.sessions.resume_last():
            self._screen.print_line("no session in this folder yet: this is a new one", "yellow")
        elif start.resume is not None:
            await self._commands.sessions.resume(start.resume)

    def _submit(self, text: str) -> None:
        self._terminal.remember(text)
        self._completer.forget_words()
        self._interrupted = self._wanted_to_leave = 0.0
        command = self._commands.table.find_command(text)
        if own := own_command(text):
            self._screen.show_prompt(text)
            self._tasks.start(self._own_commands.run(own))
        elif command is None:
            self._conversation.send_prompt(text)
        else:
            self._screen.show_prompt(text)
            self._tasks.start(self._commands.table.run_command(command, text))

    def _interrupt(self) -> None:
        again = time.monotonic() - self._interrupted < AGAIN_SECONDS
        self._interrupted = time.monotonic()
        if self._own_commands.interrupt():
            return
        if self._conversation.cancel():
            if self._conversation.turn_id is None:  # the cancelled work can be waiting for the answer
                self._terminal.give_up_question()
        elif self._terminal.draft.text and not self._conversation.cancelling:
            self._terminal.draft.reset()
        elif self._conversation.attached:
            self._conversation.attached.clear()
            self._terminal.redraw()
        elif again:
            self._terminal.stop()
        elif not self._terminal.give_up_question():
            self._screen.print_line("press Ctrl-C again to leave", "dim")

    def _leave(self) -> None:
        if not self._conversation.busy or time.monotonic() - self._wanted_to_leave < AGAIN_SECONDS:
            self._terminal.stop()
        else:
            self._wanted_to_leave = time.monotonic()
            self._screen.print_line("a turn is running: press Ctrl-D again to end it and leave", "yellow")

    async def _paste_image(self) -> None:
        client = await self._conversation.server.client()
        answer = await client.command("tark.clipboardImage", {})
        if "problem" in answer:
            raise RequestError(answer["problem"])
        self._conversation.attached.append(answer["image"])
        self._screen.print_line("the image from the clipboard goes with your next prompt", "dim")

    async def _edit(self, text: str, uri: str) -> str | None:
        return await self._terminal.hand_over(lambda: edit_text(text, uri))

    def _status(self) -> str:
        conversation, activity = self._conversation, ""
        if conversation.cancelling:
            activity = "cancelling, Ctrl-C again leaves at once"
        elif conversation.busy:
            activity = f"working {time.monotonic() - conversation.busy_since:.0f} s, Ctrl-C cancels"
        elif attached := len(conversation.attached):
            activity = f"+ {attached} for your next prompt, Ctrl-C drops {'it' if attached == 1 else 'them'}"
        return status_line(conversation.session.facts, activity, self._screen.console.width - 2)

    def _history(self) -> History:
        try:
            return open_history(state_folder())
        except OSError as error:
            self._screen.print_line(f"earlier prompts are not stored: {visible(str(error.strerror))}", "yellow")
            return InMemoryHistory()
