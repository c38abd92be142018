"""All parts of the language server: those that answer commands and requests, and who hears of which event.

What a part needs to hear from a later one comes as an event (`listen`).
"""

import asyncio
from pathlib import Path
from typing import Any

from tark_lsp.review.events import HunksChanged, HunksMoved, ReviewEvent, TextWritten
from tark_lsp.server.actions.code_actions import CodeActions
from tark_lsp.server.actions.hunk_actions import HunkActions
from tark_lsp.server.actions.lens_refresh import LensRefresh
from tark_lsp.server.asking.permission import PermissionEvent, TurnCancelled
from tark_lsp.server.asking.permission_commands import PermissionCommands
from tark_lsp.server.auth import Auth
from tark_lsp.server.chat.chat_turns import ChatTurns
from tark_lsp.server.chat.chats import OpenChats
from tark_lsp.server.chat.completion import Completion
from tark_lsp.server.chat.features import ChatFeatures
from tark_lsp.server.chat.slash_completion import SlashCompletion
from tark_lsp.server.clipboard_image import ClipboardImage
from tark_lsp.server.code_blocks.command import CodeBlockCommand
from tark_lsp.server.commands import Commands
from tark_lsp.server.commit_message import CommitMessages
from tark_lsp.server.connection.early_answers import EarlyAnswers
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.core_parts import CoreParts
from tark_lsp.server.demo import Demo
from tark_lsp.server.doctor import Doctor
from tark_lsp.server.hunks.asked_turns import AskedTurns
from tark_lsp.server.hunks.commands import HunkCommands
from tark_lsp.server.hunks.moved_hunks import MovedHunks
from tark_lsp.server.hunks.regenerate import RegenerateCommand
from tark_lsp.server.hunks.restore import RestoreCommand
from tark_lsp.server.hunks.turn_undoing import TurnUndoing
from tark_lsp.server.hunks.undo import UndoCommands
from tark_lsp.server.indexing.command import IndexCommands, status_json
from tark_lsp.server.mcp_list.commands import McpList
from tark_lsp.server.model_list import ModelList
from tark_lsp.server.patch_command import PatchCommand
from tark_lsp.server.permissions_command import PermissionsCommand
from tark_lsp.server.sessions.commands import SessionCommands
from tark_lsp.server.sessions.events import SessionChanged, SessionEvent, SessionLost
from tark_lsp.server.state_command import StateCommand
from tark_lsp.server.turns.commands import TurnCommands
from tark_lsp.server.turns.comment_runs import CommentRuns
from tark_lsp.server.turns.context_budget import ContextBudget
from tark_lsp.server.turns.context_commands import ContextCommands
from tark_lsp.server.turns.default_model import with_chosen_model
from tark_lsp.server.turns.mcp_listing import McpListing
from tark_lsp.server.turns.start_command import StartCommand
from tark_lsp.server.usage_command import UsageCommand
from tark_lsp.sessions.chats import ChatRows
from tark_lsp.workspace.text_document import is_chat


