"""What the client sends, and which part of the server it goes to."""

from typing import Any

from tark_lsp.server.connection.editors import folder_paths
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.documents.sync import paths_of_files
from tark_lsp.server.parts import ServerParts
from tark_lsp.server.protocol import lsp_params
from tark_lsp.server.turns.sandbox_recovery import recover_sandbox
from tark_lsp.visible import without_icons


class App:
    """One server, from `begin` on."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def begin(self) -> None:
        """Called when the client is known, before any other message is handled."""
        self.parts = ServerParts(self._connection)

    async def stop(self) -> None:
        await self.parts.stop()

    def initialized(self, _: dict[str, Any]) -> None:
        self.parts.configuration.report_problems()
        self.parts.configuration.fetch()
        self.parts.background.start(self.parts.chat.register())
        self.parts.background.start(self.parts.command_changes.recover())  # before the user changes more
        self.parts.background.start(recover_sandbox(self.parts.questions.warn))
        self.parts.restorer.restore_soon()
        self.parts.mcp_news.check_soon()
        self.parts.mcp_start.read_soon()

    def configuration_changed(self, params: dict[str, Any]) -> None:
        self.parts.configuration.configuration_changed(params)

    def folders_changed(self, params: dict[str, Any]) -> None:
        event = params.get("event")
        event = event if isinstance(event, dict) else {}
        self.parts.workspaces.change_folders(folder_paths(event.get("added")), folder_paths(event.get("removed")))
        self.parts.restorer.restore_soon()
        self.parts.mcp_news.check_soon()

    def files_renamed(self, params: dict[str, Any]) -> None:
        for old, new in paths_of_files(params, "oldUri", "newUri"):
            self.parts.outside.rename_file(old, new)
            self.parts.indexing.files.changed([old, new])

    def files_deleted(self, params: dict[str, Any]) -> None:
        for (path,) in paths_of_files(params, "uri"):
            self.parts.outside.delete_file(path)
            self.parts.indexing.files.changed([path])

    def files_created(self, params: dict[str, Any]) -> None:
        for (path,) in paths_of_files(params, "uri"):
            self.parts.indexing.files.changed([path])
            self.parts.mcp_news.written(path)

    def watched_files_changed(self, params: dict[str, Any]) -> None:
        self.parts.indexing.files.watched_changed(params)
        self.parts.mcp_news.watched_changed(params)

    def progress_cancelled(self, params: dict[str, Any]) -> None:
        turn_id = self.parts.tokens.find_turn_id(params.get("token"))
        if turn_id is not None:
            self.parts.turns.cancel(turn_id)

    async def code_actions(self, params: lsp_params.CodeActionParams) -> list[dict[str, Any]]:
        self.parts.restorer.restore_if_due()
        in_chat = self.parts.chat.actions(params)
        uri = params.text_document.uri
        self.parts.selections.saw_action(uri, params.range)
        self.parts.client_state.saw_action(uri, params.range, params.context)
        return [*in_chat, *await self.parts.actions.actions(params)]

    async def lenses(self, params: lsp_params.DocumentParams) -> list[dict[str, Any]]:
        self.parts.restorer.restore_if_due()
        lenses = [*self.parts.chat.lenses(params), *self.parts.actions.lenses(params)]
        if self._connection.client.flags.draws_icons:
            for lens in lenses:
                lens["command"]["title"] = without_icons(lens["command"]["title"])
        return lenses

    async def hover(self, params: lsp_params.HoverParams) -> dict[str, Any] | None:
        return self.parts.actions.hover(params)
