"""create_server(): the one place where the parts of the language server are put together.

Longer than other files, since it names every part once; what the parts do is elsewhere.
"""

import asyncio
import logging
import os
from collections.abc import Coroutine
from functools import partial
from pathlib import Path
from typing import Any

from tark_lsp.agent.approval import closed
from tark_lsp.folders import (
    checkpoints_path,
    kept_hunks_mark,
    own_folders,
    sessions_path,
    user_config_path,
)
from tark_lsp.server import protocol
from tark_lsp.server.actions.code_actions import CodeActions
from tark_lsp.server.asking.inputs import Inputs
from tark_lsp.server.asking.permission import Permissions
from tark_lsp.server.asking.questions import WARNING, Questions
from tark_lsp.server.asking.show import Show
from tark_lsp.server.auth import Auth
from tark_lsp.server.chat.chats import Chats
from tark_lsp.server.chat.completion import Completion
from tark_lsp.server.chat.features import Chat, serve
from tark_lsp.server.commands import Commands, Parts
from tark_lsp.server.configuration import Configuration
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.doctor import Doctor
from tark_lsp.server.documents.documents import Documents
from tark_lsp.server.documents.selections import Selections
from tark_lsp.server.documents.targets import Targets
from tark_lsp.server.documents.uris import paths_of_files
from tark_lsp.server.editing.apply import EditorBuffers
from tark_lsp.server.editing.saving import Saving
from tark_lsp.server.editors import folder_paths
from tark_lsp.server.prompting.mentions import Mentions
from tark_lsp.server.prompting.named_prompts import NamedPrompts
from tark_lsp.server.prompting.prompt_comments import PromptComments
from tark_lsp.server.review.actions import HunkActions
from tark_lsp.server.review.drawing import Drawing
from tark_lsp.server.review.earlier_turns import EarlierTurns
from tark_lsp.server.review.hunks_json import HunksJson
from tark_lsp.server.review.kept import KeptHunks
from tark_lsp.server.review.preview import Preview
from tark_lsp.server.review.reviews import Reviews
from tark_lsp.server.review.undo import UndoCommand, unkept
from tark_lsp.server.sessions.commands import SessionCommands
from tark_lsp.server.sessions.recording import Recorder
from tark_lsp.server.sessions.sessions import Sessions
from tark_lsp.server.sessions.title_request import Titles
from tark_lsp.server.turns.answers import Answers
from tark_lsp.server.turns.budgeting import Budgeting
from tark_lsp.server.turns.client_state import ClientState
from tark_lsp.server.turns.prepare import Preparation, policy
from tark_lsp.server.turns.single_file import SingleFiles
from tark_lsp.server.turns.telling import Telling
from tark_lsp.server.turns.turns import Turns
from tark_lsp.server.turns.updates import ProgressTokens
from tark_lsp.sessions.chats import ChatRows
from tark_lsp.sessions.hunks import HunkRows
from tark_lsp.sessions.results import SessionResults
from tark_lsp.sessions.store import SessionStore
from tark_lsp.telemetry.turn_log import TurnLog
from tark_lsp.telemetry.wanted import tracing_of
from tark_lsp.workspace.checkpoints.checkpoints import Checkpoints
from tark_lsp.workspace.checkpoints.store import CheckpointStore
from tark_lsp.workspace.files import Workspace

log = logging.getLogger(__name__)

ASK_FOR_HUNKS = frozenset({"tark.hunk.list", "tark.state"})
"""Commands that look for the hunks of servers that ended while this one runs."""


