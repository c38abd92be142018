"""The params of LSP's own requests that Tark's handlers use."""

from typing import Any

from pydantic import Field, StrictInt, StrictStr

from tark_lsp.server.protocol.incoming import DocumentId, Payload, Position, Range

AUTOMATIC = 2
"""`CodeActionTriggerKind.Automatic`: for the lightbulb, at every cursor move."""


class CodeActionContext(Payload):
    diagnostics: list[dict[str, Any]] = Field(default_factory=list)
    only: list[StrictStr] | None = None
    trigger_kind: int | None = None


class CodeActionParams(Payload):
    text_document: DocumentId
    range: Range
    context: CodeActionContext = Field(default_factory=CodeActionContext)


class DocumentParams(Payload):
    text_document: DocumentId


class HoverParams(DocumentParams):
    position: Position


class ExecuteCommand(Payload):
    command: StrictStr
    arguments: list[Any] | None = None
    work_done_token: StrictStr | StrictInt | None = None
