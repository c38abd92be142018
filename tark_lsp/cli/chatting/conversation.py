"""A conversation with a server of its own: started, begun anew where it died; its session, its turns, their cost."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

from tark_lsp.cli.chatting.chat_screen import ChatScreen
from tark_lsp.cli.chatting.facts import Session
from tark_lsp.cli.chatting.replay import replay
from tark_lsp.cli.keyboard import Asks
from tark_lsp.cli.person import TerminalPerson
from tark_lsp.cli.turn import decide_pending
from tark_lsp.errors import RequestError
from tark_lsp.server.client import Client, ServerError, ServerGone

SETTINGS = {"editReview": "ask"}
"""Edits are always reviewed before they are written: a terminal has no undo of an editor's."""


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
    own, and says what it raises; `check(prompt)` raises for one that must not be sent; `give_back(prompt)` is for a
    prompt that came to nothing.

    Whoever sends a prompt, cancels, or changes which session this is holds `in_order` meanwhile: a server that answers
    later than a person types never mixes up what was typed first.
    """

    def __init__(
        self,
        folder: Path,
        screen: ChatScreen,
        wanted: Mapping[str, Any],
        *,
        changed: Callable[[], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
        check: Callable[[str], Awaitable[None]],
        give_back: Callable[[str], None],
    ) -> None:
        self.folder, self.screen = folder, screen
        self.session = Session()
        self.turn_id: str | None = None
        self.cancelling = False
        self.in_order = asyncio.Lock()
        self.began = 0.0
        """Of `time.monotonic`: when what makes us busy was sent."""
        self.person: ChatPerson
        self._wanted = dict(wanted)
        self._changed, self._spawn, self._check, self._give_back = changed, spawn, check, give_back
        self._client: Client | None = None
        self._starting = asyncio.Lock()
        self._usual_model: str | None = None
        self._on_their_way = 0
        self._over = asyncio.Event()
        self._steered: dict[str, int] = {}
        """What the running turn was told since it began: how many requests to its model were over since then."""

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
                self._set_for_all(await client.command("tark.settings.set", self._wanted))
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

    @property
    def busy(self) -> bool:
        """A turn runs, or a prompt is on its way to the server."""
        return self.turn_id is not None or self._on_their_way > 0

    def prompt(self, text: str) -> None:
        """A prompt of the person's: the next turn, or words for the one that runs. We are busy from now on, so that the
        next key means this."""
        if not self.busy or self.cancelling:
            self.began = time.monotonic()
        self._on_their_way += 1
        self._spawn(self._send(text))

    async def _send(self, text: str) -> None:
        try:
            async with self.in_order:
                await self._check(text)
                await self._say(text)
        except BaseException:  # raised again: whatever went wrong, the words are not lost
            self._give_back(text)
            raise
        finally:
            self._on_their_way -= 1
            self._changed()

    async def _say(self, text: str) -> None:
        if self.session.read_only:
            raise RequestError("this session is open in another process", hint="/fork it, or close it there")
        self.screen.said(text)
        client = await self.client()
        if self.turn_id is not None:
            steered = await client.command("tark.turn.steer", {"turnId": self.turn_id, "prompt": text})
            if steered["accepted"]:
                self._steered[text] = 0
                self.screen.line("told to the running turn, which reads it after its next step", "dim")
                return
        start = {"prompt": text, **({"sessionId": self.session.id} if self.session.id else {})}
        started = await client.command("tark.turn.start", start)
        self.session.id = started["sessionId"]
        self.turn_id = self.session.last_turn = started["turnId"]
        self._steered.clear()
        self._over = asyncio.Event()
        self._spawn(self._follow(client, self._over, started["turnId"], text))

    def cancel(self) -> bool:
        """What runs, and what was sent until now. False: there is nothing, or it is being cancelled already."""
        if not self.busy or self.cancelling:
            return False
        self.cancelling = True
        self._changed()
        self._spawn(self._cancel())
        return True

    async def _cancel(self) -> None:
        """Behind what was sent before; and what is sent from now on waits for the end of the turn."""
        try:
            async with self.in_order:
                if self.turn_id is not None and self._client is not None:
                    await self._client.command("tark.turn.cancel", {"sessionId": self.session.id})
                    await self._over.wait()
        finally:
            self.cancelling = False
            self._changed()

    async def set(self, **wanted: str) -> None:
        """For this session and those begun after it."""
        self._set_for_all(await self.command("tark.settings.set", wanted))
        if self.session.id is not None:
            self._set(await self.command("tark.settings.set", {"sessionId": self.session.id, **wanted}))
        self._wanted |= wanted

    async def new(self) -> None:
        self.session = Session()
        self._set_for_all(await self.command("tark.settings.set", {}))

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

    def _set_for_all(self, values: Mapping[str, Any]) -> None:
        """The settings of new sessions. A session that never had a model gets theirs."""
        self._usual_model = values.get("model")
        self._set(values)

    def _set(self, values: Mapping[str, Any]) -> None:
        facts = self.session.facts
        facts.model, facts.mode = values.get("model") or self._usual_model, values["mode"]
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
                for words in self._steered:
                    self._steered[words] += 1
        self._changed()

    async def _follow(self, client: Client, over: asyncio.Event, turn_id: str, prompt: str) -> None:
        waiting = asyncio.ensure_future(client.command("tark.turn.wait", {"turnId": turn_id}))
        try:
            while not (await asyncio.wait({waiting}, timeout=1.0))[0]:
                self._changed()  # the seconds it runs
            end = waiting.result()
        except ServerGone:
            self._give_back_steered()
            return  # said by who watches the server
        finally:
            waiting.cancel()
            if self.turn_id == turn_id:
                self.turn_id = None
            over.set()
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
        if end["stopReason"] != "end_turn":
            self._give_back_steered()
        self._changed()

    def _give_back_steered(self) -> None:
        """What the model may not have read: that is known after the end of a request which began after the words came,
        so the second to end. Words too many in the prompt line do less harm than words lost."""
        unread = [words for words, requests in self._steered.items() if requests < 2]
        self._steered.clear()
        if unread:
            self.screen.line("what you told this turn last, its model may not have read: take it from here", "yellow")
            self._give_back("\n".join(unread))

    async def _watch(self, client: Client) -> None:
        await client.ended()
        if self._client is not client:
            return
        self._client, self.turn_id = None, None
        self.screen.finish()
        try:
            await client.request("shutdown", None)
        except ServerGone as error:
            self.screen.error(error.message, error.hint)
        self.screen.line("your next prompt or command starts it again and goes on with this session", "yellow")
        await client.close()
        self._changed()
