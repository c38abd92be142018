"""The payload of `tark.commitMessage` (protocol.md, "Commit messages")."""

from typing import Literal

from pydantic import Field, StrictStr

from tark_lsp.server.protocol.incoming import Payload
from tark_lsp.settings import ModelName


class ChangedFile(Payload):
    """`path` and `previous_path` (of a renamed file) are in the repository. Without `diff`, only the name is told."""

    path: StrictStr
    previous_path: StrictStr | None = None
    change: Literal["added", "modified", "deleted", "renamed"] = "modified"
    diff: StrictStr | None = None


class WriteCommitMessage(Payload):
    """`root`: the folder of the repository. `recent_subjects`: first lines of the last commits."""

    root: StrictStr
    files: list[ChangedFile]
    recent_subjects: list[StrictStr] = Field(default_factory=list)
    model: ModelName | None = None
