"""`workspace/executeCommand`: each command checks its argument, starts what it starts, and answers at once."""

import logging
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError

from tark_lsp.agent.session import Session
from tark_lsp.errors import MissingKey, RequestError, SettingsError
from tark_lsp.server import protocol
from tark_lsp.server.actions.code_actions import CodeActions
from tark_lsp.server.asking.inputs import Inputs
from tark_lsp.server.asking.permission import Permissions
from tark_lsp.server.auth import Auth
from tark_lsp.server.chat.chats import Chats
from tark_lsp.server.connection.early_answers import EarlyAnswers
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.doctor import Doctor
from tark_lsp.server.documents.documents import Documents
from tark_lsp.server.documents.selections import Selections
from tark_lsp.server.documents.targets import Targets
from tark_lsp.server.documents.uris import path_from_uri
from tark_lsp.server.model_table import model_table
from tark_lsp.server.prompting.named_prompts import NamedPrompts, prompt_json
from tark_lsp.server.prompting.prompt_comments import PromptComments
from tark_lsp.server.protocol_json import model_json
from tark_lsp.server.review.commands import HunkCommands
from tark_lsp.server.review.hunks_json import HunksJson
from tark_lsp.server.review.reviews import Reviews
from tark_lsp.server.review.undo import UndoCommand
from tark_lsp.server.sessions.commands import SessionCommands
from tark_lsp.server.sessions.library import Library
from tark_lsp.server.sessions.new_sessions import settings_json
from tark_lsp.server.sessions.sessions import Sessions
from tark_lsp.server.sessions.title_request import Titles
from tark_lsp.server.turns.answers import Answers
from tark_lsp.server.turns.prepare import Preparation
from tark_lsp.server.turns.turn_record import TurnRecord
from tark_lsp.server.turns.turns import Turns
from tark_lsp.server.usage_command import UsageCommand
from tark_lsp.workspace.files import Workspace

log = logging.getLogger(__name__)

P = TypeVar("P", bound=protocol.Payload)


@dataclass(frozen=True, slots=True)
class Parts:
    """What the commands work on."""

    connection: Connection
    documents: Documents
    workspace: Workspace
    undo: UndoCommand
    targets: Targets
    turns: Turns
    reviews: Reviews
    hunks: HunksJson
    permissions: Permissions
    inputs: Inputs
    preparation: Preparation
    comments: PromptComments
    actions: CodeActions
    answers: Answers
    doctor: Doctor
    auth: Auth
    chats: Chats
    selections: Selections
    sessions: Sessions
    session_commands: SessionCommands
    titles: Titles
    prompts: NamedPrompts


