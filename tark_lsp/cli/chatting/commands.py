"""The table of slash commands, and the commands about settings, hunks, undo and the chat itself."""

from collections.abc import Callable, Mapping, Sequence
from typing import get_args

from tark_lsp.cli.chatting.agent_command import AgentCommand
from tark_lsp.cli.chatting.completion import CompletionWords
from tark_lsp.cli.chatting.conversation import ChatInput, Conversation
from tark_lsp.cli.chatting.permission_commands import PermissionCommands
from tark_lsp.cli.chatting.session_commands import SessionCommands
from tark_lsp.cli.chatting.session_reports import SessionReports
from tark_lsp.cli.chatting.setting_commands import APPROVALS, MODES, SettingCommands
from tark_lsp.cli.chatting.slash_commands import SlashCommand, SlashCommands
from tark_lsp.cli.chatting.undo_commands import UndoCommands
from tark_lsp.cli.turn import decide
from tark_lsp.errors import RequestError
from tark_lsp.settings_types import Thinking

CARRY_OUT = "I approve the plan. Carry it out."
"""The prompt of /approve. The other clients send the same."""


class ChatCommands:
    """`clear()` and `leave()` do the terminal's part of /clear and /quit."""

    def __init__(
        self, conversation: Conversation, terminal: ChatInput, *, clear: Callable[[], None], leave: Callable[[], None]
    ) -> None:
        self._chat = conversation
        self._screen = conversation.screen
        self._clear, self._leave = clear, leave
        self.sessions = SessionCommands(conversation, terminal)
        rows = [
            SlashCommand("/help", "this list", self.help, at_once=True),
            *_setting_rows(SettingCommands(conversation, terminal), AgentCommand(conversation, terminal)),
            *_permission_rows(PermissionCommands(conversation, terminal)),
            *_session_rows(self.sessions, SessionReports(conversation)),
            *_undo_rows(UndoCommands(conversation, terminal)),
            *_own_rows(self),
        ]
        self.table = SlashCommands(rows, lambda: conversation.turn_id is not None, conversation.in_order)

    async def help(self, _: str) -> None:
        for line in (
            *self.table.help(),
            "/NAME ... starts one of your own prompts; @ mentions files and more; Tab completes",
            "!COMMAND runs a command of yours, and offers its output; Ctrl-V attaches an image from the clipboard",
            "Enter sends; Alt-Enter, or \\ at the end of a line, starts a new line; Ctrl-X Ctrl-E opens your editor",
            "Up shows earlier prompts, Ctrl-R searches them; Ctrl-Z suspends this program, and fg continues it",
            "a prompt that you send during a turn goes to that turn; Ctrl-C cancels the turn",
        ):
            self._screen.print_line(line)

    async def diff(self, _: str) -> None:
        documents = (await self._chat.command("tark.state"))["hunks"]
        pending = [
            (document["uri"], hunk)
            for document in documents
            for hunk in document["hunks"]
            if hunk["state"] == "pending"
        ]
        if not pending:
            self._screen.print_line("no changes wait for your decision", "dim")
            return
        await decide(await self._chat.server.client(), self._screen, self._chat.person, pending)

    async def approve(self, _: str) -> None:
        """Approves the plan that a turn in mode plan made."""
        if self._chat.session.facts.mode != "plan":
            raise RequestError("there is no plan: the mode is not plan", hint="/mode plan, then ask for one")
        await self._chat.current.change_settings(mode="build")
        self._chat.send_prompt(CARRY_OUT)

    async def cancel(self, _: str) -> None:
        if not self._chat.cancel():
            self._screen.print_line("no turn is running", "dim")

    async def clear(self, _: str) -> None:
        self._clear()

    async def quit(self, _: str) -> None:
        self._leave()


def _setting_rows(settings: SettingCommands, agents: AgentCommand) -> list[SlashCommand]:
    return [
        SlashCommand(
            "/model [ID]", "list the models, or those that match, and choose one", settings.model, settings.model_ids
        ),
        SlashCommand("/mode [MODE]", "ask, plan or build", settings.mode, _fixed(MODES)),
        SlashCommand("/agent [NAME]", "list the custom agents, and choose one; none for none", agents.run),
        SlashCommand(
            "/approval [LEVEL]",
            "manual, careful or balanced: what asks for permission",
            settings.approval,
            _fixed(APPROVALS),
        ),
        SlashCommand(
            "/thinking [LEVEL]",
            "how much the model thinks first",
            settings.thinking,
            _fixed(dict.fromkeys(get_args(Thinking), "")),
        ),
    ]


def _permission_rows(commands: PermissionCommands) -> list[SlashCommand]:
    about = "list what you allowed beyond single calls, and revoke it"
    return [SlashCommand("/permissions", about, commands.permissions)]


def _session_rows(sessions: SessionCommands, reports: SessionReports) -> list[SlashCommand]:
    ids = sessions.session_ids
    return [
        SlashCommand("/new", "start a new session", sessions.new, idle=True),
        SlashCommand("/sessions", "list the sessions of this folder, and pick one", sessions.sessions, idle=True),
        SlashCommand("/resume [SESSION]", "continue a session, by id or title", sessions.resume, ids, idle=True),
        SlashCommand("/rename TITLE", "give this session a title", sessions.rename),
        SlashCommand("/fork [TITLE]", "continue in a fork of this session", sessions.fork, idle=True),
        SlashCommand("/delete [SESSION]", "delete a session; asks first", sessions.delete, ids, idle=True),
        SlashCommand("/export [FORMAT] [PATH]", "write this session to a file: markdown or json", sessions.export),
        SlashCommand("/compact", "let the model summarise the session, to make room", sessions.compact, idle=True),
        SlashCommand("/context", "what the next prompt consists of, in tokens", reports.context),
        SlashCommand("/usage", "tokens and cost of this session", reports.usage),
    ]


def _undo_rows(commands: UndoCommands) -> list[SlashCommand]:
    return [
        SlashCommand(
            "/undo", "undo what the last turn changed in files; again: an earlier turn", commands.undo, idle=True
        ),
        SlashCommand("/redo", "do again what /undo took back", commands.redo, idle=True),
        SlashCommand("/restore", "go back to before an earlier prompt, in a fork", commands.restore, idle=True),
    ]


def _own_rows(commands: ChatCommands) -> list[SlashCommand]:
    return [
        SlashCommand("/diff", "show the proposed changes, and decide", commands.diff, idle=True),
        SlashCommand("/approve", "approve the plan: mode build, and carry it out", commands.approve, idle=True),
        SlashCommand("/cancel", "cancel the running turn, like Ctrl-C", commands.cancel, at_once=True),
        SlashCommand("/clear", "clear the screen; the session stays", commands.clear, at_once=True),
        SlashCommand("/quit", "leave, like Ctrl-D; --continue resumes later", commands.quit, at_once=True),
    ]


def _fixed(words: Mapping[str, str]) -> CompletionWords:
    async def complete() -> Sequence[tuple[str, str]]:
        return list(words.items())

    return complete
