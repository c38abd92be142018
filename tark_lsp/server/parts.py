"""All parts of the language server: those that answer requests of the editor, and who hears of which event.

What a part needs to hear from a later one comes as an event (`listen`). command_parts.py has what only commands need.
"""

import asyncio
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tark_lsp.review.events import HunksChanged, HunksMoved, ReviewEvent, TextWritten
from tark_lsp.server.actions.code_actions import CodeActions
from tark_lsp.server.actions.hunk_actions import HunkActions
from tark_lsp.server.actions.lens_refresh import LensRefresh
from tark_lsp.server.asking.permission import PermissionEvent, TurnCancelled
from tark_lsp.server.chat.chat_turns import ChatTurns
from tark_lsp.server.chat.chats import OpenChats
from tark_lsp.server.chat.completion import Completion
from tark_lsp.server.chat.features import ChatFeatures
from tark_lsp.server.commands import Commands
from tark_lsp.server.connection.early_answers import EarlyAnswers
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.core_parts import CoreParts
from tark_lsp.server.hunks.moved_hunks import MovedHunks
from tark_lsp.server.protocol import incoming
from tark_lsp.server.sessions.events import SessionChanged, SessionEvent, SessionLost
from tark_lsp.server.turns.comment_runs import CommentRuns
from tark_lsp.server.turns.start_command import StartCommand
from tark_lsp.sessions.chats import ChatRows
from tark_lsp.workspace.text_document import is_chat

if TYPE_CHECKING:  # imported with the first command
    from tark_lsp.server.command_parts import CommandParts


class ServerParts(CoreParts):
    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._make_features()
        early = EarlyAnswers(connection, self.questions.tell)
        self.commands = Commands(early, lambda: self.command_parts.features, self._before_command)
        self._connect_events()
        self.configuration.load()

    def _make_features(self) -> None:
        """The parts that answer requests of the editor, and those that hear of its events."""
        connection, documents, workspace, sessions = self._connection, self.documents, self.workspace, self.sessions
        comments, prompts, asked, targets = self.comments, self.prompts, self.permissions, self.targets
        self.chats = OpenChats(documents, workspace, self.records, self.questions, ChatRows(self.store))
        completion = Completion(
            workspace,
            self.mentions.kinds,
            prompts,
            self.client_state.unsaved_documents,
            lambda: (document.path for document in self.documents if document.path and not is_chat(document.path)),
        )
        self.chat = ChatFeatures(connection, documents, workspace, self.chats, completion)
        on_hunks = HunkActions(connection, documents, self.reviews, self.hunks, asked, comments)
        self.actions = CodeActions(connection, documents, targets, on_hunks, asked, comments, prompts, self.display)
        self.lens_refresh = LensRefresh(connection)
        self.moved_hunks = MovedHunks(self._show_hunks)
        chat_turns = ChatTurns(targets, prompts, sessions, self.turns, self.chats)
        self.start = StartCommand(
            connection, targets, self.selections, prompts, comments, sessions, self.turns, chat_turns
        )
        self.comment_runs = CommentRuns(
            documents, comments, self.marks, self.start, self.saving, self.questions, self._settings, self.background
        )

    @cached_property
    def command_parts(self) -> "CommandParts":
        from tark_lsp.server.command_parts import CommandParts

        return CommandParts(self._connection, self, self.start)

    def _before_command(self, command: str) -> None:
        self.restorer.restore_if_due()
        self.indexing.before_command(command)

    def _connect_events(self) -> None:
        self.reviews.events.listen(self._on_review_event)
        self.permissions.listen(self._on_permission_event)
        self.sessions.events.listen(self._on_session_event)
        self.inputs.listen(lambda _: self.lens_refresh.refresh())
        self.chats.listen(lambda _: self.lens_refresh.refresh())

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
        if isinstance(event, SessionChanged):
            self._show_session(event.session_id)
            self.mcp.start()  # it is new, perhaps: its first call should find its server ready

    def _show_session(self, session_id: str) -> None:
        if self._connection.client.understands("updates"):
            rows = self.sessions.rows
            self._connection.notify(incoming.SESSION, {"session": rows.json(rows.find_row(session_id))})

    async def stop(self) -> None:
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
        if "command_parts" in vars(self):
            await self.command_parts.stop()
        await self.configuration.aclose()
