"""A conversation with its own server: its prompts, its turns, and their cost."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, Protocol

from tark_lsp.cli.chatting.chat_screen import ChatScreen
from tark_lsp.cli.chatting.chat_server import ChatServer
from tark_lsp.cli.chatting.chat_session import ChatSession
from tark_lsp.cli.chatting.current_session import CurrentSession
from tark_lsp.cli.choices import TextEditor
from tark_lsp.cli.keyboard import AnswerInput
from tark_lsp.cli.person import TerminalPerson
from tark_lsp.cli.turn import decide_pending
from tark_lsp.errors import RequestError
from tark_lsp.server.client import Client, ServerGone


class ChatInput(AnswerInput, Protocol):
    """The parts of the terminal that the conversation needs in addition to the screen."""

    def redraw(self) -> None:
        """Draws the status line and the unfinished lines again."""

    def give_back(self, text: str) -> None:
        """Puts a prompt that was not used back into the prompt line."""


class ChatPerson(TerminalPerson):
    """Asks the questions of a turn, as `tark-lsp run` does. `on_update` receives each update before it is shown."""

    def __init__(
        self,
        screen: ChatScreen,
        keyboard: AnswerInput,
        edit: TextEditor,
        on_update: Callable[[Mapping[str, Any]], None],
    ) -> None:
        super().__init__(screen, keyboard, yes=False, edit=edit)
        self._on_update = on_update

    def update(self, update: Mapping[str, Any]) -> None:
        self._on_update(update)
        super().update(update)


class Conversation:
    """`spawn` starts a background task and prints the errors it raises. `check(prompt)` raises if the prompt must not
    be sent.

    Code that sends a prompt, cancels, or changes the session holds the lock `in_order` meanwhile, so that the order in
    which the user typed is kept even with a slow server.
    """

    def __init__(
        self,
        folder: Path,
        screen: ChatScreen,
        wanted: Mapping[str, Any],
        terminal: ChatInput,
        *,
        edit: TextEditor,
        spawn: Callable[[Coroutine[Any, Any, None]], None],
        check: Callable[[str], Awaitable[None]],
    ) -> None:
        self.screen = screen
        self.person = ChatPerson(screen, terminal, edit, self._on_update)
        self.current = CurrentSession(screen, wanted, self.command, terminal.redraw)
        self.server = ChatServer(
            folder,
            screen,
            self.person,
            spawn=spawn,
            on_started=self.current.restore,
            on_ended=self._on_server_ended,
        )
        self.turn_id: str | None = None
        self.cancelling = False
        self.in_order = asyncio.Lock()
        self.busy_since = 0.0
        """A time of `time.monotonic`."""
        self.attached: list[Mapping[str, Any]] = []
        """Attachments of the next prompt that starts a turn (`context` in protocol.md)."""
        self._terminal, self._spawn, self._check = terminal, spawn, check
        self._prompts_being_sent = 0
        self._turn_ended = asyncio.Event()
        self._steered: dict[str, int] = {}
        """For each prompt that was sent to the running turn: how many model requests ended since then."""

    @property
    def session(self) -> ChatSession:
        return self.current.session

    async def command(self, name: str, argument: Mapping[str, Any] | None = None) -> Any:
        """Raises ServerError, ServerGone."""
        return await (await self.server.client()).command(name, argument)

    @property
    def busy(self) -> bool:
        """Whether a turn runs, or a prompt is being sent to the server."""
        return self.turn_id is not None or self._prompts_being_sent > 0

    def send_prompt(self, text: str) -> None:
        """Sends the user's prompt. It starts a turn, or goes to the running turn.

        The conversation is busy at once, so that a key such as Ctrl-C refers to this prompt.
        """
        if not self.busy or self.cancelling:
            self.busy_since = time.monotonic()
        self._prompts_being_sent += 1
        self._spawn(self._send(text))

    async def _send(self, text: str) -> None:
        try:
            async with self.in_order:
                await self._check(text)
                await self._start_or_steer(text)
        except BaseException:  # raised again; the user's text must not be lost
            self._terminal.give_back(text)
            raise
        finally:
            self._prompts_being_sent -= 1
            self._terminal.redraw()

    async def _start_or_steer(self, text: str) -> None:
        if self.session.read_only:
            raise RequestError("this session is open in another process", hint="/fork it, or close it there")
        self.screen.show_prompt(text)
        client = await self.server.client()
        if self.turn_id is not None:
            steered = await client.command("tark.turn.steer", {"turnId": self.turn_id, "prompt": text})
            if steered["accepted"]:
                self._steered[text] = 0
                self.screen.print_line("sent to the running turn, which reads it after its current step", "dim")
                return
        start: dict[str, Any] = {"prompt": text, **({"sessionId": self.session.id} if self.session.id else {})}
        if self.attached:
            start["context"] = list(self.attached)
        started = await client.command("tark.turn.start", start)
        self.attached.clear()
        self.session.id = started["sessionId"]
        self.turn_id = self.session.last_turn = started["turnId"]
        self._steered.clear()
        self._turn_ended = asyncio.Event()
        self._spawn(self._follow(client, self._turn_ended, started["turnId"], text))

    def cancel(self) -> bool:
        """Cancels the turn and the prompts sent so far. False if nothing runs, or it is already being cancelled."""
        if not self.busy or self.cancelling:
            return False
        self.cancelling = True
        self._terminal.redraw()
        self._spawn(self._cancel())
        return True

    async def _cancel(self) -> None:
        """Waits until earlier prompts are sent. Later prompts wait for the end of the turn."""
        try:
            async with self.in_order:
                client = self.server.running_client
                if self.turn_id is not None and client is not None:
                    await client.command("tark.turn.cancel", {"sessionId": self.session.id})
                    await self._turn_ended.wait()
        finally:
            self.cancelling = False
            self._terminal.redraw()

    def _on_update(self, update: Mapping[str, Any]) -> None:
        self.current.apply_update(update)
        if update.get("kind") == "usage":
            for text in self._steered:
                self._steered[text] += 1
        self._terminal.redraw()

    def _on_server_ended(self) -> None:
        self.turn_id = None
        self.screen.finish_turn()
        self._terminal.redraw()

    async def _follow(self, client: Client, turn_ended: asyncio.Event, turn_id: str, prompt: str) -> None:
        waiting = asyncio.ensure_future(client.command("tark.turn.wait", {"turnId": turn_id}))
        try:
            while not (await asyncio.wait({waiting}, timeout=1.0))[0]:
                self._terminal.redraw()  # the status line shows for how long the turn has run
            end = waiting.result()
        except ServerGone:
            self._give_back_steered()
            return  # `ChatServer` reports it
        finally:
            waiting.cancel()
            if self.turn_id == turn_id:
                self.turn_id = None
            turn_ended.set()
        self._show_end(end, prompt)
        if end["stopReason"] == "end_turn":
            await decide_pending(client, self.screen, self.person, turn_id)

    def _show_end(self, end: Mapping[str, Any], prompt: str) -> None:
        facts, usage = self.session.facts, end.get("usage") or {}
        if usage.get("costUsd") is not None:
            facts.cost = (facts.cost or 0.0) + usage["costUsd"]
        facts.turn_cost = None
        self.screen.finish_turn()
        self.screen.show_end(end)
        if end.get("error") and not end.get("text") and not usage.get("outputTokens"):
            self._terminal.give_back(prompt)
        if end["stopReason"] != "end_turn":
            self._give_back_steered()
        self._terminal.redraw()

    def _give_back_steered(self) -> None:
        """Gives back prompts that the model may not have read.

        The model has certainly read a prompt only after the second request since then ended, because the first one can
        have started before the prompt. It is better to give a prompt back twice than to lose it.
        """
        unread = [text for text, requests in self._steered.items() if requests < 2]
        self._steered.clear()
        if unread:
            self.screen.print_line(
                "the model may not have read what you sent last to this turn: here it is again", "yellow"
            )
            self._terminal.give_back("\n".join(unread))
