"""The parts that hold documents, sessions and hunks, and run turns. They answer no request by themselves.

Made in the order of their layers: each part gets what stands before it.
"""

import os
from typing import TYPE_CHECKING

from tark_lsp.folders import kept_hunks_mark, permissions_path, sessions_path, uploads_path
from tark_lsp.permissions.store import PermissionStore
from tark_lsp.review.decisions import Reviews
from tark_lsp.review.keeping import HunkKeeper
from tark_lsp.review.outside import OutsideChanges
from tark_lsp.review.restoring import HunkRestorer
from tark_lsp.review.saves import Saves
from tark_lsp.server.asking.inputs import Inputs
from tark_lsp.server.asking.permission import Permissions
from tark_lsp.server.asking.permission_asking import PermissionAsking
from tark_lsp.server.asking.preview import Preview
from tark_lsp.server.asking.questions import Questions
from tark_lsp.server.asking.text_display import TextDisplay
from tark_lsp.server.asking.workspace_trust import WorkspaceTrust
from tark_lsp.server.background import BackgroundTasks
from tark_lsp.server.configuration import Configuration
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.documents.client_state import ClientState
from tark_lsp.server.documents.selections import Selections
from tark_lsp.server.documents.sync import DocumentSync
from tark_lsp.server.documents.targets import Targets
from tark_lsp.server.editing.apply import EditorBuffers
from tark_lsp.server.editing.saving import Saving
from tark_lsp.server.hunks.diagnostics import ReviewDiagnostics
from tark_lsp.server.hunks.turn_undoing import make_checkpoints, make_commands
from tark_lsp.server.indexing.indexing import Indexing
from tark_lsp.server.mcp_list.news import OfferNews
from tark_lsp.server.prompting.custom_agents import CustomAgents
from tark_lsp.server.prompting.inserted_marks import InsertedMarks
from tark_lsp.server.prompting.mentions import Mentions
from tark_lsp.server.prompting.named_prompts import NamedPrompts
from tark_lsp.server.prompting.prompt_comments import PromptComments
from tark_lsp.server.protocol.hunks import HunksJson
from tark_lsp.server.sessions.sessions import Sessions
from tark_lsp.server.turns.answer_display import AnswerDisplay
from tark_lsp.server.turns.default_model import SessionModels
from tark_lsp.server.turns.earlier_turns import EarlierTurns
from tark_lsp.server.turns.hunk_updates import HunkUpdates
from tark_lsp.server.turns.lasting_permissions import WorkspacePermissions
from tark_lsp.server.turns.mcp_sources import McpSources
from tark_lsp.server.turns.mcp_start import McpStart
from tark_lsp.server.turns.mcp_tools import McpTools
from tark_lsp.server.turns.preparation import Preparation
from tark_lsp.server.turns.recording import Recorder
from tark_lsp.server.turns.sandboxes import Sandboxes
from tark_lsp.server.turns.surroundings import TurnSurroundings
from tark_lsp.server.turns.title_request import Titles
from tark_lsp.server.turns.tool_contexts import ToolContexts
from tark_lsp.server.turns.turn_records import TurnRecords
from tark_lsp.server.turns.turn_users import TurnUsers
from tark_lsp.server.turns.turn_workspaces import TurnWorkspaces, open_workspace
from tark_lsp.server.turns.turns import Turns
from tark_lsp.server.turns.update_writer import UpdateWriter
from tark_lsp.server.turns.updates import ProgressTokens
from tark_lsp.sessions.hunks import HunkRows
from tark_lsp.sessions.store import SessionStore
from tark_lsp.settings import Settings
from tark_lsp.telemetry.optional_tracing import create_tracing
from tark_lsp.telemetry.turn_log import TurnLog
from tark_lsp.workspace.documents import Documents

if TYPE_CHECKING:  # imported when an index runs; with the first MCP server or hook
    from tark_lsp.server.indexing.embedding import Embedding
    from tark_lsp.server.mcp_list.current import CurrentList


class CoreParts:
    def __init__(self, connection: Connection) -> None:
        """The client is known by now (`connection.client`)."""
        self._connection = connection
        self._make_documents()
        self._make_sessions()
        self._make_review()
        self._make_turns()

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
        self.agents = CustomAgents(
            self.workspace, self.configuration, self.questions, lambda: self.trust.is_trusted(self.workspace.folders)
        )
        self.prompts = NamedPrompts(self.workspace, self.configuration, self.questions, self.agents)
        self.mentions = Mentions(self.selections)

    def _make_sessions(self) -> None:
        shows, settings = self._connection.client.understands("updates"), self._settings
        self.store = SessionStore(sessions_path, lambda problem: self.questions.warn(f"Tark: {problem}"))
        self.sessions = Sessions(
            self.store,
            settings,
            lambda: self.workspace.folders,
            self.questions.warn,
            shows,
            effective=self.agents.effective,
        )
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
        self.inputs = Inputs(connection, self.questions)
        self.permissions = Permissions(documents, workspace, self.hunks, self.show)
        self.given = PermissionStore(permissions_path, lambda problem: warn(f"Tark: {problem}"))

    def _make_turns(self) -> None:
        connection, configuration = self._connection, self.configuration
        preview = Preview(connection, self.documents, self.reviews, self.outside)
        asking = PermissionAsking(connection, self.permissions, self.questions, preview)
        inputs = self.inputs if connection.client.understands("input") else None
        trust = self.trust = WorkspaceTrust(self._settings, self.given, self.questions, inputs)
        self.mcp = McpTools(
            McpSources(configuration, self.workspace, Sandboxes(), lambda: trust.is_trusted(self.workspace.folders))
        )
        self.mcp_news = OfferNews(connection, self.workspace, self.mcp, self._current_list)
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
            SessionModels(configuration, self.questions, self.agents),
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
        self.indexing.embed_with(self._make_embedding)
        turns = self.turns = Turns(connection, self.tokens, self.records, self.preparation, writer, self.display)
        self.hunk_updates = HunkUpdates(self.records, self.earlier, self.hunks)
        self.recorder = Recorder(self.sessions, self.questions.warn)
        turns.listen(self.recorder)  # the first one, so that everything is stored before anybody is told
        self.mcp_start = McpStart(self.mcp)
        turns.listen(self.mcp_start)
        self.titles = Titles(configuration, self.sessions, turns)
        turns.listen(TurnLog())
        self.tracing = create_tracing(os.environ, self.questions.warn)
        if self.tracing is not None:
            turns.listen(self.tracing)

    def _make_embedding(self) -> "Embedding":
        from tark_lsp.permissions.uploads import AllowedUploads
        from tark_lsp.server.indexing.embedding import Embedding

        return Embedding(
            self.configuration,
            self.workspace,
            self.indexing.index,
            self.questions,
            AllowedUploads(uploads_path),
            self.background,
            self.preparation.contexts.new_masks,
        )

    def _current_list(self) -> "CurrentList":
        from tark_lsp.server.mcp_list.current import CurrentList

        is_trusted = self.trust.is_trusted
        return CurrentList(self.configuration, self.workspace, self.mcp, lambda: is_trusted(self.workspace.folders))
