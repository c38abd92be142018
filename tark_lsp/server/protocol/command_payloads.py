"""The payloads of commands (protocol.md, "Commands"), except for those in incoming.py."""

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt, StrictStr

from tark_lsp.messages import ApprovalLevel, Mode
from tark_lsp.server.protocol.incoming import EditedHunk, Payload, PermissionReply, Range
from tark_lsp.settings_types import ModelName, Thinking


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
    """`take_back`, for Tark's own code action: also reject accepted hunks, because they brought new errors."""

    hunk_ids: list[StrictStr] | None = None
    take_back: StrictBool = False


class DismissProblems(Payload):
    problem_ids: list[StrictStr] | None = None


class State(Payload):
    session_id: StrictStr | None = None


class EditHunk(EditedHunk):
    """`accept`, for Tark's own code action: also apply the hunk over what the user wrote there."""

    accept: StrictBool = False


class RegenerateHunk(Payload):
    """`ask_for_prompt` and `comment` as in `StartTurn`."""

    hunk_id: StrictStr
    prompt: StrictStr = ""
    ask_for_prompt: StrictBool = False
    comment: Range | None = None


class PermissionAnswer(PermissionReply):
    request_id: StrictStr
    digest: StrictStr


class ListPermissions(Payload):
    """`show`, for Tark's own code action: show one request in full."""

    show: StrictStr | None = None


class ListGiven(Payload):
    """`all`: what is stored for every folder, not only for open folders."""

    all: StrictBool = False


class ServerName(Payload):
    """The name of an MCP server, a hook or a custom agent."""

    name: StrictStr


class AddServer(Payload):
    """`run`: a command line, or a URL. `name`: derived from `run` if it is missing."""

    run: StrictStr
    name: StrictStr | None = None
    sandbox: StrictBool = True
    network: StrictBool = False


class ShownServer(Payload):
    """`digest`: the digest of what the user saw and approved."""

    name: StrictStr
    digest: StrictStr


class SwitchServer(Payload):
    """Without `tool`: the whole server."""

    name: StrictStr
    on: StrictBool
    tool: StrictStr | None = None


class RevokeGiven(Payload):
    """`all`: everything that `tark.permissions.list` lists."""

    ids: list[StrictStr] = Field(default_factory=list)
    all: StrictBool = False


class WaitTurn(TurnId):
    """`show`, for Tark's own code action: show the turn's answer again. `work_done_token`: the token of the request,
    set by the server. The turn's progress is also reported under this token."""

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
    """`message_id`: a prompt of the session. `files`: also undo the later turns. `preview`: only report, do nothing."""

    message_id: StrictStr
    files: StrictBool = False
    preview: StrictBool = False


class ExportSession(SessionId):
    format: Literal["markdown", "json"] = "markdown"
    path: StrictStr | None = None
