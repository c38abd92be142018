"""The table of slash commands, and what those do that are not about sessions: settings, undo, pending hunks."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from tark_lsp.cli.chatting.conversation import Conversation
from tark_lsp.cli.chatting.session_commands import SessionCommands
from tark_lsp.cli.chatting.slash import Slash, SlashCommands
from tark_lsp.cli.keyboard import Asks
from tark_lsp.cli.turn import decide
from tark_lsp.cli.visible import one_line, visible
from tark_lsp.errors import RequestError
from tark_lsp.messages import ApprovalLevel, Mode
from tark_lsp.settings import Thinking

MOST_MODELS = 25
MODES = {
    "ask": "answers, changes nothing",
    "plan": "proposes edits, to be looked at in the end",
    "build": "edits and runs what you allow",
}
APPROVALS = {
    "manual": "everything is asked",
    "careful": "reading is not asked, all else is",
    "balanced": "fewer questions than under careful",
}


class ChatCommands:
    """`clear()`, `leave()`: what the terminal does."""

    def __init__(
        self, conversation: Conversation, keyboard: Asks, *, clear: Callable[[], None], leave: Callable[[], None]
    ) -> None:
        self._chat = conversation
        self._screen = conversation.screen
        self._clear, self._leave = clear, leave
        self._models: Sequence[Mapping[str, Any]] = ()
        self.sessions = sessions = SessionCommands(conversation, keyboard)
        self.table = SlashCommands(
            [
                Slash("/help", "this list", self._help, at_once=True),
                Slash(
                    "/model [ID]", "which model answers; part of a name lists those that fit", self._model, self._ids
                ),
                Slash(
                    "/mode [MODE]", "ask, plan or build", self._mode, _fixed({str(mode): MODES[mode] for mode in Mode})
                ),
                Slash(
                    "/approval [LEVEL]",
                    "manual, careful or balanced: what is asked before it is done",
                    self._approval,
                    _fixed({str(level): APPROVALS[level] for level in ApprovalLevel}),
                ),
                Slash(
                    "/thinking [LEVEL]",
                    "how much the model thinks first",
                    self._thinking,
                    _fixed(dict.fromkeys(get_args(Thinking), "")),
                ),
                Slash("/new", "begin a new session", sessions.new, idle=True),
                Slash("/sessions", "list the sessions of this folder, pick one", sessions.sessions, idle=True),
                Slash(
                    "/resume [SESSION]",
                    "go on with a session, by id or title",
                    sessions.resume,
                    sessions.ids,
                    idle=True,
                ),
                Slash("/rename TITLE", "call this session something", sessions.rename),
                Slash("/fork [TITLE]", "go on with a copy of this session", sessions.fork, idle=True),
                Slash(
                    "/delete [SESSION]", "delete a session, after a question", sessions.delete, sessions.ids, idle=True
                ),
                Slash("/export [FORMAT] [PATH]", "write this session to a file: markdown or json", sessions.export),
                Slash("/compact", "have the model summarise what was said, to make room", sessions.compact, idle=True),
                Slash("/context", "what the next prompt is made of, with tokens", sessions.context),
                Slash("/usage", "tokens and cost of this session", sessions.usage),
                Slash("/diff", "look at proposed changes that wait, and decide", self._diff, idle=True),
                Slash("/undo", "take back what the last turn changed in files", self._undo, idle=True),
                Slash("/cancel", "end the running turn (Ctrl-C does, too)", self._cancel, at_once=True),
                Slash("/clear", "clear the screen; the session stays", self._clear_screen, at_once=True),
                Slash("/quit", "leave (Ctrl-D does, too); --continue goes on later", self._quit, at_once=True),
            ],
            lambda: conversation.turn_id is not None,
            conversation.in_order,
        )

    async def _help(self, _: str) -> None:
        for line in self.table.help():
            self._screen.line(line)
        self._screen.line("/NAME ... starts one of your own prompts; @ mentions files and more, Tab completes", "dim")
        self._screen.line(
            "Enter sends; Alt-Enter or \\ at the end of a line begins another; Up brings earlier prompts", "dim"
        )
        self._screen.line("what you send while a turn runs is told to it after its next step; Ctrl-C cancels it", "dim")

    async def _model(self, wanted: str) -> None:
        ids = [str(each["id"]) for each in await self._listed()] if wanted else []
        fits = [each for each in ids if wanted.lower() in each.lower()]
        if wanted and ("/" in wanted or len(fits) == 1):
            await self._chat.set(model=wanted if "/" in wanted else fits[0])
        elif wanted:
            self._several(fits, wanted)
        self._screen.line(f"model: {one_line(self._chat.session.facts.model or 'none yet')}")

    def _several(self, fits: Sequence[str], wanted: str) -> None:
        if not fits:
            raise RequestError(f"no model is called {one_line(wanted)!r}", hint="write it as <provider>/<model>")
        for each in fits[:MOST_MODELS]:
            self._screen.line(f"  {one_line(each)}")
        if len(fits) > MOST_MODELS:
            self._screen.line(f"  and {len(fits) - MOST_MODELS} more", "dim")

    async def _listed(self) -> Sequence[Mapping[str, Any]]:
        if not self._models:
            self._models = (await self._chat.command("tark.models.list"))["models"]
        return self._models

    async def _ids(self) -> Sequence[tuple[str, str]]:
        return [(each["id"], each.get("name") or "") for each in await self._listed()]

    async def _mode(self, wanted: str) -> None:
        await self._set("mode", wanted, MODES)

    async def _approval(self, wanted: str) -> None:
        await self._set("approval", wanted, APPROVALS)

    async def _thinking(self, wanted: str) -> None:
        await self._set("thinking", wanted, dict.fromkeys(get_args(Thinking), ""))

    async def _set(self, name: str, wanted: str, known: Mapping[str, str]) -> None:
        if wanted and wanted not in known:
            raise RequestError(f"{name}: there is no {one_line(wanted)!r}", hint=f"one of {', '.join(known)}")
        if wanted:
            await self._chat.set(**{name: wanted})
        value = getattr(self._chat.session.facts, name)
        about = known.get(value)
        self._screen.line(f"{name}: {value}{f' ({about})' if about else ''}")

    async def _diff(self, _: str) -> None:
        found = (await self._chat.command("tark.state"))["hunks"]
        pending = [(each["uri"], hunk) for each in found for hunk in each["hunks"] if hunk["state"] == "pending"]
        if not pending:
            self._screen.line("no change waits for you", "dim")
            return
        await decide(await self._chat.client(), self._screen, self._chat.person, pending)

    async def _undo(self, _: str) -> None:
        turn = self._chat.session.last_turn
        if turn is None:
            raise RequestError("there is no turn to take back in this session", hint="tark-lsp undo lists all turns")
        answer = await self._chat.command("tark.turn.undo", {"turnId": turn})
        for uri in answer["restored"]:
            self._screen.line(f"restored  {self._screen.name(uri)}", "green")
        for each in answer["kept"]:
            self._screen.line(f"kept      {self._screen.name(each['uri'])}: {visible(each['reason'])}", "yellow")
        if not answer["restored"] and not answer["kept"]:
            self._screen.line("the last turn changed no file", "dim")

    async def _cancel(self, _: str) -> None:
        if not self._chat.cancel():
            self._screen.line("no turn runs", "dim")

    async def _clear_screen(self, _: str) -> None:
        self._clear()

    async def _quit(self, _: str) -> None:
        self._leave()


def _fixed(words: Mapping[str, str]) -> Any:
    async def given() -> Sequence[tuple[str, str]]:
        return list(words.items())

    return given
