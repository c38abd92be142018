"""The parts that only commands need, and all features that offer commands. They are made with the first command."""

from collections.abc import Sequence
from typing import Any

from tark_lsp.server.agent_commands import AgentCommands
from tark_lsp.server.asking.permission_commands import PermissionCommands
from tark_lsp.server.auth import Auth
from tark_lsp.server.clipboard_image import ClipboardImage
from tark_lsp.server.code_blocks.command import CodeBlockCommand
from tark_lsp.server.commands import Feature
from tark_lsp.server.commit_message import CommitMessages
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.core_parts import CoreParts
from tark_lsp.server.demo import Demo
from tark_lsp.server.doctor import Doctor
from tark_lsp.server.hunks.asked_turns import AskedTurns
from tark_lsp.server.hunks.commands import HunkCommands
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
from tark_lsp.server.sessions.settings_command import SettingsCommand
from tark_lsp.server.state_command import StateCommand
from tark_lsp.server.turns.commands import TurnCommands
from tark_lsp.server.turns.context_budget import ContextBudget
from tark_lsp.server.turns.context_commands import ContextCommands
from tark_lsp.server.turns.default_model import with_chosen_model
from tark_lsp.server.turns.start_command import StartCommand
from tark_lsp.server.usage_command import UsageCommand


class CommandParts:
    """`features` offer the commands (protocol.md, "Commands")."""

    def __init__(self, connection: Connection, core: CoreParts, start: StartCommand) -> None:
        """`start` is there from the beginning, because a comment also starts a turn."""
        self._core = core
        self.auth = Auth(connection, core.questions, core.show, core.configuration)
        permissions = PermissionCommands(connection, core.permissions)
        settings = SettingsCommand(core.sessions, core.configuration.check_model, core.agents)
        self.features: Sequence[Feature] = [
            start,
            TurnCommands(core.turns, core.records, core.sessions, core.titles, core.display),
            *self._of_hunks(),
            CodeBlockCommand(core.workspaces, core.preparation.contexts, core.targets, core.sessions, core.turns),
            self._state(permissions, settings),
            permissions,
            PermissionsCommand(core.given, core.trust, core.workspace, core.sessions, core.records),
            McpList(core.mcp_news),
            core.inputs,
            SessionCommands(
                core.sessions, core.show, core.records, core.turns.is_held_back, core.checkpoints.undone_turns
            ),
            settings,
            AgentCommands(core.agents),
            ContextCommands(core.sessions, core.turns, core.recorder, ContextBudget(core.preparation)),
            ModelList(core.configuration, core.show),
            self.auth,
            UsageCommand(core.sessions, core.show),
            IndexCommands(core.indexing.index, core.show),
            Doctor(
                connection,
                core.workspace,
                core.preparation,
                self.auth,
                core.show,
                lambda: self._new_settings(None)["model"],
            ),
            Demo(core.workspace.folders),
            PatchCommand(core.workspace),
            ClipboardImage(core.workspace),
            CommitMessages(core.preparation, core.workspace, core.sessions, core.recorder),
        ]

    def _of_hunks(self) -> Sequence[Feature]:
        core = self._core
        asked_turns = AskedTurns(core.records, core.sessions)
        turn_undo = TurnUndoing(
            core.checkpoints,
            core.workspace,
            core.documents,
            core.records,
            core.outside,
            core.store,
            core.saving,
            core.command_changes,
        )
        return [
            UndoCommands(turn_undo, core.workspace, core.hunks),
            RestoreCommand(turn_undo, core.sessions, core.hunks),
            HunkCommands(core.reviews, core.hunks, core.restorer, asked_turns),
            RegenerateCommand(core.documents, core.reviews, asked_turns, core.turns, core.targets, core.agents),
        ]

    def _state(self, permissions: PermissionCommands, settings: SettingsCommand) -> StateCommand:
        core = self._core
        return StateCommand(
            core.restorer,
            {
                "turns": core.records.state,
                "permissions": permissions.state,
                "inputs": core.inputs.state,
                "hunks": lambda _: core.hunks.by_document(
                    [hunk for hunk in core.reviews.hunks.find_hunks() if hunk.pending]
                ),
                "sessions": settings.state,
                "prompts": core.prompts.state,
                "agents": core.agents.state,
                "index": lambda _: status_json(core.indexing.index.process.last_status),
                "settings": self._new_settings,
            },
        )

    def _new_settings(self, session_id: str | None) -> dict[str, Any]:
        return with_chosen_model(self._core.sessions.new_sessions.settings_state(session_id))

    async def stop(self) -> None:
        await self.auth.stop()
