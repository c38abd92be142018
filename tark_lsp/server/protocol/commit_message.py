"""The payload of `tark.commitMessage` (protocol.md, "Commit messages")."""

from typing import Annotated, Literal

from pydantic import Field, StrictStr

from tark_lsp.server.protocol.incoming import Payload
from tark_lsp.settings_types import ModelName


class ChangedFile(Payload):
    """`path` and `previous_path` (of a renamed file) are in the repository. Without `diff`, only the name is sent."""

    path: StrictStr
    previous_path: StrictStr | None = None
    change: Literal["added", "modified", "deleted", "renamed"] = "modified"
    diff: StrictStr | None = None


class WriteCommitMessage(Payload):
    """`root`: the folder of the repository. `recent_subjects`: first lines of the last commits.

    Without `files`, the server reads the staged changes of the repository. `index`: the index in its Git folder that
    has them, which `git commit` creates for some of its options.
    """

    root: StrictStr
    files: list[ChangedFile] | None = None
    index: Annotated[str, Field(strict=True, pattern=r"^(index|index\.lock|next-index-\d+\.lock)$")] | None = None
    recent_subjects: list[StrictStr] = Field(default_factory=list)
    model: ModelName | None = None