class ServerParts(CoreParts):
    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._make_features()
        self._connect_events()
        self.configuration.load()

    def _make_features(self) -> None:
        """The parts that answer commands and requests."""
        connection, documents, workspace, sessions = self._connection, self.documents, self.workspace, self.sessions
        reviews, hunks, turns, records, show = self.reviews, self.hunks, self.turns, self.records, self.show
        self.chats = OpenChats(documents, workspace, records, self.questions, ChatRows(self.store))
        chat_turns = ChatTurns(self.targets, self.prompts, sessions, turns, self.chats)
        listing = McpListing(self.mcp, self.background)
        completion = Completion(
            workspace,
            self.mentions.kinds,
            listing,
            self.client_state.unsaved_documents,
            lambda: (document.path for document in self.documents if document.path and not is_chat(document.path)),
        )
        self.chat = ChatFeatures(
            connection, documents, workspace, self.chats, completion, SlashCompletion(self.prompts, listing)
        )
        comments, prompts, asked, targets = self.comments, self.prompts, self.permissions, self.targets
        on_hunks = HunkActions(connection, documents, reviews, hunks, asked, comments)
        self.actions = CodeActions(connection, documents, targets, on_hunks, asked, comments, prompts, self.display)
        self.lens_refresh = LensRefresh(connection)
        self.moved_hunks = MovedHunks(self._show_hunks)
        self.auth = Auth(connection, self.questions, show, self.configuration)
        start = StartCommand(connection, targets, self.selections, prompts, comments, sessions, turns, chat_turns)
        self.comment_runs = CommentRuns(
            documents, comments, self.marks, start, self.saving, self.questions, self._settings, self.background
        )
        permissions = PermissionCommands(connection, self.permissions)
        asked_turns = AskedTurns(records, sessions)
        undone, check_model = self.checkpoints.undone_turns, self.configuration.check_model
        session_commands = SessionCommands(
            connection, sessions, show, records, turns.is_held_back, undone, check_model, self.agents
        )
        self.mcp_list = McpList(
            connection, self.configuration, workspace, self.mcp, lambda: self.trust.is_trusted(workspace.folders)
        )
        store, saving, commands = self.store, self.saving, self.command_changes
        turn_undo = TurnUndoing(self.checkpoints, workspace, documents, records, self.outside, store, saving, commands)

        def new_settings(session_id: str | None) -> dict[str, Any]:
            return with_chosen_model(sessions.new_sessions.settings_state(session_id))

        state = StateCommand(
            self.restorer,
            {
                "turns": records.state,
                "permissions": permissions.state,
                "inputs": self.inputs.state,
                "hunks": lambda _: hunks.by_document([hunk for hunk in reviews.hunks.find_hunks() if hunk.pending]),
                "sessions": session_commands.state,
                "prompts": self.prompts.state,
                "agents": self.agents.state,
                "index": lambda _: status_json(self.indexing.index.process.last_status),
                "settings": new_settings,
            },
        )
        self.commands = Commands(
            EarlyAnswers(connection, self.questions.tell),
            [
                start,
                TurnCommands(turns, records, sessions, self.titles, self.display),
                UndoCommands(turn_undo, workspace, hunks),
                RestoreCommand(turn_undo, sessions, hunks),
                HunkCommands(reviews, hunks, self.restorer, asked_turns),
                CodeBlockCommand(self.workspaces, self.preparation.contexts, self.targets, sessions, turns),
                RegenerateCommand(documents, reviews, asked_turns, turns, self.targets, self.agents),
                state,
                permissions,
                PermissionsCommand(self.given, self.trust, workspace, sessions, records),
                self.mcp_list,
                self.inputs,
                session_commands,
                self.agents,
                ContextCommands(sessions, turns, self.recorder, ContextBudget(self.preparation)),
                ModelList(self.configuration, show),
                self.auth,
                UsageCommand(sessions, show),
                IndexCommands(self.indexing.index, show),
                Doctor(connection, workspace, self.preparation, self.auth, show, lambda: new_settings(None)["model"]),
                Demo(workspace.folders),
                PatchCommand(workspace),
                ClipboardImage(workspace),
                CommitMessages(self.preparation, workspace, sessions, self.recorder),
            ],
            self._before_command,
        )

    def _before_command(self, command: str) -> None:
        self.restorer.restore_if_due()
        self.indexing.before_command(command)
        if command == "tark.turn.start":  # a file of offers can have changed without the editor
            self.mcp_list.news.check_soon()

    def _connect_events(self) -> None:
        self.reviews.events.listen(self._on_review_event)
        self.permissions.listen(self._on_permission_event)
        self.sessions.events.listen(self._on_session_event)
        self.inputs.listen(lambda _: self.lens_refresh.refresh())
        self.chats.listen(lambda _: self.lens_refresh.refresh())
        for changes in (self.mcp.changed, self.trust.changed, self.configuration.loaded):
            changes.listen(lambda _: self.mcp_list.news.check_soon())
        self.documents.listen(self.mcp_list.news.on_document_event)
        shows_offers = self._connection.client.understands("mcp")
        self.mcp.tells_offers = self.preparation.contexts.hooks.tells_offers = not shows_offers

    def _on_review_event(self, event: ReviewEvent) -> None:
        match event:
            case HunksChanged(path):
                self.keeper.keep_file(path)  # stored before anybody is told
                self._show_hunks(path)
                self.lens_refresh.refresh()
            case HunksMoved(path):
                self.moved_hunks.show_soon(path)
            case TextWritten(path, was_clean):
                self.saving.save_if_clean(path, was_clean)

    def _show_hunks(self, path: Path) -> None:
        self.hunk_updates.send_hunks(path)
        self.permissions.hunks_changed()
        self.diagnostics.publish(path)

    def _on_permission_event(self, event: PermissionEvent) -> None:
        if isinstance(event, TurnCancelled):
            self.turns.cancel(event.turn_id)
        else:
            self.lens_refresh.refresh()

    def _on_session_event(self, event: SessionEvent) -> None:
        if isinstance(event, SessionLost):
            self.turns.cancel(session_id=event.session_id)
        if isinstance(event, SessionChanged) and not self.records.active_turns():  # else `mcp_start` does it
            self.mcp.start()  # it is new, perhaps: its first call should find its server ready

    async def stop(self) -> None:
        self.mcp_list.news.stop()
        self.mcp_start.stop()
        self.reviews.ending = True
        await self.turns.stop()
        self.restorer.stop()
        await asyncio.gather(self.mcp.aclose(), self._stop_rest())

    async def _stop_rest(self) -> None:
        await self.titles.stop()
        await self.indexing.index.close()
        await self.sessions.stop()
        self.given.close()
        if self.tracing is not None:
            await self.tracing.stop()
        await self.auth.stop()
        await self.configuration.aclose()
