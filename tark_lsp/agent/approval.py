"""decide(): may this call happen? Allow, Ask or Deny, from rules, grants and the approval level. Pure.

Order (safety.md, "Decisions"): deny rule > edit outside > protected path > ask rule > allow rule or grant > table.
Whatever is not understood asks; nothing that goes wrong here allows.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal, TypeAlias

from tark_lsp.agent.rules import READ_TOOLS, Rule
from tark_lsp.messages import ApprovalLevel
from tark_lsp.tools.tool import Preview, Risk, ToolKind
from tark_lsp.workspace.files import Workspace


@dataclass(frozen=True, slots=True)
class Allow:
    pass


@dataclass(frozen=True, slots=True)
class Ask:
    """`why` is one sentence for the person. `once`: no grant may cover it."""

    why: str
    once: bool = False


@dataclass(frozen=True, slots=True)
class Deny:
    why: str


Decision: TypeAlias = Allow | Ask | Deny


class Effect(StrEnum):
    """The columns of the table of safety.md, and a note, which is asked for at every level: it speaks to all later
    sessions. A command is always unsandboxed until there is a sandbox."""

    READ_INSIDE = "reads inside the workspace"
    READ_OUTSIDE = "reads outside the workspace"
    EDIT = "edits inside the workspace"
    NOTE = "keeps a note that later sessions are told"
    COMMAND = "runs a command without a sandbox"
    NETWORK = "uses the network"
    DANGEROUS = "can do harm that undo does not take back"


ALLOWED_BY_LEVEL: dict[ApprovalLevel, frozenset[Effect]] = {
    ApprovalLevel.MANUAL: frozenset({Effect.READ_INSIDE}),
    ApprovalLevel.CAREFUL: frozenset({Effect.READ_INSIDE}),
    ApprovalLevel.BALANCED: frozenset({Effect.READ_INSIDE, Effect.EDIT}),
}

Scope: TypeAlias = Literal["turn", "session"]
SCOPES: tuple[Scope, Scope] = ("turn", "session")


@dataclass(frozen=True, slots=True)
class Grant:
    """What the person allowed beyond one call: edits below a folder, or one exact command in one folder.

    `covers` is shown to the person as it stands and decides what is covered, so the two cannot differ.
    """

    id: str
    scope: Scope
    covers: str
    folder: Path | None = None
    command: tuple[str, ...] | None = None
    cwd: str | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    level: ApprovalLevel
    allow: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    grants: tuple[Grant, ...] = ()
    edit_review: Literal["ask", "after"] | None = None
    """`after`: edits inside are applied at once, and their hunks decided afterwards. None: as the level has it."""
    no_commands: str = ""
    """Why no command may run at all: the workspace is not trusted, or a sandbox is required and there is none."""


def effect_of(preview: Preview) -> Effect:
    if preview.risk is Risk.DANGEROUS or any(edit.removes for edit in preview.edits):
        return Effect.DANGEROUS
    if preview.command is not None:
        return Effect.COMMAND
    if preview.kind is ToolKind.FETCH:
        return Effect.NETWORK
    if preview.risk is Risk.READ_ONLY:
        return Effect.READ_OUTSIDE if preview.outside else Effect.READ_INSIDE
    if preview.edits:
        return Effect.EDIT
    if preview.note and preview.risk is Risk.WRITE:
        return Effect.NOTE
    return Effect.COMMAND


def decide(
    tool: str, preview: Preview, policy: Policy, workspace: Workspace, *, outside_selection: bool = False
) -> Decision:
    effect = effect_of(preview)
    for rule in policy.deny:
        if rule.concerns(tool, preview, workspace):
            return Deny(f"the rule {rule} denies it")
    if preview.command is not None and policy.no_commands:
        return Deny(policy.no_commands)
    written = [path for edit in preview.edits for path in edit.paths]
    outside = [path for path in written if not workspace.is_inside(path)]
    if outside:
        return Deny(f"{outside[0]} is outside the workspace")
    protected = [path for path in written if workspace.is_protected(path)]
    if protected:
        return Ask(f"{workspace.display(protected[0])} is a protected path", once=True)
    for rule in policy.ask:
        if rule.concerns(tool, preview, workspace) or rule.reaches(tool, preview, workspace):
            return Ask(f"the rule {rule} asks", once=True)
    if outside_selection:
        return Ask("it edits text outside the selection", once=True)
    if effect is Effect.DANGEROUS:
        return Ask(f"it {effect}", once=True)
    if any(rule.allows(tool, preview, workspace) for rule in policy.allow):
        return Allow()
    if any(_covers(grant, preview) for grant in policy.grants):
        return Allow()
    if effect is Effect.EDIT and policy.edit_review and policy.level is not ApprovalLevel.MANUAL:
        return Allow() if policy.edit_review == "after" else Ask(f"it {effect}")
    return Allow() if effect in ALLOWED_BY_LEVEL[policy.level] else Ask(f"it {effect}")


def closed(path: Path, policy: Policy, workspace: Workspace) -> bool:
    """Does a deny rule for reading keep the file's text from the model, whatever tool would show it?"""
    return _of_reading(path, policy.deny, workspace)


def asked_about(path: Path, policy: Policy, workspace: Workspace) -> bool:
    """Is the person to be asked before the file's text is read? A call about many files cannot ask for each."""
    return _of_reading(path, policy.ask, workspace)


def _of_reading(path: Path, rules: Iterable[Rule], workspace: Workspace) -> bool:
    return any(rule.matches(path, workspace) for rule in rules if any(rule.names(tool) for tool in READ_TOOLS))


def grants_for(preview: Preview, workspace: Workspace, new_ids: tuple[str, str]) -> tuple[Grant, ...]:
    """What could be allowed beyond this call, narrowest first; `new_ids` are two fresh ids."""
    scoped = tuple(zip(new_ids, SCOPES, strict=True))
    if preview.command is not None and not preview.outside:
        command = preview.command
        covers = f"`{command.text}` in {workspace.display(command.cwd) or '.'}"
        return tuple(
            Grant(grant_id, scope, f"{covers}, this {scope}", command=command.argv, cwd=str(command.cwd))
            for grant_id, scope in scoped
        )
    if preview.edits and not any(edit.removes for edit in preview.edits):
        folder = Path(os.path.commonpath([path.parent for edit in preview.edits for path in edit.paths]))
        if not workspace.is_inside(folder):  # edits of several workspace folders have only what is above them in common
            return ()
        shown = f"the workspace folder {folder.name}" if folder in workspace.folders else workspace.display(folder)
        return tuple(
            Grant(grant_id, scope, f"edits below {shown}, this {scope}", folder=folder) for grant_id, scope in scoped
        )
    return ()


def _covers(grant: Grant, preview: Preview) -> bool:
    if preview.command is not None:
        same = grant.command == preview.command.argv and grant.cwd == str(preview.command.cwd)
        return same and not preview.outside  # the same words can lead to another place than the person was told of
    if grant.folder is None or not preview.edits or any(edit.removes for edit in preview.edits):
        return False
    return all(path.is_relative_to(grant.folder) for edit in preview.edits for path in edit.paths)
