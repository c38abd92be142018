"""All parts of the language server, made in the order of their layers: the one place where they are put together.

Each part gets what stands before it. What a part needs to hear from a later one comes as an event (`listen`).
"""

import asyncio
import os
from pathlib import Path
from typing import Any

from tark_lsp.folders import kept_hunks_mark, permissions_path, sessions_path, uploads_path
from tark_lsp.permissions.store import PermissionStore
from tark_lsp.permissions.uploads import AllowedUploads
from tark_lsp.review.decisions import Reviews
from tark_lsp.review.events import HunksChanged, HunksMoved, ReviewEvent, TextWritten
from tark_lsp.review.keeping import HunkKeeper
from tark_lsp.review.outside import OutsideChanges
from tark_lsp.review.restoring import HunkRestorer
from tark_lsp.review.saves import Saves
from tark_lsp.server.actions.code_actions import CodeActions
from tark_lsp.server.actions.hunk_actions import HunkActions
from tark_lsp.server.actions.lens_refresh import LensRefresh
from tark_lsp.server.asking.inputs import Inputs
from tark_lsp.server.asking.permission import PermissionEvent, Permissions, TurnCancelled
from tark_lsp.server.asking.permission_asking import PermissionAsking
from tark_lsp.server.asking.permission_commands import PermissionCommands
from tark_lsp.server.asking.preview import Preview
from tark_lsp.server.asking.questions import Questions
from tark_lsp.server.asking.text_display import TextDisplay
from tark_lsp.server.asking.workspace_trust import WorkspaceTrust
from tark_lsp.server.auth import Auth
from tark_lsp.server.background import BackgroundTasks
from tark_lsp.server.chat.chat_turns import ChatTurns
from tark_lsp.server.chat.chats import OpenChats
from tark_lsp.server.chat.completion import Completion
from tark_lsp.server.chat.features import ChatFeatures
from tark_lsp.server.clipboard_image import ClipboardImage
from tark_lsp.server.code_blocks.command import CodeBlockCommand
from tark_lsp.server.commands import Commands
from tark_lsp.server.commit_message import CommitMessages
from tark_lsp.server.configuration import Configuration
from tark_lsp.server.connection.early_answers import EarlyAnswers
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.demo import Demo
from tark_lsp.server.doctor import Doctor
from tark_lsp.server.documents.client_state import ClientState
from tark_lsp.server.documents.selections import Selections
from tark_lsp.server.documents.sync import DocumentSync
from tark_lsp.server.documents.targets import Targets
from tark_lsp.server.editing.apply import EditorBuffers
from tark_lsp.server.editing.saving import Saving
from tark_lsp.server.hunks.asked_turns import AskedTurns
from tark_lsp.server.hunks.commands import HunkCommands
from tark_lsp.server.hunks.diagnostics import ReviewDiagnostics
from tark_lsp.server.hunks.moved_hunks import MovedHunks
from tark_lsp.server.hunks.regenerate import RegenerateCommand
from tark_lsp.server.hunks.restore import RestoreCommand
from tark_lsp.server.hunks.turn_undoing import TurnUndoing, make_checkpoints, make_commands
from tark_lsp.server.hunks.undo import UndoCommands
from tark_lsp.server.indexing.command import IndexCommands, status_json
from tark_lsp.server.indexing.embedding import Embedding
from tark_lsp.server.indexing.indexing import Indexing
from tark_lsp.server.model_list import ModelList
from tark_lsp.server.patch_command import PatchCommand
from tark_lsp.server.permissions_command import PermissionsCommand
from tark_lsp.server.prompting.inserted_marks import InsertedMarks
from tark_lsp.server.prompting.mentions import Mentions
from tark_lsp.server.prompting.named_prompts import NamedPrompts
from tark_lsp.server.prompting.prompt_comments import PromptComments
from tark_lsp.server.protocol.hunks import HunksJson
from tark_lsp.server.sessions.commands import SessionCommands
from tark_lsp.server.sessions.events import SessionChanged, SessionEvent, SessionLost
from tark_lsp.server.sessions.sessions import Sessions
from tark_lsp.server.state_command import StateCommand
from tark_lsp.server.turns.answer_display import AnswerDisplay
from tark_lsp.server.turns.commands import TurnCommands
from tark_lsp.server.turns.comment_runs import CommentRuns
from tark_lsp.server.turns.context_budget import ContextBudget
from tark_lsp.server.turns.context_commands import ContextCommands
from tark_lsp.server.turns.default_model import SessionModels, with_chosen_model
from tark_lsp.server.turns.earlier_turns import EarlierTurns
from tark_lsp.server.turns.hunk_updates import HunkUpdates
from tark_lsp.server.turns.lasting_permissions import WorkspacePermissions
from tark_lsp.server.turns.mcp_tools import McpTools
from tark_lsp.server.turns.preparation import Preparation
from tark_lsp.server.turns.recording import Recorder
from tark_lsp.server.turns.sandboxes import Sandboxes
from tark_lsp.server.turns.start_command import StartCommand
from tark_lsp.server.turns.surroundings import TurnSurroundings
from tark_lsp.server.turns.title_request import Titles
from tark_lsp.server.turns.tool_contexts import ToolContexts
from tark_lsp.server.turns.turn_records import TurnRecords
from tark_lsp.server.turns.turn_users import TurnUsers
from tark_lsp.server.turns.turn_workspaces import TurnWorkspaces, open_workspace
from tark_lsp.server.turns.turns import Turns
from tark_lsp.server.turns.update_writer import UpdateWriter
from tark_lsp.server.turns.updates import ProgressTokens
from tark_lsp.server.usage_command import UsageCommand
from tark_lsp.sessions.chats import ChatRows
from tark_lsp.sessions.hunks import HunkRows
from tark_lsp.sessions.store import SessionStore
from tark_lsp.settings import Settings
from tark_lsp.telemetry.optional_tracing import create_tracing
from tark_lsp.telemetry.turn_log import TurnLog
from tark_lsp.workspace.documents import Documents
from tark_lsp.workspace.text_document import is_chat


