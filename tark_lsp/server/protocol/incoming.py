"""The base of all incoming payloads, the payloads needed from the start, and the names of Tark's messages.

Each payload (protocol.md) is a pydantic model. Unknown fields are logged. Errors name the wrong field. The payloads of
most commands are in command_payloads.py; outgoing.py has outgoing data.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, model_validator
from pydantic.alias_generators import to_camel

from tark_lsp.messages import Mode
from tark_lsp.settings_types import ModelName

UPDATE = "tark/update"
SESSION = "tark/session"
REQUEST_PERMISSION = "tark/requestPermission"
REQUEST_INPUT = "tark/requestInput"
CLIENT_STATE = "tark/clientState"
SAVE = "tark/save"
MCP = "tark/mcp"

Line = Annotated[int, Field(strict=True, ge=0)]


class Payload(BaseModel):
    """A null counts as a missing field, because some clients cannot omit a field from their JSON."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="allow",
        frozen=True,
        defer_build=True,  # when the first value is validated: building all of them takes a tenth of the start
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
    """`ask_for_prompt` and `comment` are for Tark's own code actions.

    - `ask_for_prompt`: ask the user what to do.
    - `comment`: the `tark:` comment with the prompt. It is removed with the first edit.
    - `chat`: `text_document` is a chat. Its last message is the prompt, and the answer is written into it
      (docs/chat.md).
    - `no_document`: also do not use the document of the last code action request, which the editor may have sent by
      itself.
    """

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


class EditedHunk(Payload):
    hunk_id: StrictStr
    new_text: StrictStr


class PermissionReply(Payload):
    """The answer to `tark/requestPermission`. `save`: the `unsaved` documents are saved first."""

    outcome: Literal["allow", "reject", "cancelled"]
    grant: StrictStr | None = None
    hunks: list[StrictStr] | None = None
    edited: list[EditedHunk] = Field(default_factory=list)
    reason: StrictStr | None = None
    save: StrictBool = False


class InputReply(Payload):
    """The answer to `tark/requestInput`."""

    answer: StrictStr | list[StrictStr] | None = None


class InputAnswer(InputReply):
    request_id: StrictStr
