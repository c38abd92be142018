"""The terminal chat put together: what is typed becomes a command or a prompt, until the person leaves."""

import asyncio
import difflib
import signal
import sys
import time
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prompt_toolkit.history import History, InMemoryHistory
from rich.console import Console

from tark_lsp.agent.kinds import KINDS, SLASH
from tark_lsp.cli.chatting.above import Above
from tark_lsp.cli.chatting.chat_screen import ChatScreen
from tark_lsp.cli.chatting.commands import ChatCommands
from tark_lsp.cli.chatting.completing import PromptCompleter
from tark_lsp.cli.chatting.conversation import Conversation
from tark_lsp.cli.chatting.prompt_history import open_history
from tark_lsp.cli.chatting.status import status_line
from tark_lsp.cli.chatting.terminal import Terminal
from tark_lsp.cli.editor import edit_text
from tark_lsp.cli.turn import DONE
from tark_lsp.cli.visible import visible
from tark_lsp.errors import RequestError, TarkError
from tark_lsp.folders import state_folder
from tark_lsp.server.client import ServerGone

AGAIN_SECONDS = 3.0
"""So long after a Ctrl-C, or a Ctrl-D while a turn runs, a second one leaves, unless something was sent between."""


@dataclass(frozen=True, slots=True)
class Begin:
    """`settings`: model and mode of the command line. `resume`: a session's id or title, empty to pick one, None: a
    new session. `last`: go on with the newest."""

    settings: Mapping[str, Any]
    resume: str | None = None
    last: bool = False


async def chat(folder: Path, begin: Begin) -> int:
    """The exit code. Raises what starting the server raises."""
    return await _Chat(folder, begin.settings).run(begin)