class ServerParts:
    def __init__(self, connection: Connection) -> None:
        """The client is known by now (`connection.client`)."""
        self._connection = connection
        self._make_documents()
        self._make_sessions()
        self._make_review()
        self._make_turns()
        self._make_features()
        self._connect_events()
        self.configuration.load()

    def _settings(self) -> Settings:
        return self.configuration.settings

    def _make_documents(self) -> None:
        connection, client = self._connection, self._connection.client
        self.background = BackgroundTasks()
        self.documents = Documents(client.position_encoding)
        self.document_sync = DocumentSync(self.documents, trusts_will_save=not client.flags.always_says_by_hand)
        self.buffers = EditorBuffers(connection, self.documents)
        self.workspace = open_workspace(client, self.buffers)
        self.targets = Targets(self.documents, self.workspace)
        self.client_state = ClientState(connection, self.documents)
        self.selections = Selections(connection, self.documents, self.targets)
        self.questions = Questions(connection, self.documents)
        self.show = TextDisplay(connection, self.questions)
        self.configuration = Configuration(connection, self.questions, self.workspace, self.background)
        self.comments = PromptComments(self.documents, self.workspace)
        self.marks = InsertedMarks(self.documents, self._settings, self.buffers.wrote_line)
        self.prompts = NamedPrompts(self.workspace, self.configuration, self.questions)
        self.mentions = Mentions(self.selections)

    def _make_sessions(self) -> None:
        shows, settings = self._connection.client.understands("updates"), self._settings
        self.store = SessionStore(sessions_path, lambda problem: self.questions.warn(f"Tark: {problem}"))
        self.sessions = Sessions(self.store, settings, lambda: self.workspace.folders, self.questions.warn, shows)
        self.earlier = EarlierTurns(self._connection, self.store)
        self.records = TurnRecords(self.store, self.earlier)

    def _make_review(self) -> None:
        connection, documents, workspace, warn = self._connection, self.documents, self.workspace, self.questions.warn
        self.checkpoints = make_checkpoints(warn, self.records.title, workspace)
        self.command_changes = make_commands(self.checkpoints, documents)
        self.reviews = Reviews(workspace, documents, self.checkpoints)
        self.outside = OutsideChanges(self.reviews, documents, self.checkpoints)
        accepts = not connection.client.understands("review")
        self.saves = Saves(self.reviews, documents, self.checkpoints, accepts=accepts)
        self.hunks = HunksJson(documents, self.reviews.hunks)
        self.keeper = HunkKeeper(HunkRows(self.store, kept_hunks_mark), self.reviews, warn)
        came_back = self.earlier.came_back
        self.restorer = HunkRestorer(self.keeper, self.reviews, workspace, documents, self.checkpoints, came_back)
        self.saving = Saving(connection, self.client_state, self._settings, self.background)
        self.diagnostics = ReviewDiagnostics(connection, documents, self.hunks, self.reviews.problems)
        self.moved_hunks = MovedHunks(self._show_hunks)
        self.inputs = Inputs(connection, self.questions)
        self.permissions = Permissions(documents, workspace, self.hunks, self.show)
        self.given = PermissionStore(permissions_path, lambda problem: warn(f"Tark: {problem}"))

    def _make_turns(self) -> None:
        connection, configuration = self._connection, self.configuration
        preview = Preview(connection, self.documents, self.reviews, self.outside)
        asking = PermissionAsking(connection, self.permissions, self.questions, preview)
        inputs = self.inputs if connection.client.understands("input") else None
        trust = WorkspaceTrust(self._settings, self.given, self.questions, inputs)
        self.mcp = McpTools(
            configuration, self.workspace, Sandboxes(), lambda: trust.is_trusted(self.workspace.folders)
        )
        self.workspaces = TurnWorkspaces(self.workspace, self.buffers, configuration)
        self.indexing = Indexing(
            connection,
            self.documents,
            self.workspace,
            lambda: self.workspaces.open_folders,
            configuration,
            trust,
            self.questions,
            self.background,
        )
        self.preparation = Preparation(
            configuration,
            SessionModels(configuration, self.questions),
            self.workspaces,
            ToolContexts(
                configuration,
                self.client_state,
                self.inputs,
                self.store,
                self.reviews.problems,
                self.command_changes,
                self.mcp,
                self.indexing,
            ),
            TurnUsers(asking, self.reviews),
            self.mentions,
            TurnSurroundings(self.documents, self.targets, self.client_state),
            lambda workspace, *ids: WorkspacePermissions(workspace, self.given, trust, *ids),
        )
        self.tokens = ProgressTokens()
        self.display = AnswerDisplay(connection, self.questions, self.show)
        writer = UpdateWriter(self.hunks, self.targets, self.display)
        self.indexing.embed_with(
            Embedding(
                configuration,
                self.workspace,
                self.indexing.index.allows,
                self.questions,
                AllowedUploads(uploads_path),
                self.background,
                self.preparation.contexts.new_masks,
            )
        )
        turns = self.turns = Turns(connection, self.tokens, self.records, self.preparation, writer, self.display)
        self.hunk_updates = HunkUpdates(self.records, self.earlier, self.hunks)
        self.recorder = Recorder(self.sessions, self.questions.warn)
        turns.listen(self.recorder)  # the first one, so that everything is stored before anybody is told
        self.titles = Titles(configuration, self.sessions, turns)
        turns.listen(TurnLog())
        self.tracing = create_tracing(os.environ, self.questions.warn)
        if self.tracing is not None:
            turns.listen(self.tracing)

    def _make_features(self) -> None:
        """The parts that answer commands and requests."""
        connection, documents, workspace, sessions = self._connection, self.documents, self.workspace, self.sessions
        reviews, hunks, turns, records, show = self.reviews, self.hunks, self.turns, self.records, self.show
        self.chats = OpenChats(documents, workspace, records, self.questions, ChatRows(self.store))
        chat_turns = ChatTurns(self.targets, self.prompts, sessions, turns, self.chats)
        completion = Completion(
            workspace,
            self.mentions.kinds,
            self.prompts,
            self.client_state.unsaved_documents,
            lambda: (document.path for document in self.documents if document.path and not is_chat(document.path)),
        )
        self.chat = ChatFeatures(connection, documents, workspace, self.chats, completion)
        comments, prompts, asked, targets = self.comments, self.prompts, self.permissions, self.targets
        on_hunks = HunkActions(connection, documents, reviews, hunks, asked, comments)
        self.actions = CodeActions(connection, documents, targets, on_hunks, asked, comments, prompts, self.display)
        self.lens_refresh = LensRefresh(connection)
        self.auth = Auth(connection, self.questions, show, self.configuration)
        start = StartCommand(connection, targets, self.selections, prompts, comments, sessions, turns, chat_turns)
        self.comment_runs = CommentRuns(
            documents, comments, self.marks, start, self.saving, self.questions, self._settings, self.background
        )
        permissions = PermissionCommands(connection, self.permissions)
        asked_turns = AskedTurns(records, sessions)
        undone, check_model = self.checkpoints.undone_turns, self.configuration.check_model
        session_commands = SessionCommands(connection, sessions, show, records, turns.is_held_back, undone, check_model)
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
                "index": lambda _: status_json(self.indexing.index.last_status),
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
                RegenerateCommand(documents, reviews, asked_turns, turns, self.targets),
                state,
                permissions,
                PermissionsCommand(self.given, workspace, sessions, records),
                self.inputs,
                session_commands,
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
        if isinstance(event, SessionChanged):  # it is new, perhaps: its first call should find its server ready
            self.mcp.start()

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
        await self.auth.stop()
        await self.configuration.aclose()
