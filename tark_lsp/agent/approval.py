"""decide(): may this call happen? Allow, Ask or Deny, from rules, grants and the approval level. Pure.

Order (safety.md, "Decisions"): deny rule > edit outside > protected path > ask rule > allow rule or grant > table.
Whatever is not understood asks; nothing that goes wrong here allows.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Literal, TypeAlias

from tark_lsp.errors import SettingsError
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
    """The columns of the table of safety.md; a command is always unsandboxed until there is a sandbox."""

    READ_INSIDE = "reads inside the workspace"
    READ_OUTSIDE = "reads outside the workspace"
    EDIT = "edits inside the workspace"
    COMMAND = "runs a command without a sandbox"
    NETWORK = "uses the network"
    DANGEROUS = "can do harm that undo does not take back"


ALLOWED_BY_LEVEL: dict[ApprovalLevel, frozenset[Effect]] = {
    ApprovalLevel.MANUAL: frozenset({Effect.READ_INSIDE}),
    ApprovalLevel.CAREFUL: frozenset({Effect.READ_INSIDE}),
    ApprovalLevel.BALANCED: frozenset({Effect.READ_INSIDE, Effect.EDIT}),
}

EDIT_TOOLS = frozenset({"edit_file", "replace_selection", "write_file", "propose_edit"})
READ_TOOLS = frozenset({"read_file", "read_files"})
FAMILIES = (EDIT_TOOLS, READ_TOOLS)
"""A deny or ask rule for one tool speaks for its whole family: else the model would take the sibling."""

WRAPPERS = frozenset({"sudo", "doas", "env", "nohup", "timeout", "xargs", "nice", "ionice", "time", "exec", "command"})


@dataclass(frozen=True, slots=True)
class Rule:
    """`tool` or `tool(specifier)`: a glob over workspace paths, or over command lines."""

    tool: str
    specifier: str | None = None

    @classmethod
    def parse(cls, text: str) -> "Rule":
        """Raises SettingsError where `text` is not a rule."""
        found = re.fullmatch(r"\s*([A-Za-z0-9_*-]+)\s*(?:\((.*)\))?\s*", text, re.DOTALL)
        if not found:
            raise SettingsError(f"not a permission rule: {text!r}", hint="write tool or tool(specifier)")
        return cls(found[1], found[2])


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
    folder: str | None = None
    command: tuple[str, ...] | None = None
    cwd: str | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    level: ApprovalLevel
    allow: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    grants: tuple[Grant, ...] = ()
    review_after: bool = False
    """`editReview: after`: edits inside are applied at once, and their hunks decided afterwards."""
    no_commands: str = ""
    """Why no command may run at all: the workspace is not trusted, or a sandbox is required and there is none."""


def effect_of(preview: Preview) -> Effect:
    if preview.risk is Risk.DANGEROUS:
        return Effect.DANGEROUS
    if preview.command is not None:
        return Effect.COMMAND
    if preview.kind is ToolKind.FETCH:
        return Effect.NETWORK
    if preview.risk is Risk.READ_ONLY:
        return Effect.READ_OUTSIDE if preview.outside else Effect.READ_INSIDE
    if preview.edits:
        return Effect.EDIT
    return Effect.COMMAND


def decide(
    tool: str, preview: Preview, policy: Policy, workspace: Workspace, *, outside_selection: bool = False
) -> Decision:
    effect = effect_of(preview)
    for rule in policy.deny:
        if _concerns(rule, tool, preview, workspace):
            return Deny(f"the rule {_text(rule)} denies it")
    if preview.command is not None and policy.no_commands:
        return Deny(policy.no_commands)
    outside = [edit.path for edit in preview.edits if not workspace.is_inside(edit.path)]
    if outside:
        return Deny(f"{outside[0]} is outside the workspace")
    protected = [edit.path for edit in preview.edits if workspace.is_protected(edit.path)]
    if protected:
        return Ask(f"{workspace.display(protected[0])} is a protected path", once=True)
    for rule in policy.ask:
        if _concerns(rule, tool, preview, workspace):
            return Ask(f"the rule {_text(rule)} asks")
    if outside_selection:
        return Ask("it edits text outside the selection", once=True)
    if effect is Effect.DANGEROUS:
        return Ask(f"it {effect}", once=True)
    if any(_allows(rule, tool, preview, workspace) for rule in policy.allow):
        return Allow()
    if any(_covers(grant, preview, workspace) for grant in policy.grants):
        return Allow()
    if effect is Effect.EDIT and policy.review_after and policy.level is not ApprovalLevel.MANUAL:
        return Allow()
    return Allow() if effect in ALLOWED_BY_LEVEL[policy.level] else Ask(f"it {effect}")


def grants_for(preview: Preview, workspace: Workspace, new_ids: tuple[str, str]) -> tuple[Grant, ...]:
    """What could be allowed beyond this call, narrowest first; `new_ids` are two fresh ids."""
    scoped = tuple(zip(new_ids, SCOPES, strict=True))
    if preview.command is not None:
        command = preview.command
        covers = f"`{command.text}` in {workspace.display(command.cwd) or '.'}"
        return tuple(
            Grant(grant_id, scope, f"{covers}, this {scope}", command=command.argv, cwd=str(command.cwd))
            for grant_id, scope in scoped
        )
    if preview.edits:
        folder = common_folder([workspace.display(edit.path) for edit in preview.edits])
        covers = f"edits below {folder or 'the workspace folder'}"
        return tuple(Grant(grant_id, scope, f"{covers}, this {scope}", folder=folder) for grant_id, scope in scoped)
    return ()


def common_folder(paths: Sequence[str]) -> str:
    """The deepest folder that holds all of `paths` (with `/`); "" is the workspace itself."""
    parents = [path.split("/")[:-1] for path in paths]
    shared: list[str] = []
    for names in zip(*parents, strict=False):
        if len(set(names)) > 1:
            break
        shared.append(names[0])
    return "/".join(shared)


def command_parts(command: str) -> tuple[str, ...]:
    """The simple commands of a command line, wrappers looked through: enough to deny and ask by, never to allow.

    Quoting is not honoured on purpose: what is inside quotes may be run all the same (`sh -c`), and a deny rule that
    matches once too often is safe.
    """
    parts = []
    for piece in re.split(r"[;&|\n(){}`'\"]|\$\(", command):
        words = piece.split()
        while words and (words[0] in WRAPPERS or re.match(r"-|[A-Za-z_]\w*=|\d+[smh]?$", words[0])):
            words = words[1:]
        if words:
            parts.append(" ".join([words[0].rsplit("/", 1)[-1], *words[1:]]))
    return tuple(parts)


def _text(rule: Rule) -> str:
    return rule.tool if rule.specifier is None else f"{rule.tool}({rule.specifier})"


def _concerns(rule: Rule, tool: str, preview: Preview, workspace: Workspace) -> bool:
    """For deny and ask: does the rule touch any part of the call?"""
    family = next((family for family in FAMILIES if tool in family), frozenset({tool}))
    if not any(_glob(rule.tool).fullmatch(name) for name in family):
        return False
    if rule.specifier is None:
        return True
    pattern = _glob(rule.specifier)
    if preview.command is not None:
        lines = (preview.command.text, *command_parts(preview.command.text))
        return any(_command_glob(rule.specifier).fullmatch(line) for line in lines)
    paths = [*(edit.path for edit in preview.edits), *(place.path for place in preview.locations), *preview.outside]
    return any(pattern.fullmatch(workspace.display(path).casefold()) for path in paths) or any(
        pattern.fullmatch(workspace.display(path)) for path in paths
    )


def _allows(rule: Rule, tool: str, preview: Preview, workspace: Workspace) -> bool:
    """For allow: does the rule name this very tool and cover the whole call? Commands are never allowed by rule yet."""
    if rule.tool != tool or preview.command is not None:
        return False
    paths = [*(edit.path for edit in preview.edits), *preview.outside]
    if rule.specifier is None:
        return True
    pattern = _glob(rule.specifier)
    return bool(paths) and all(pattern.fullmatch(workspace.display(path)) for path in paths)


def _covers(grant: Grant, preview: Preview, workspace: Workspace) -> bool:
    if preview.command is not None:
        return grant.command == preview.command.argv and grant.cwd == str(preview.command.cwd)
    if grant.folder is None or not preview.edits:
        return False
    prefix = f"{grant.folder}/" if grant.folder else ""
    return all(workspace.display(edit.path).startswith(prefix) for edit in preview.edits)


@lru_cache(maxsize=256)
def _glob(pattern: str) -> re.Pattern[str]:
    """`*` within one path segment, `**` across segments, `?` one character."""
    pieces = {"**/": r"(?:.*/)?", "**": r".*", "*": r"[^/]*", "?": r"[^/]"}
    return re.compile(
        "".join(pieces.get(piece, re.escape(piece)) for piece in re.split(r"(\*\*/|\*\*|\*|\?)", pattern)), re.DOTALL
    )


@lru_cache(maxsize=256)
def _command_glob(pattern: str) -> re.Pattern[str]:
    """`*` matches anything; a trailing ` *` also matches the command with no arguments."""
    if pattern.endswith(" *"):
        return re.compile(re.escape(pattern[:-2]).replace(r"\*", ".*") + r"(?:\s.*)?", re.DOTALL)
    return re.compile(re.escape(pattern).replace(r"\*", ".*"), re.DOTALL)
