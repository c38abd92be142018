"""The current session of the conversation: opens and replaces it, and changes its settings."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from tark_lsp.cli.chatting.chat_screen import ChatScreen
from tark_lsp.cli.chatting.chat_session import ChatSession
from tark_lsp.cli.chatting.replay import replay
from tark_lsp.server.client import Client, ServerError


class CurrentSession:
    """`wanted` are the settings of the command line. `command` sends a command to the server. `changed()` is called
    when the status line may have changed.
    """

    def __init__(
        self,
        screen: ChatScreen,
        wanted: Mapping[str, Any],
        command: Callable[[str, Mapping[str, Any]], Awaitable[Any]],
        changed: Callable[[], None],
    ) -> None:
        self.session = ChatSession()
        self._screen = screen
        self._wanted = dict(wanted)
        self._command, self._changed = command, changed
        self._default_model: str | None = None

    async def restore(self, client: Client) -> None:
        """Sends the settings to a new server, and reopens the session if the previous server stored it."""
        self._set_defaults(await client.command("tark.settings.set", self._wanted))
        if self.session.id is None:
            return
        try:
            self._load(await client.command("tark.session.open", {"sessionId": self.session.id}))
        except ServerError as error:
            self._screen.print_error(error.message, "a new session starts")
            self.session = ChatSession(facts=self.session.facts)

    async def change_settings(self, **wanted: str) -> None:
        """Changes settings of this session and of later sessions."""
        self._set_defaults(await self._command("tark.settings.set", wanted))
        if self.session.id is not None:
            self._set(await self._command("tark.settings.set", {"sessionId": self.session.id, **wanted}))
        self._wanted |= wanted

    async def start_new(self) -> None:
        self.session = ChatSession()
        self._set_defaults(await self._command("tark.settings.set", {}))

    async def open_session(self, session_id: str) -> None:
        """Continues a session, and shows its messages."""
        opened = await self._command("tark.session.open", {"sessionId": session_id})
        self.session = ChatSession()
        self._load(opened)
        replay(opened, self._screen)
        if self.session.read_only:
            holder = (opened.get("heldBy") or {}).get("pid", "?")
            self._screen.print_line(f"process {holder} has this session open: you can read it, or /fork it", "yellow")

    def apply_update(self, update: Mapping[str, Any]) -> None:
        facts = self.session.facts
        match update:
            case {"kind": "start"} if (update.get("agent") or "") == facts.agent:
                facts.model, facts.mode = update.get("model") or facts.model, update.get("mode") or facts.mode
            case {"kind": "usage"}:
                facts.turn_cost = update.get("costUsd")
                facts.used, facts.window = update.get("contextUsed") or 0, update.get("contextWindow")

    def _load(self, opened: Mapping[str, Any]) -> None:
        session = self.session
        session.id, session.title = opened["sessionId"], opened.get("title") or ""
        session.read_only = bool(opened.get("readOnly"))
        session.facts.cost = opened.get("costUsd")
        turns: Sequence[Mapping[str, Any]] = opened.get("turns") or ()
        session.last_turn = turns[-1]["turnId"] if turns else None
        self._set(opened)

    def _set_defaults(self, values: Mapping[str, Any]) -> None:
        """Sets the settings of new sessions. A session that never had a model gets this one."""
        self._default_model = values.get("model")
        self._set(values)

    def _set(self, values: Mapping[str, Any]) -> None:
        facts = self.session.facts
        facts.agent = values.get("agent") or ""
        used = values.get("effective") or values
        facts.model, facts.mode = used.get("model") or self._default_model, used["mode"]
        facts.approval, facts.thinking = used["approval"], values["thinking"]
        self._changed()
