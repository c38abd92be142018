"""Provides the tools of turns, and the `ToolContext` of each turn."""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tark_lsp.agent import events
from tark_lsp.agent.approval import is_read_asked, is_read_denied, shows_secrets_of
from tark_lsp.agent.session import Session
from tark_lsp.agent.state import Model
from tark_lsp.context.budget import Estimates
from tark_lsp.errors import RequestError
from tark_lsp.folders import mask_key_path
from tark_lsp.messages import Mode
from tark_lsp.review.problems import Problems
from tark_lsp.server.asking.inputs import Inputs
from tark_lsp.server.configuration import Configuration
from tark_lsp.server.documents.client_state import ClientState
from tark_lsp.server.indexing.indexing import Indexing
from tark_lsp.server.sessions.mode_models import change_mode
from tark_lsp.server.turns.hook_commands import HookCommands
from tark_lsp.server.turns.mcp_tools import McpTools
from tark_lsp.server.turns.turn_editor import TurnEditor
from tark_lsp.server.turns.turn_guidance import memory_of
from tark_lsp.server.turns.turn_record import TurnRecord
from tark_lsp.sessions.results import SessionResults
from tark_lsp.sessions.store import SessionStore
from tark_lsp.tools import load_tools
from tark_lsp.tools.checkpoint_access import CheckpointAccess
from tark_lsp.tools.sandbox_access import SandboxAccess
from tark_lsp.tools.tool import Tool, ToolContext
from tark_lsp.workspace.checkpoints.commands.command_checkpoints import CommandCheckpoints
from tark_lsp.workspace.files import Workspace

if TYPE_CHECKING:  # imported when the first command could run in a sandbox, and with the first turn
    from tark_lsp.sandbox.sandbox import Sandbox
    from tark_lsp.secrets.masks import SecretMasks


class ToolContexts:
    def __init__(
        self,
        configuration: Configuration,
        state: ClientState,
        inputs: Inputs,
        store: SessionStore,
        problems: Problems,
        commands: CommandCheckpoints,
        mcp: McpTools,
        indexing: Indexing,
    ) -> None:
        """`problems` gets the findings of reviews. `commands` records the changes by commands."""
        self.mcp = mcp
        self._commands = commands
        self._changed_files = indexing.files.changed
        self.index = indexing.index
        self._configuration = configuration
        self.state = state
        self._inputs = inputs
        self._file = store.file
        self.results_of = partial(SessionResults, store)
        """By the id of a session: the store of the whole texts of its shortened results."""
        self._problems = problems
        self._tools: Mapping[str, Tool[Any]] = {}
        self._sandboxes = mcp.sources.sandboxes
        self._mask_key = b""
        self.hooks = HookCommands(configuration, self.sandbox_of)

    def tools(self) -> Mapping[str, Tool[Any]]:
        """All tools, by name, imported when they are first needed. If an MCP tool has the same name, Tark's wins."""
        self._tools = self._tools or load_tools()
        return {**self.mcp.tools(), **self._tools}

    def tools_of(self, session: Session, model: Model, estimates: Estimates) -> Mapping[str, Tool[Any]]:
        """The tools of a turn. If there are many MCP tools, the session defers the ones that exist now."""
        from tark_lsp.agent.deferring import tools_to_defer, with_search  # loaded with the first turn
        from tark_lsp.sessions.deferred_tools import keep_deferred

        tools = self.tools()
        if not session.deferred:
            session.deferred = tools_to_defer(tools, model.name, model.context_window, estimates)
            if session.deferred:
                keep_deferred(self._file, session.id, session.deferred)
        return with_search(tools, session.deferred)

    def context_of(self, record: TurnRecord, emit: events.EventListener, workspace: Workspace) -> ToolContext:
        """The context of a turn. A review first clears the findings of the last one."""
        if record.kind.base == "review":
            self._problems.clear()
        session, target = record.session, record.target
        selected = target is not None and target.is_file and not target.whole
        context = ToolContext(
            workspace=workspace,
            editor=TurnEditor(self.state, self._inputs, record.id, session.id, workspace),
            selection=target.selection if target is not None and selected else None,
            seen={} if record.calls else session.seen,  # the user made the calls, for the current text
            results=self.results_of(session.id),
            mode=session.mode,
            result_tokens=self._configuration.settings.limits.tool_result_tokens,
            report_progress=lambda message: emit(events.Step(message)),
            notify_user=lambda message: emit(events.Notice("info", message)),
            memory=memory_of(workspace),
            set_plan=lambda entries: emit(events.PlanChanged(entries)),
            report_problem=self._problems.add,
            masks=self._masks_of(session),
            sandbox=SandboxAccess(
                lambda: self.sandbox_of(workspace),
                lambda: self._sandboxes.give_up(workspace.folders),
            ),
            checkpoint=CheckpointAccess(self._commands, record.id),
            index=self.index.of_turn(workspace),
        )

        def set_mode(mode: Mode) -> None:
            change_mode(session, mode, self._configuration.settings.models)
            context.mode = mode

        def changed_by_command(paths: Sequence[Path]) -> None:
            self._changed_files(paths)
            if record.turn is not None:
                known = record.turn.changed_by_command
                known += [path for path in paths if path not in known]

        policy = self._configuration.policy()  # for mentions, which are read before the turn has its rules
        context.shows_secrets_of = lambda path: shows_secrets_of(path, policy, workspace)
        context.set_mode = set_mode
        context.changed_by_command = changed_by_command
        if context.selection is not None:  # the prompt contains these lines, so the model has read them
            session.seen[context.selection.snapshot.path] = context.selection.snapshot
        return context

    def _masks_of(self, session: Session) -> "SecretMasks":
        session.masks = session.masks or self.new_masks()
        return session.masks

    def new_masks(self) -> "SecretMasks":
        from tark_lsp.redaction import environment_secrets  # loaded with the first turn
        from tark_lsp.secrets.masks import SecretMasks
        from tark_lsp.server.turns.mask_key import read_mask_key

        self._mask_key = self._mask_key or read_mask_key(mask_key_path)
        return SecretMasks(self._mask_key, environment_secrets(os.environ))

    def sandbox_of(self, workspace: Workspace) -> "Sandbox | None":
        """The sandbox; None if the settings turn it off, or if it could not be set up for these folders."""
        if self._configuration.settings.sandbox == "off" or workspace.in_memory:
            return None
        return self._sandboxes.sandbox_of(workspace.folders)

    def context_of_previews(self, workspace: Workspace) -> ToolContext:
        """A context for previews of edits before there is a turn."""
        editor = TurnEditor(self.state, self._inputs, "", "", workspace)
        context = ToolContext(workspace, editor, masks=self.new_masks())
        policy = self._configuration.policy()
        context.is_read_denied = lambda path: is_read_denied(path, policy, workspace)
        context.is_read_asked = lambda path: is_read_asked(path, policy, workspace)
        return context

    async def ask_for_prompt(self, record: TurnRecord) -> str:
        """Ask the user for a prompt. Raises RequestError if they give none."""
        question = f"{record.kind.name.title()}: what?"
        answer = await self._inputs.ask(record.id, record.session.id, question, (), False, True)
        if not isinstance(answer, str) or not answer.strip():
            raise RequestError("no prompt was given, so nothing was done")
        return answer
