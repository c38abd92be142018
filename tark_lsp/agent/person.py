"""What a turn asks of the person; `server/` implements it, tests answer from a script."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Protocol, TypeAlias

from tark_lsp.agent.approval import Grant
from tark_lsp.tools.tool import Command, Diagnostic, Preview, Risk, ToolKind
from tark_lsp.workspace.edits import Operation, ProposedEdit
from tark_lsp.workspace.lines import Hunk


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """One question. `digest` binds the answer to exactly what was shown."""

    call_ids: tuple[str, ...]
    title: str
    kind: ToolKind
    risk: Risk
    why: str
    digest: str
    command: Command | None = None
    edits: tuple[ProposedEdit, ...] = ()
    grants: tuple[Grant, ...] = ()
    whole: bool = False
    """All or nothing: where one accepted hunk cannot be applied, those applied with it are taken back again."""


@dataclass(frozen=True, slots=True)
class Permitted:
    grant: Grant | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    reason: str = ""


Answer: TypeAlias = Permitted | Rejected


class HunkState(StrEnum):
    """What became of a proposed hunk. PENDING: shown, not decided, not applied (modes ask and plan)."""

    APPLIED = "applied"
    REJECTED = "rejected"
    CONFLICT = "conflict"
    FAILED = "failed"
    PENDING = "pending"


@dataclass(frozen=True, slots=True)
class HunkOutcome:
    """`hunk` as it was proposed, in the coordinates of the proposal's base; `reason` is for the model.

    `path` is that of the edit. The outcome of a move has a hunk without lines beside those of the text.
    """

    path: Path
    hunk: Hunk
    state: HunkState
    reason: str = ""
    operation: Operation = ""


@dataclass(frozen=True, slots=True)
class Reviewed:
    outcomes: tuple[HunkOutcome, ...]
    grant: Grant | None = None


class Person(Protocol):
    async def permit(self, request: PermissionRequest) -> Answer:
        """Ask, and wait as long as it takes. Where the person cancels the turn, this task is cancelled."""
        ...

    async def review(self, request: PermissionRequest, *, ask: bool) -> Reviewed:
        """Have edits decided and applied: all at once, or hunk by hunk; without `ask` they are applied now."""
        ...

    async def propose(self, request: PermissionRequest) -> Reviewed:
        """Show edits that nobody waits for; the person may accept them later."""
        ...

    def alarm(self, new: Sequence[Diagnostic], shown: Sequence[Diagnostic]) -> None:
        """The editor shows `new` errors since the edits reviewed last, among all those `shown`: offer to take the
        edits back for as long as the errors stand."""
        ...


def digest_of(preview: Preview) -> str:
    """The canonical form of what would happen: command, folder, environment, paths and contents (safety.md).

    The title is in it as what was shown: it holds the arguments of calls that only read.
    """
    parts: list[str] = [preview.title, preview.kind, str(int(preview.risk)), preview.note]
    parts += [str(path) for path in preview.outside]
    parts += [f"{place.path}:{place.start_line}:{place.end_line}" for place in preview.locations]
    if preview.command is not None:
        command = preview.command
        parts += [*command.argv, str(command.cwd), str(command.timeout_seconds)]
        parts += [f"{name}={value}" for name, value in sorted(command.env.items())]
    for edit in preview.edits:
        parts += [str(edit.path), edit.operation, str(edit.target), edit.base.digest, edit.drafted.digest]
    return digest_of_texts(parts)


def digest_of_texts(parts: Sequence[str]) -> str:
    return sha256("\0".join(f"{len(part)}:{part}" for part in parts).encode("utf-8", "surrogatepass")).hexdigest()
