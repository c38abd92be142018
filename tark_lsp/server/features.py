"""create_server(): which part of the server handles which method of LSP."""

from typing import Any

from lsprotocol import types

from tark_lsp.server.app import App
from tark_lsp.server.chat import features as chat_features
from tark_lsp.server.connection.server import TarkServer
from tark_lsp.server.protocol import lsp_params

Json = dict[str, Any]


def create_server() -> TarkServer:
    """A server with every handler registered; its parts are made when the client is known."""
    server = TarkServer()
    app = App(server.protocol)
    _register_lifecycle(server, app)
    _register_documents(server, app)
    _register_workspace(server, app)
    _register_requests(server, app)
    chat_features.register(server, lambda: app.parts.chat)
    return server


def _register_lifecycle(server: TarkServer, app: App) -> None:
    @server.feature(types.INITIALIZE)
    def begin(_params: Json) -> None:
        app.begin()
        app.parts.commands.register(server.protocol.fm)

    @server.feature(types.INITIALIZED)
    def initialized(params: Json) -> None:
        app.initialized(params)

    @server.feature(types.SHUTDOWN)
    async def stop(_params: Json) -> None:
        await app.stop()


def _register_documents(server: TarkServer, app: App) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: Json) -> None:
        app.parts.document_sync.did_open(params)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: Json) -> None:
        app.parts.document_sync.did_change(params)

    @server.feature(types.TEXT_DOCUMENT_WILL_SAVE)
    def will_save(params: Json) -> None:
        app.parts.document_sync.will_save(params)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: Json) -> None:
        app.parts.document_sync.did_save(params)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: Json) -> None:
        app.parts.document_sync.did_close(params)


def _register_workspace(server: TarkServer, app: App) -> None:
    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configuration_changed(params: Json) -> None:
        app.configuration_changed(params)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders_changed(params: Json) -> None:
        app.folders_changed(params)

    @server.feature(types.WORKSPACE_DID_RENAME_FILES)
    def files_renamed(params: Json) -> None:
        app.files_renamed(params)

    @server.feature(types.WORKSPACE_DID_DELETE_FILES)
    def files_deleted(params: Json) -> None:
        app.files_deleted(params)

    @server.feature(types.WORKSPACE_DID_CREATE_FILES)
    def files_created(params: Json) -> None:
        app.files_created(params)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched_files_changed(params: Json) -> None:
        app.watched_files_changed(params)

    @server.feature(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)
    def progress_cancelled(params: Json) -> None:
        app.progress_cancelled(params)


def _register_requests(server: TarkServer, app: App) -> None:
    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION)
    async def code_actions(params: lsp_params.CodeActionParams) -> list[Json]:
        return await app.code_actions(params)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def lenses(params: lsp_params.DocumentParams) -> list[Json]:
        return await app.lenses(params)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: lsp_params.HoverParams) -> Json | None:
        return await app.hover(params)
