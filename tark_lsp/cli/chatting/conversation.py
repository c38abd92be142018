"""A conversation with a server of its own: started, begun anew where it died; its session, its turns, their cost."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tark_lsp.cli.chatting.chat_screen import ChatScreen
from tark_lsp.cli.chatting.replay import replay
from tark_lsp.cli.keyboard import Asks
from tark_lsp.cli.person import TerminalPerson
from tark_lsp.cli.turn import decide_pending
from tark_lsp.errors import RequestError
from tark_lsp.server.client import Client, ServerError, ServerGone

SETTINGS = {"editReview": "ask"}
"""Edits are always reviewed before they are written: a terminal has no undo of an editor's."""


@dataclass(slots=True)
class Facts:
    """What the status line tells. `cost` in dollars, of the turns that ended; None: no price was known."""

    model: str | None = None
    mode: str = ""
    approval: str = ""
    thinking: str = ""
    used: int = 0
    window: int | None = None
    cost: float | None = None
    turn_cost: float | None = None


@dataclass(slots=True)
class Session:
    """`id` None: the next prompt makes one. `last_turn` is what /undo takes back."""

    id: str | None = None
    title: str = ""
    last_turn: str | None = None
    read_only: bool = False
    facts: Facts = field(default_factory=Facts)


class ChatPerson(TerminalPerson):
    """Who is asked, as in `run`; `noted` hears each update first."""

    def __init__(
        self, screen: ChatScreen, keyboard: Asks, edit: Any, noted: Callable[[Mapping[str, Any]], None]
    ) -> None:
        super().__init__(screen, keyboard, yes=False, edit=edit)
        self._noted = noted

    def update(self, update: Mapping[str, Any]) -> None:
        self._noted(update)
        super().update(update)


