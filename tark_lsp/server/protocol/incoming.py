"""The payloads of Tark's commands, notifications and requests (protocol.md), and the names of the latter two.

Each payload is a pydantic model. Unknown fields are logged; an error names a wrong one. outgoing.py has what is sent.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, model_validator
from pydantic.alias_generators import to_camel

from tark_lsp.messages import ApprovalLevel, Mode
from tark_lsp.settings_types import ModelName, Thinking

UPDATE = "tark/update"
SESSION = "tark/session"
REQUEST_PERMISSION = "tark/requestPermission"
REQUEST_INPUT = "tark/requestInput"
CLIENT_STATE = "tark/clientState"
SAVE = "tark/save"
MCP = "tark/mcp"

Line = Annotated[int, Field(strict=True, ge=0)]


class Payload(BaseModel):
    """A null counts as a missing field: some clients cannot leave a field out of their JSON."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="allow",
        frozen=True,
        defer_build=True,  # when the first one is validated: building all of them takes a tenth of the start
    )

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, value: Any) -> Any:
        return {key: field for key, field in value.items() if field is not None} if isinstance(value, dict) else value


class Position(Payload):
    line: Line
    character: Line


class Range(Payload):
    start: Position
    end: Position


class DocumentId(Payload):
    uri: StrictStr
    version: StrictInt | None = None


class FileContext(Payload):
    type: Literal["file"]
    uri: StrictStr
    range: Range | None = None


class TextContext(Payload):
    type: Literal["text"]
    name: StrictStr
    text: StrictStr


class ImageContext(Payload):
    """`data` is base64."""

    type: Literal["image"]
    mime_type: StrictStr
    data: StrictStr
    name: StrictStr = "the image"


Context = Annotated[FileContext | TextContext | ImageContext, Field(discriminator="type")]


class StartTurn(Payload):
    """`ask_for_prompt` and `comment` are for our own code actions. `ask_for_prompt`: ask the user what to do.
    `comment`: the `tark:` comment that holds the prompt, which is removed with the first edit. `chat`: `text_document`
    is a chat; its last message is the prompt, and the answer is written into it (docs/chat.md). `no_document`: do not
    use the document of the last code action request either, which the editor may have sent by itself."""

    prompt: StrictStr
    kind: StrictStr = "agent"
    text_document: DocumentId | None = None
    range: Range | None = None
    session_id: StrictStr | None = None
    model: ModelName | None = None
    mode: Mode | None = None
    context: list[Context] = Field(default_factory=list)
    ask_for_prompt: StrictBool = False
    comment: Range | None = None
    chat: StrictBool = False
    no_document: StrictBool = False


class Nothing(Payload):
    pass


class TurnId(Payload):
    turn_id: StrictStr


class Steer(TurnId):
    prompt: StrictStr


class CancelTurns(Payload):
    turn_id: StrictStr | None = None
    session_id: StrictStr | None = None


class ListHunks(Payload):
    uri: StrictStr | None = None
    turn_id: StrictStr | None = None


class DecideHunks(ListHunks):
    """`take_back`, for our own code action: also reject accepted hunks, since they brought new errors."""

    hunk_ids: list[StrictStr] | None = None
    take_back: StrictBool = False


class DismissProblems(Payload):
    problem_ids: list[StrictStr] | None = None


class State(Payload):
    session_id: StrictStr | None = None


class EditedHunk(Payload):
    hunk_id: StrictStr
    new_text: StrictStr


class EditHunk(EditedHunk):
    """`accept`, for our own code action: also apply the hunk, over what the user wrote there."""

    accept: StrictBool = False


class RegenerateHunk(Payload):
    """`ask_for_prompt` and `comment` as in `StartTurn`."""

    hunk_id: StrictStr
    prompt: StrictStr = ""
    ask_for_prompt: StrictBool = False
    comment: Range | None = None


class PermissionReply(Payload):
    """The answer to `tark/requestPermission`. `save`: the `unsaved` documents are saved first."""

    outcome: Literal["allow", "reject", "cancelled"]
    grant: StrictStr | None = None
    hunks: list[StrictStr] | None = None
    edited: list[EditedHunk] = Field(default_factory=list)
    reason: StrictStr | None = None
    save: StrictBool = False


class PermissionAnswer(PermissionReply):
    request_id: StrictStr
    digest: StrictStr


class InputReply(Payload):
    """The answer to `tark/requestInput`."""

    answer: StrictStr | list[StrictStr] | None = None


class InputAnswer(InputReply):
    request_id: StrictStr


class ListPermissions(Payload):
    """`show`, for our own code action: show one request in full."""

    show: StrictStr | None = None


class ListGiven(Payload):
    """`all`: what is stored for every folder, not only for the open ones."""

    all: StrictBool = False


class ServerName(Payload):
    """Of an MCP server, a hook or a custom agent."""

    name: StrictStr


class AddServer(Payload):
    """`run`: a command line, or a URL. `name`: made of it if it is missing."""

    run: StrictStr
    name: StrictStr | None = None
    sandbox: StrictBool = True
    network: StrictBool = False


class ShownServer(Payload):
    """`digest`: of what the user saw and agreed to."""

    name: StrictStr
    digest: StrictStr


class SwitchServer(Payload):
    """Without `tool`, the whole server."""

    name: StrictStr
    on: StrictBool
    tool: StrictStr | None = None


class RevokeGiven(Payload):
    """`all`: all that `tark.permissions.list` lists."""

    ids: list[StrictStr] = Field(default_factory=list)
    all: StrictBool = False


class WaitTurn(TurnId):
    """`show`, for our own code action: show the turn's answer again. `work_done_token`: that of the request, set by the
    server; the turn's progress is also reported under it."""

    show: StrictBool = False
    work_done_token: StrictStr | StrictInt | None = None


class ListModels(Payload):
    provider: StrictStr | None = None
    refresh: StrictBool = False


class ProviderName(Payload):
    provider: StrictStr


class AuthStatus(Payload):
    provider: StrictStr | None = None


class SetSettings(Payload):
    session_id: StrictStr | None = None
    model: ModelName | None = None
    mode: Mode | None = None
    approval: ApprovalLevel | None = None
    thinking: Thinking | None = None
    agent: StrictStr | None = None


class SessionId(Payload):
    session_id: StrictStr


class OpenSession(SessionId):
    """`last`: at most this many messages. `before`: only messages before this one. Without them: all messages."""

    last: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] | None = None
    before: StrictStr | None = None


class ShowUsage(Payload):
    """`since`: a date, or `7d` for the last seven days (sessions/usage.py)."""

    session_id: StrictStr | None = None
    since: StrictStr | None = None


class ListSessions(Payload):
    """`all`: the sessions of every workspace."""

    all: StrictBool = False


class NewSession(Payload):
    """`import`: the path of an exported session (JSON)."""

    title: StrictStr | None = None
    import_: StrictStr | None = Field(default=None, alias="import")


class RenameSession(SessionId):
    title: StrictStr


class ForkSession(SessionId):
    """`message_id`: the last message of the fork; without it, all messages."""

    message_id: StrictStr | None = None
    title: StrictStr | None = None


class RestoreSession(SessionId):
    """`message_id`: a prompt of the session. `files`: also undo the later turns. `preview`: do nothing, only tell."""

    message_id: StrictStr
    files: StrictBool = False
    preview: StrictBool = False


class ExportSession(SessionId):
    format: Literal["markdown", "json"] = "markdown"
    path: StrictStr | None = None