def create_server() -> Connection:
    """A server with every handler registered; its parts are made when the client is known."""
    connection = Connection()
    app = App(connection)
    connection.on_initialize(app.begin)
    connection.on_stop(app.stop)
    connection.on_notification("initialized", app.initialized)
    connection.on_notification("textDocument/didOpen", lambda params: app.documents.did_open(params))
    connection.on_notification("textDocument/didChange", lambda params: app.documents.did_change(params))
    connection.on_notification("textDocument/didSave", lambda params: app.documents.did_save(params))
    connection.on_notification("textDocument/didClose", lambda params: app.documents.did_close(params))
    connection.on_notification("workspace/didChangeConfiguration", app.configuration_changed)
    connection.on_notification("workspace/didChangeWorkspaceFolders", app.folders_changed)
    connection.on_notification("workspace/didRenameFiles", app.files_renamed)
    connection.on_notification("workspace/didDeleteFiles", app.files_deleted)
    # Closed files are read anew at each use, so nothing is kept that a new one could make stale.
    connection.on_notification("workspace/didCreateFiles", lambda _: None)
    connection.on_notification("window/workDoneProgress/cancel", app.progress_cancelled)
    connection.on_request("workspace/executeCommand", app.execute, protocol.ExecuteCommand)
    connection.on_request("textDocument/codeAction", app.code_actions, protocol.CodeActionParams)
    connection.on_request("textDocument/codeLens", app.lenses, protocol.DocumentParams)
    connection.on_request("textDocument/hover", app.hover, protocol.HoverParams)
    serve(connection, lambda: app.chat)
    return connection


