"""UserInterface: how a turn asks the user. `server/` implements it; tests answer from a script."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Protocol, TypeAlias

from tark_lsp.agent.grants import Grant
from tark_lsp.tools.command import Command
from tark_lsp.tools.editor import Diagnostic
from tark_lsp.tools.tool import Preview, Risk, ToolKind
from tark_lsp.workspace.edits import Operation, ProposedEdit
from tark_lsp.workspace.lines import Hunk


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """One question to the user. `digest` binds the answer to exactly the shown call."""

    call_ids: tuple[str, ...]
    title: str
    kind: ToolKind
    risk: Risk
    why: str
    digest: str
    command: Command | None = None
    edits: tuple[ProposedEdit, ...] = ()
    grants: tuple[Grant, ...] = ()
    atomic: bool = False
    """All or nothing: if one accepted hunk cannot be applied, the others are reverted."""
    unsaved: tuple[Path, ...] = ()
    """Documents with unsaved changes, which the command does not see."""


@dataclass(frozen=True, slots=True)
class Permitted:
    """`save`: save the unsaved documents first."""

    grant: Grant | None = None
    save: bool = False


@dataclass(frozen=True, slots=True)
class Rejected:
    reason: str = ""


PermissionAnswer: TypeAlias = Permitted | Rejected


class HunkState(StrEnum):
    """The result of a proposed hunk. PENDING: shown, but not decided or applied (modes ask and plan)."""

    APPLIED = "applied"
    REJECTED = "rejected"
    CONFLICT = "conflict"
    FAILED = "failed"
    PENDING = "pending"


@dataclass(frozen=True, slots=True)
class HunkOutcome:
    """`hunk` is as proposed, with the line numbers of the proposal's base. `reason` is for the model.

    `path` is the path of the edit. A move has a separate outcome, whose hunk has no lines.
    """

    path: Path
    hunk: Hunk
    state: HunkState
    reason: str = ""
    operation: Operation = ""


@dataclass(frozen=True, slots=True)
class ReviewResult:
    """`cancelled`: the turn was cancelled before all hunks were decided. `outcomes`: the results of the hunks."""

    outcomes: tuple[HunkOutcome, ...]
    grant: Grant | None = None
    cancelled: bool = False


class UserInterface(Protocol):
    async def request_permission(self, request: PermissionRequest) -> PermissionAnswer:
        """Ask, and wait without a timeout. If the user cancels the turn, this task is cancelled."""
        ...

    async def review_edits(self, request: PermissionRequest, *, ask: bool) -> ReviewResult:
        """Let the user decide about the edits, together or hunk by hunk, and apply them. Without `ask`, apply them now.

        A cancellation of the turn is an answer, not an exception, because some of the edits can be applied."""
        ...

    async def propose_edits(self, request: PermissionRequest) -> ReviewResult:
        """Show edits without waiting. The user can accept them later."""
        ...

    def unreviewed_edits(self) -> Mapping[str, Path]:
        """The applied edits of all turns that the user has not decided about: their files, by id."""
        ...

    def report_new_errors(self, new: Sequence[Diagnostic], shown: Sequence[Diagnostic]) -> None:
        """Report that the last reviewed edits caused the errors `new`, out of all `shown`. As long as these errors
        exist, offer to revert the edits."""
        ...


def preview_digest(preview: Preview) -> str:
    """A digest of everything that the call would do: command, folder, environment, paths and contents (safety.md).

    It includes the title, because that shows the arguments of calls that only read.
    """
    parts: list[str] = [preview.title, preview.kind, str(int(preview.risk)), preview.note]
    parts += [str(path) for path in preview.outside]
    parts += [f"{place.path}:{place.start_line}:{place.end_line}" for place in preview.locations]
    if preview.command is not None:
        command = preview.command
        parts += [*command.argv, str(command.cwd), command.cwd_id, str(command.timeout_seconds)]
        parts += [str(command.confined), str(command.reads_only), str(command.network), *map(str, command.writable)]
        parts += [f"{name}={value}" for name, value in sorted(command.env.items())]
    if preview.mcp is not None:
        parts += [preview.mcp.server, preview.mcp.tool, preview.mcp.pin]
    for edit in preview.edits:
        parts += [str(edit.path), edit.operation, str(edit.target), edit.base.digest, edit.drafted.digest]
    return text_digest(parts)


def text_digest(parts: Sequence[str]) -> str:
    return sha256("\0".join(f"{len(part)}:{part}" for part in parts).encode("utf-8", "surrogatepass")).hexdigest()