class Conversation:
    """`changed()` is called when what the status or `screen.going_on` tell may be another; `spawn` starts work of its
    own; `give_back(prompt)` is for a prompt that came to nothing."""

    def __init__(
        self,
        folder: Path,
        screen: ChatScreen,
        wanted: Mapping[str, Any],
        *,
        changed: Callable[[], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
        give_back: Callable[[str], None],
    ) -> None:
        self.folder, self.screen = folder, screen
        self.session = Session()
        self.turn_id: str | None = None
        self.person: ChatPerson
        self._wanted = dict(wanted)
        self._changed, self._spawn, self._give_back = changed, spawn, give_back
        self._client: Client | None = None
        self._starting = asyncio.Lock()
        self.cancelling = False

    def use(self, keyboard: Asks, edit: Any) -> None:
        """Who answers; before `start`."""
        self.person = ChatPerson(self.screen, keyboard, edit, self._note)

    async def client(self) -> Client:
        """The server; a new one where there is none, with the session as it was. Raises as `Client.start`."""
        async with self._starting:
            if self._client is None:
                client = await Client.start(self.folder, self.person, settings=SETTINGS)
                self._client = client
                self.screen.documents = client.documents
                self._spawn(self._watch(client))
                self._set(await client.command("tark.settings.set", self._wanted))
                await self._reopen(client)
        return self._client

    async def _reopen(self, client: Client) -> None:
        """The session of before, where the server that died had stored it."""
        if self.session.id is None:
            return
        try:
            self._take(await client.command("tark.session.open", {"sessionId": self.session.id}))
        except ServerError as error:
            self.screen.error(error.message, "a new session begins")
            self.session = Session(facts=self.session.facts)

    @property
    def running_client(self) -> Client | None:
        return self._client

    async def command(self, name: str, argument: Mapping[str, Any] | None = None) -> Any:
        """Raises ServerError, ServerGone."""
        return await (await self.client()).command(name, argument)

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def prompt(self, text: str) -> None:
        """A prompt of the person's: the next turn, or words for the one that runs."""
        if self.session.read_only:
            self._give_back(text)
            raise RequestError("this session is open in another process", hint="/fork it, or close it there")
        self.screen.said(text)
        if self.turn_id is not None:
            steered = await self.command("tark.turn.steer", {"turnId": self.turn_id, "prompt": text})
            if steered["accepted"]:
                self.screen.line("told to the running turn, which reads it after its next step", "dim")
                return
        start = {"prompt": text, **({"sessionId": self.session.id} if self.session.id else {})}
        try:
            started = await self.command("tark.turn.start", start)
        except BaseException:  # raised again: whatever went wrong, the words are not lost
            self._give_back(text)
            raise
        self.session.id = started["sessionId"]
        self.turn_id = self.session.last_turn = started["turnId"]
        self._spawn(self._follow(started["turnId"], text))
        self._changed()

    async def cancel(self) -> bool:
        """False: nothing runs, or it is being cancelled already."""
        if self.turn_id is None or self.cancelling or self._client is None:
            return False
        self.cancelling = True
        self._changed()
        await self._client.command("tark.turn.cancel", {"sessionId": self.session.id})
        return True

    async def set(self, **wanted: str) -> None:
        """For this session and those begun after it."""
        values = await self.command("tark.settings.set", wanted)
        if self.session.id is not None:
            values = await self.command("tark.settings.set", {"sessionId": self.session.id, **wanted})
        self._wanted |= wanted
        self._set(values)

    async def new(self) -> None:
        self.session = Session()
        self._set(await self.command("tark.settings.set", {}))

    async def open(self, session_id: str) -> None:
        """Go on with a session, and show what was said in it."""
        opened = await self.command("tark.session.open", {"sessionId": session_id})
        self.session = Session()
        self._take(opened)
        replay(opened, self.screen)
        if self.session.read_only:
            holder = (opened.get("heldBy") or {}).get("pid", "?")
            self.screen.line(f"process {holder} has this session open: you can read it, or /fork it", "yellow")

    def _take(self, opened: Mapping[str, Any]) -> None:
        session = self.session
        session.id, session.title = opened["sessionId"], opened.get("title") or ""
        session.read_only = bool(opened.get("readOnly"))
        session.facts.cost = opened.get("costUsd")
        turns: Sequence[Mapping[str, Any]] = opened.get("turns") or ()
        session.last_turn = turns[-1]["turnId"] if turns else None
        self._set(opened)

    def _set(self, values: Mapping[str, Any]) -> None:
        facts = self.session.facts
        facts.model, facts.mode = values.get("model"), values["mode"]
        facts.approval, facts.thinking = values["approval"], values["thinking"]
        self._changed()

    def _note(self, update: Mapping[str, Any]) -> None:
        facts = self.session.facts
        match update:
            case {"kind": "start"}:
                facts.model, facts.mode = update.get("model") or facts.model, update.get("mode") or facts.mode
            case {"kind": "usage"}:
                facts.turn_cost = update.get("costUsd")
                facts.used, facts.window = update.get("contextUsed") or 0, update.get("contextWindow")
        self._changed()

    async def _follow(self, turn_id: str, prompt: str) -> None:
        client = await self.client()
        waiting = asyncio.ensure_future(client.command("tark.turn.wait", {"turnId": turn_id}))
        try:
            while not (await asyncio.wait({waiting}, timeout=1.0))[0]:
                self._changed()  # the seconds it runs
            end = waiting.result()
        except ServerGone:
            return  # said by who watches the server
        finally:
            waiting.cancel()
            if self.turn_id == turn_id:
                self.turn_id, self.cancelling = None, False
        self._ended(end, prompt)
        if end["stopReason"] == "end_turn":
            await decide_pending(client, self.screen, self.person, turn_id)

    def _ended(self, end: Mapping[str, Any], prompt: str) -> None:
        facts, usage = self.session.facts, end.get("usage") or {}
        if usage.get("costUsd") is not None:
            facts.cost = (facts.cost or 0.0) + usage["costUsd"]
        facts.turn_cost = None
        self.screen.finish()
        self.screen.ended(end)
        if end.get("error") and not end.get("text") and not usage.get("outputTokens"):
            self._give_back(prompt)
        self._changed()

    async def _watch(self, client: Client) -> None:
        await client.ended()
        if self._client is not client:
            return
        self._client, self.turn_id, self.cancelling = None, None, False
        self.screen.finish()
        try:
            await client.request("shutdown", None)
        except ServerGone as error:
            self.screen.error(error.message, error.hint)
        self.screen.line("your next prompt or command starts it again and goes on with this session", "yellow")
        await client.close()
        self._changed()