class App:
    """The parts of one server, from `begin` on."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self) -> None:
        connection, client = self._connection, self._connection.client
        documents = self.documents = Documents(client.position_encoding)
        buffers = EditorBuffers(connection, documents)
        workspace = Workspace(client.folders, buffers, own_folders())
        questions = self._questions = Questions(connection, documents)
        configuration = self._configuration = Configuration(
            connection, questions, lambda: workspace.folders, self._soon
        )
        show = Show(connection, questions)
        tokens = self._tokens = ProgressTokens()
        warn = partial(questions.tell, level=WARNING)
        store = SessionStore(sessions_path, lambda problem: warn(f"Tark: {problem}"))
        sessions = self._sessions = Sessions(store, lambda: configuration.settings, lambda: workspace.folders, warn)
        recorder = Recorder(sessions, warn)
        titles = self._titles = Titles(sessions, lambda: configuration.settings.sessions.titles)
        checkpoints = Checkpoints(
            CheckpointStore(checkpoints_path, lambda *problem: questions.tell(unkept(*problem), level=WARNING)),
            lambda turn_id: (self._turns.title(turn_id) or self._earlier.title(turn_id), workspace.folders),
        )
        targets = Targets(documents, workspace)
        self._state = ClientState(connection, documents)
        saving = Saving(
            connection, self._state, lambda: configuration.settings, lambda: self._reviews.saving, self._soon
        )
        drawing = Drawing(connection, documents)
        self._tell_editor = drawing.changed
        reviews = self._reviews = Reviews(
            workspace, documents, checkpoints, self._review_changed, drawing.moved, saving.applied
        )
        hunks = HunksJson(documents, reviews)
        earlier = self._earlier = EarlierTurns(connection, hunks, store)
        self._kept = KeptHunks(
            HunkRows(store, kept_hunks_mark), reviews, workspace, documents, checkpoints, earlier.came_back, warn
        )
        inputs = Inputs(connection, questions, drawing.refresh)
        preview = Preview(connection, documents, reviews)
        permissions = self._permissions = Permissions(
            connection, documents, workspace, hunks, questions, show, self._cancel_turn, drawing.refresh, preview
        )
        selections = Selections(connection, documents, targets)
        mentions = Mentions(selections)
        self._preparation = Preparation(
            configuration,
            workspace,
            documents,
            targets,
            self._state,
            inputs,
            questions,
            permissions,
            reviews,
            SingleFiles(workspace, buffers, configuration.load_and_tell),
            mentions,
            lambda session_id: SessionResults(store, session_id),
        )
        answers = Answers(connection, questions, show)
        self._tracing = tracing_of(os.environ, warn)
        turns = self._turns = Turns(
            connection,
            tokens,
            hunks,
            self._preparation,
            answers.turn_ended,
            Telling(hunks, answers.notice, targets.range_json),
            [recorder, titles, TurnLog(), *([self._tracing] if self._tracing else ())],
        )
        titles.tell = turns.event
        sessions.lost = lambda session_id: turns.cancel(session_id=session_id)
        drawing.attach(reviews, hunks, self._hunks_changed)
        chats = Chats(documents, workspace, turns, questions, ChatRows(store), drawing.refresh)
        prompts = NamedPrompts(
            workspace,
            user_config_path().parent,
            lambda path: closed(path, policy(configuration.settings), workspace),
            lambda problem: questions.tell(f"Tark: {problem}", level=WARNING),
        )
        self.chat = Chat(
            connection, documents, workspace, chats, Completion(workspace, mentions.kinds, prompts, self._state.unsaved)
        )
        comments = PromptComments(documents, workspace)
        actions = self._actions = CodeActions(
            connection,
            documents,
            targets,
            HunkActions(connection, documents, reviews, hunks, permissions, comments),
            permissions,
            comments,
            prompts,
            lambda: answers.last,
        )
        doctor = Doctor(connection, workspace, configuration)
        self._auth = Auth(connection, questions, answers, configuration.logins)
        self._commands = Commands(
            Parts(
                connection,
                documents,
                workspace,
                UndoCommand(checkpoints, workspace, documents, turns, reviews, hunks),
                targets,
                turns,
                reviews,
                hunks,
                permissions,
                inputs,
                self._preparation,
                comments,
                actions,
                answers,
                doctor,
                self._auth,
                chats,
                selections,
                sessions,
                SessionCommands(connection, sessions, turns, recorder, titles, Budgeting(self._preparation), answers),
                titles,
                prompts,
            )
        )
        configuration.load()

    async def stop(self) -> None:
        self._reviews.ending = True
        await self._turns.stop()
        self._kept.stop()
        await self._titles.stop()
        await self._sessions.stop()
        if self._tracing is not None:
            await self._tracing.stop()
        await self._auth.stop()
        await self._configuration.aclose()

    def initialized(self, _: dict[str, Any]) -> None:
        self._configuration.tell_problems()
        self._configuration.fetch()
        self._soon(self.chat.register())
        self._kept.soon()

    def configuration_changed(self, params: dict[str, Any]) -> None:
        self._configuration.changed(params)

    def folders_changed(self, params: dict[str, Any]) -> None:
        event = params.get("event")
        event = event if isinstance(event, dict) else {}
        gone = folder_paths(event.get("removed"))
        workspace, single_files = self._preparation.workspace, self._preparation.single_files
        open_ones = workspace.folders if single_files.folder_is_open else ()
        workspace.set_folders([*(each for each in open_ones if each not in gone), *folder_paths(event.get("added"))])
        single_files.folder_is_open = bool(workspace.folders)
        self._configuration.load_and_tell()
        self._kept.soon()

    def _cancel_turn(self, turn_id: str) -> None:
        self._turns.cancel(turn_id)

    def files_renamed(self, params: dict[str, Any]) -> None:
        for old, new in paths_of_files(params, "oldUri", "newUri"):
            self._reviews.renamed(old, new)

    def files_deleted(self, params: dict[str, Any]) -> None:
        for (path,) in paths_of_files(params, "uri"):
            self._reviews.deleted(path)

    def _review_changed(self, path: Path) -> None:
        self._kept.changed(path)  # before anybody is told
        self._tell_editor(path)

    def _hunks_changed(self, path: Path) -> None:
        self._turns.hunks_changed(path)
        self._earlier.hunks_changed(path)
        self._permissions.hunks_changed()

    def progress_cancelled(self, params: dict[str, Any]) -> None:
        turn_id = self._tokens.turn(params.get("token"))
        if turn_id is not None:
            self._turns.cancel(turn_id)

    async def execute(self, params: protocol.ExecuteCommand) -> Any:
        if params.command in ASK_FOR_HUNKS:
            self._kept.bring_back()
        else:
            self._kept.now()
        return await self._commands.execute(params)

    async def code_actions(self, params: protocol.CodeActionParams) -> list[dict[str, Any]]:
        self._kept.now()
        return [*self.chat.actions(params), *await self._commands.code_actions(params)]

    async def lenses(self, params: protocol.DocumentParams) -> list[dict[str, Any]]:
        self._kept.now()
        return [*self.chat.lenses(params), *self._actions.lenses(params)]

    async def hover(self, params: protocol.HoverParams) -> dict[str, Any] | None:
        return self._actions.hover(params)

    def _soon(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