class Commands:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._sessions = parts.sessions
        self._last_action: tuple[protocol.DocumentId, protocol.Range] | None = None
        self._early = EarlyAnswers(parts.connection)
        hunks = HunkCommands(parts.documents, parts.reviews, parts.hunks, parts.turns, parts.targets, parts.sessions)
        self._table: Mapping[str, tuple[type[protocol.Payload], Callable[[Any, Any], Coroutine[Any, Any, Any]]]] = {
            "tark.turn.start": (protocol.StartTurn, self._start),
            "tark.turn.steer": (protocol.Steer, self._steer),
            "tark.turn.cancel": (protocol.CancelTurns, self._cancel),
            "tark.turn.undo": (protocol.TurnId, parts.undo.undo),
            "tark.turn.wait": (protocol.WaitTurn, self._wait),
            "tark.hunk.list": (protocol.ListHunks, hunks.find),
            "tark.hunk.accept": (protocol.DecideHunks, hunks.accept),
            "tark.hunk.reject": (protocol.DecideHunks, hunks.reject),
            "tark.hunk.edit": (protocol.EditHunk, hunks.edit),
            "tark.hunk.regenerate": (protocol.RegenerateHunk, hunks.regenerate),
            "tark.state": (protocol.State, self._state),
            "tark.permission.list": (protocol.ListPermissions, self._list_permissions),
            "tark.permission.answer": (protocol.PermissionAnswer, self._answer_permission),
            "tark.input.answer": (protocol.InputAnswer, self._answer_input),
            "tark.models.list": (protocol.ListModels, self._list_models),
            "tark.settings.set": (protocol.SetSettings, self._set_settings),
            "tark.auth.login": (protocol.ProviderName, parts.auth.login),
            "tark.auth.logout": (protocol.ProviderName, parts.auth.logout),
            "tark.auth.status": (protocol.AuthStatus, parts.auth.status),
            "tark.usage": (protocol.ShowUsage, UsageCommand(parts.sessions, parts.answers).usage),
            "tark.doctor": (protocol.Nothing, self._doctor),
            **parts.session_commands.table(),
        }

    async def execute(self, params: protocol.ExecuteCommand) -> Any:
        """Raises RequestError for what is unknown or misshapen."""
        if params.command not in self._table:
            raise RequestError(f"unknown command {params.command!r}")
        model, handler = self._table[params.command]
        arguments = params.arguments or [{}]
        if len(arguments) != 1 or not isinstance(arguments[0], dict):
            raise RequestError(f"{params.command} takes one JSON object")
        work = handler(_validated(params.command, model, arguments[0]), params.work_done_token)
        return await self._early.answer(params.command, work)

    async def code_actions(self, params: protocol.CodeActionParams) -> list[dict[str, Any]]:
        """Remembered, too, with its version: a command without a document means that of the last request."""
        if (document := self._parts.documents.find(params.text_document.uri)) is not None:
            self._last_action = protocol.DocumentId(uri=document.uri, version=document.version), params.range
            self._parts.selections.saw(document.uri, params.range)
        if (path := path_from_uri(params.text_document.uri)) is not None:
            self._parts.preparation.state.saw_diagnostics(path, params.range, params.context)
        return await self._parts.actions.actions(params)

    async def _start(self, request: protocol.StartTurn, _: Any) -> Any:
        if request.chat:
            return await self._start_chat(request)
        parts = self._parts
        identifier, wanted = request.text_document, request.range
        last_action = None if request.no_document else self._last_action
        if identifier is None and last_action is not None and parts.documents.find(last_action[0].uri):
            last, last_range = last_action
            # A range of the request's own is of the text as it is.
            identifier, wanted = (last, last_range) if wanted is None else (protocol.DocumentId(uri=last.uri), wanted)
        if identifier is None and wanted is not None:
            raise RequestError("textDocument: a range is one of a document")
        kind = parts.prompts.kind(request.kind, request.prompt, wanted is not None, asks=request.ask_for_prompt)
        target = None if identifier is None else await parts.targets.find(identifier, wanted)
        if kind.fenced and (target is None or not target.is_file):  # nothing would be left of the fence
            raise RequestError(f"textDocument: kind {kind.name} needs a file")
        if request.ask_for_prompt and target is not None and not parts.connection.client.understands("input"):
            await parts.comments.insert(target, kind.name)
            return {"inserted": True}
        session = self._session(request)
        return parts.turns.start(request, kind, session, target)

    async def _start_chat(self, request: protocol.StartTurn) -> Any:
        """The last message of the document is the prompt, whatever else the request says."""
        parts = self._parts
        if request.text_document is None:
            raise RequestError("textDocument: a chat is a document")
        target = await parts.targets.find(request.text_document, None)
        sent = parts.chats.sent(target.uri)
        kind = parts.prompts.kind(request.kind, sent.prompt, False, asks=False)
        session = (
            self._sessions.use(request.session_id)
            if request.session_id
            else parts.chats.session(sent, self._sessions.new, self._sessions.use)
        )
        answering = parts.chats.answer(sent, session)
        request = request.model_copy(update={"prompt": sent.prompt, "range": None, "ask_for_prompt": False})
        started = parts.turns.start(request, kind, session, target, answering)
        answering.turn_id = started["turnId"]
        return started

    def _session(self, request: protocol.StartTurn) -> Session:
        return self._sessions.use(request.session_id) if request.session_id else self._sessions.new()

    async def _steer(self, request: protocol.Steer, _: Any) -> Any:
        return {"accepted": self._parts.turns.steer(request.turn_id, request.prompt)}

    async def _cancel(self, request: protocol.CancelTurns, _: Any) -> Any:
        if request.turn_id is not None:
            self._parts.turns.find(request.turn_id)
        if request.session_id is not None:
            self._sessions.row(request.session_id)
        if request.turn_id is None:
            self._parts.titles.cancel(request.session_id)
        return {"cancelled": self._parts.turns.cancel(request.turn_id, request.session_id)}

    async def _wait(self, request: protocol.WaitTurn, token: Any) -> Any:
        """A turn that this server does not remember may be one of an earlier one."""
        parts = self._parts
        if parts.turns.remembers(request.turn_id):
            end: Mapping[str, Any] = await parts.turns.wait(request.turn_id, token)
            heading = parts.turns.title(request.turn_id)
        else:
            heading, end = Library(self._sessions).end_of(request.turn_id)
        if request.show:
            await parts.answers.show(request.turn_id, heading, end)
        return end

    async def _state(self, request: protocol.State, _: Any) -> Any:
        parts, sessions = self._parts, self._sessions.live()
        if request.session_id is not None:
            sessions = [self._sessions.peek(request.session_id)]

        def ours(session_id: str) -> bool:
            return request.session_id in (None, session_id)

        return {
            "turns": [_turn_state(record) for record in parts.turns.active() if ours(record.session.id)],
            "permissions": [
                parts.permissions.json(each) for each in parts.permissions.waiting() if ours(each.session_id)
            ],
            "inputs": [each.json() for each in parts.inputs.waiting() if ours(each.session_id)],
            "hunks": parts.hunks.by_document([hunk for hunk in parts.reviews.find() if hunk.open]),
            "sessions": [{"sessionId": each.id, **settings_json(each)} for each in sessions],
            "prompts": [prompt_json(each) for each in parts.prompts.all().values()],
            "settings": {**parts.preparation.settings.shown(), **self._sessions.beginnings.defaults},
        }

    async def _list_permissions(self, request: protocol.ListPermissions, _: Any) -> Any:
        permissions = self._parts.permissions
        if request.show is not None:
            await permissions.show_whole(permissions.find(request.show))
        return {"requests": [permissions.json(each) for each in permissions.waiting()]}

    async def _answer_permission(self, request: protocol.PermissionAnswer, _: Any) -> Any:
        return {"accepted": self._parts.permissions.answer(request)}

    async def _answer_input(self, request: protocol.InputAnswer, _: Any) -> Any:
        return {"accepted": self._parts.inputs.answer(request)}

    async def _list_models(self, request: protocol.ListModels, _: Any) -> Any:
        try:
            found = await self._parts.preparation.models.list(request.provider, refresh=request.refresh)
        except MissingKey:
            raise
        except SettingsError as error:
            raise RequestError(f"provider: {error.message}", hint=error.hint) from error
        await self._parts.answers.result("models", model_table(found.models, found.problems))
        return {"models": [model_json(each) for each in found.models], "problems": list(found.problems)}

    async def _set_settings(self, request: protocol.SetSettings, _: Any) -> Any:
        """Of one session, or of those to come."""
        wanted = request.model_dump(exclude_none=True, include={"model", "mode", "approval", "thinking"})
        if request.session_id is None:
            self._sessions.beginnings.defaults |= wanted
            return settings_json(self._sessions.beginnings.fresh())
        session = self._sessions.use(request.session_id)
        for name, value in wanted.items():
            setattr(session, name, value)
        self._sessions.save(session)
        return settings_json(session)

    async def _doctor(self, _: protocol.Nothing, __: Any) -> Any:
        report = self._parts.doctor.report(await self._parts.auth.statuses())
        await self._parts.answers.result("doctor", self._parts.doctor.text(report))
        return report


def _validated(command: str, model: type[P], argument: dict[str, Any]) -> P:
    try:
        value = model.model_validate(argument)
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        raise RequestError(f"{command}: {wrong}") from error
    if value.model_extra:
        log.info("%s: ignored %s", command, ", ".join(value.model_extra))
    return value


def _turn_state(record: TurnRecord) -> dict[str, Any]:
    return {
        "sessionId": record.session.id,
        "turnId": record.id,
        "prompt": record.request.prompt,
        "kind": record.kind.name,
        "state": "queued" if record.task is None else "running",
        "seq": record.updates.seq,
    }
