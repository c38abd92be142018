"""Prepares the agent's turn for a request: model, prompt, context of the tools, and user interface."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tark_lsp.agent import events
from tark_lsp.agent.edit_check import EditCheck
from tark_lsp.agent.kinds import level_of, mode_of
from tark_lsp.agent.lasting import LastingPermissions
from tark_lsp.agent.prompt import masked_prompt, system_parts, system_prompt, turn_prompt
from tark_lsp.agent.receipting import TurnReceipts
from tark_lsp.agent.session import Session
from tark_lsp.agent.state import Turn, TurnRequest, TurnResources
from tark_lsp.agent.unasked_model import UnaskedModel
from tark_lsp.context.budget import Estimates
from tark_lsp.context.system_part import SystemPart
from tark_lsp.folders import receipts_path
from tark_lsp.receipts.store import ReceiptStore
from tark_lsp.server.configuration import Configuration
from tark_lsp.server.prompting.mention_access import MentionAccess
from tark_lsp.server.prompting.mentions import Mentions
from tark_lsp.server.sessions.mode_models import change_mode
from tark_lsp.server.turns.default_model import SessionModels
from tark_lsp.server.turns.surroundings import TurnSurroundings
from tark_lsp.server.turns.tool_contexts import ToolContexts
from tark_lsp.server.turns.turn_guidance import TurnGuidance, files_of
from tark_lsp.server.turns.turn_record import TurnRecord
from tark_lsp.server.turns.turn_users import TurnUsers
from tark_lsp.server.turns.turn_workspaces import TurnWorkspaces
from tark_lsp.workspace.files import Workspace


class Preparation:
    """There is one per server. It is called once per turn."""

    def __init__(
        self,
        configuration: Configuration,
        models: SessionModels,
        workspaces: TurnWorkspaces,
        contexts: ToolContexts,
        users: TurnUsers,
        mentions: Mentions,
        surroundings: TurnSurroundings,
        lasting_of: Callable[[Workspace, str, str], LastingPermissions],
    ) -> None:
        self.configuration = configuration
        self.models = models
        self.workspaces = workspaces
        self.contexts = contexts
        self._users = users
        self._mentions = mentions
        self._surroundings = surroundings
        self._lasting_of = lasting_of
        self._guidance = TurnGuidance()
        self.estimates = Estimates()
        self._receipts = ReceiptStore(receipts_path)

    async def __call__(self, record: TurnRecord, emit: events.EventListener) -> Turn:
        session, target = record.session, record.target
        document = target.selection.snapshot.path if target is not None and target.is_file else None
        workspace, note = self.workspaces.workspace_of(document)
        settings, rules = self.configuration.settings, self.configuration.policy()
        if record.request.mode is not None:  # not earlier: another turn may have run until now
            change_mode(session, record.request.mode, settings.models)
        model = UnaskedModel(session.model or "") if record.calls else await self.models.open_for(record)
        prompt = record.request.prompt
        if record.request.ask_for_prompt:
            prompt = await self.contexts.ask_for_prompt(record)
        prompt = record.kind.prompt_text(prompt)
        context = self.contexts.context_of(record, emit, workspace)
        tools = self.contexts.tools() if record.calls else self.contexts.tools_of(session, model, self.estimates)
        user = self._users.user_of(record, context, settings, rules.edit_review)
        readers = self.contexts.mcp.readers()
        now = replace(
            rules,
            level=level_of(record.kind, session.approval),
            grants=tuple(session.grants),
            trusted=rules.trusted or bool(readers),
        )
        access = MentionAccess(context, now, {**tools, **readers}, user.request_permission)
        found = await self._mentions.look_up(prompt, access)
        around = await self._surroundings.surroundings_of(
            record,
            access,
            [(mention.name, mention.text) for mention in found],
            [mention.image for mention in found if mention.image],
        )
        if not record.calls:
            from tark_lsp.server.turns.automatic_context import with_automatic_context  # not needed at the start

            around = await with_automatic_context(
                around, prompt, record.kind, session.messages, access, settings.context, model.context_window
            )
        files = [*session.seen, *files_of(record.request)]
        guidance = self._guidance.find_guidance(session, workspace, document, files, rules)
        context.skills = guidance.skills
        context.user_message = prompt
        record.notes += [note] if note else []
        record.notes += [f"{mention.name}: {mention.missing}" for mention in found if mention.missing]
        record.notes += [*self._guidance.new_problems(guidance), *self.contexts.mcp.notices()]
        said = await self.contexts.mcp.filled_prompt(prompt, context)  # after the mentions: it adds foreign text
        agent = [] if record.kind.agent is None else [record.kind.agent.part]
        system = context.masks.mask_text(system_prompt([*system_parts(workspace, guidance.parts), *agent]))
        mode = mode_of(record.kind, session.mode)
        told = masked_prompt(turn_prompt(said, record.kind, mode, workspace, around), context.masks.mask_text)
        request = TurnRequest(record.id, record.kind, told, system, record.calls)
        check = EditCheck(self.contexts.state, workspace) if settings.check_after_edit else None
        resources = TurnResources(model, tools, self.estimates, check)
        turn = Turn(request, session, resources, context, user, emit, rules, settings.limits)
        turn.receipts = TurnReceipts(
            self._receipts.append, session.id, record.id, _without_keys, lambda why: emit(_no_receipts(why))
        )
        turn.lasting = self._lasting_of(workspace, record.id, session.id)
        turn.hooks, notices = self.contexts.hooks.hooks_of(workspace, trusted=turn.policy().trusted)
        record.notes += notices
        turn.steering = record.steering  # prompts to a queued turn are already in the record
        return turn

    def system_parts(self, session: Session, document: Path | None = None) -> list[SystemPart]:
        """The parts of the system prompt if a turn of the session began now. `document`: resolved; None: none."""
        workspace, _ = self.workspaces.workspace_of(document)
        rules = self.configuration.policy()
        guidance = self._guidance.find_guidance(session, workspace, document, list(session.seen), rules)
        return system_parts(workspace, guidance.parts)


def _no_receipts(why: str) -> events.Notice:
    return events.Notice("warning", f"What the agent does has no receipt: {why}. So you are asked about every call.")


def _without_keys(text: str) -> str:
    from tark_lsp.redaction import environment_secrets, redact  # loaded with the first receipt

    return redact(text, environment_secrets(os.environ))