class _Chat:
    def __init__(self, folder: Path, wanted: Mapping[str, Any]) -> None:
        self._above = Above()
        console = Console(file=self._above, force_terminal=True, highlight=False, markup=False, emoji=False)  # type: ignore[arg-type]  # all that rich uses of a file
        self._screen = ChatScreen(console, folder)
        self._tasks: set[asyncio.Task[None]] = set()
        self._fault: BaseException | None = None
        self._interrupted = self._wanted_to_leave = 0.0
        self._talk = Conversation(
            folder,
            self._screen,
            wanted,
            changed=self._changed,
            spawn=self._start,
            check=self._check_name,
            give_back=self._give_back,
        )
        self._commands: ChatCommands
        self._completer = PromptCompleter(lambda: self._commands.table.completions(), lambda: self._talk.running_client)
        self._terminal = Terminal(
            self._above,
            self._completer,
            self._history(),
            submit=self._submit,
            interrupt=self._interrupt,
            leave=self._leave,
            tell=self._screen.line,
            going_on=self._screen.going_on,
            status=self._status,
        )
        self._talk.use(self._terminal, self._edit)
        self._commands = ChatCommands(self._talk, self._terminal, clear=self._terminal.clear, leave=self._terminal.stop)

    async def run(self, begin: Begin) -> int:
        await self._talk.client()
        self._screen.line("tark-lsp chat: /help lists what you can do, Ctrl-D leaves", "dim")
        self._spawn(self._begin(begin))
        if sys.platform != "win32":  # or the terminal would stay as it is for prompts
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self._terminal.stop)
        try:
            await self._terminal.run()
        except EOFError:
            pass  # the terminal is gone, and nobody reads what could be said
        finally:
            for task in tuple(self._tasks):
                task.cancel()
            await self._talk.close()
            await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._fault is not None:
            raise self._fault
        if self._talk.session.id is not None:
            self._screen.line(f"tark-lsp chat --resume {self._talk.session.id} goes on with this session", "dim")
        return DONE

    async def _begin(self, begin: Begin) -> None:
        async with self._talk.in_order:
            await self._told(self._resume(begin))
        await self._told(self._check_model())

    async def _resume(self, begin: Begin) -> None:
        if begin.last and not await self._commands.sessions.resume_last():
            self._screen.line("no session in this folder yet: this is a new one", "yellow")
        elif begin.resume is not None:
            await self._commands.sessions.resume(begin.resume)

    async def _check_model(self) -> None:
        """Before anything is typed that could not be answered."""
        report = await self._talk.command("tark.doctor")
        keys = {each["provider"]: each for each in report["keys"]}
        model = self._talk.session.facts.model
        if model is None and not any(each["status"] == "ready" for each in keys.values()):
            self._screen.error(
                "no model is set, and no provider has a key", "tark-lsp login PROVIDER, or /model <provider>/<model>"
            )
        key = keys.get((model or "").split("/")[0])
        if key is not None and key["status"] in ("missing", "unusable"):
            self._screen.error(f"{model} has no key that can be used", key.get("hint") or "tark-lsp login PROVIDER")
        for problem in report["problems"]:
            self._screen.line(visible(problem), "yellow")

    def _submit(self, text: str) -> None:
        self._terminal.remember(text)
        self._completer.forget()
        self._interrupted = self._wanted_to_leave = 0.0
        command = self._commands.table.find(text)
        if command is None:
            self._talk.prompt(text)
        else:
            self._screen.said(text)
            self._start(self._commands.table.run(command, text))

    async def _check_name(self, text: str) -> None:
        """A slash command that nobody knows is a slip of the fingers, no prompt. Raises RequestError."""
        found = SLASH.match(text)
        if found is None or Path(found[0]).exists():
            return
        named = [f"/{each['name']}" for each in (await self._talk.command("tark.state")).get("prompts") or ()]
        known = [*self._commands.table.completions(), *(f"/{kind}" for kind in KINDS), *named]
        if found[0] not in known:
            near = difflib.get_close_matches(found[0], known, n=1)
            meant = f"did you mean {near[0]}?" if near else "/help lists the commands, / and Tab all names"
            raise RequestError(f"there is no command and no prompt {found[0]}", hint=meant)

    async def _told(self, work: Coroutine[Any, Any, None]) -> None:
        """What went wrong is said, with what to do; that the server is gone says who watches it."""
        try:
            await work
        except ServerGone:
            return
        except TarkError as error:
            self._screen.error(error.message, error.hint)
        except TimeoutError:
            self._screen.error("the server did not start in time", "your next prompt or command tries again")

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self._spawn(self._told(work))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._fault = self._fault or error  # a defect of ours: it ends the chat, and is not hidden
            self._terminal.stop()

    def _interrupt(self) -> None:
        again = time.monotonic() - self._interrupted < AGAIN_SECONDS
        self._interrupted = time.monotonic()
        if self._talk.cancel():
            if self._talk.turn_id is None:  # what is to be cancelled may wait for the answer
                self._terminal.give_up_question()
        elif self._terminal.draft.text and not self._talk.cancelling:
            self._terminal.draft.reset()
        elif again:
            self._terminal.stop()
        elif not self._terminal.give_up_question():
            self._screen.line("Ctrl-C again leaves", "dim")

    def _leave(self) -> None:
        if not self._talk.busy or time.monotonic() - self._wanted_to_leave < AGAIN_SECONDS:
            self._terminal.stop()
        else:
            self._wanted_to_leave = time.monotonic()
            self._screen.line("a turn runs: Ctrl-D again leaves and ends it", "yellow")

    async def _edit(self, text: str, uri: str) -> str | None:
        return await self._terminal.hand_over(lambda: edit_text(text, uri))

    def _give_back(self, text: str) -> None:
        self._terminal.give_back(text)

    def _changed(self) -> None:
        self._terminal.redraw()

    def _status(self) -> str:
        talk, doing = self._talk, ""
        if talk.cancelling:
            doing = "cancelling, Ctrl-C again leaves at once"
        elif talk.busy:
            doing = f"working {time.monotonic() - talk.began:.0f} s, Ctrl-C cancels"
        return status_line(talk.session.facts, doing, self._screen.console.width - 2)

    def _history(self) -> History:
        try:
            return open_history(state_folder())
        except OSError as error:
            self._screen.line(f"earlier prompts are not kept: {visible(str(error.strerror))}", "yellow")
            return InMemoryHistory()
