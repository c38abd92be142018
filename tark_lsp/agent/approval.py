"""decide_call() decides whether a call is allowed: Allow, Ask or Deny, by rules, grants and the approval level. Pure.

Order (safety.md, "What is asked"): deny rule, edit outside, protected path, ask rule, allow rule or grant, table.
If none of these applies, the user is asked. No error in this module allows a call.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import TypeAlias

from tark_lsp.agent.edit_review import EditReview
from tark_lsp.agent.effects import Effect, effect_of, effect_of_command, reaches_network
from tark_lsp.agent.grants import Grant, grants_together
from tark_lsp.agent.rules import CommandTooLong, Rule
from tark_lsp.agent.taint import narrow
from tark_lsp.messages import ApprovalLevel
from tark_lsp.secrets.file_names import is_secret
from tark_lsp.tools.command import Command
from tark_lsp.tools.tool import Preview, Risk, ToolKind
from tark_lsp.tools.unsaved import describe_unsaved
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.files import Workspace


@dataclass(frozen=True, slots=True)
class Allow:
    """`by`: what allows the call, for the receipt."""

    by: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Ask:
    """`why` is one clause for the user. `once`: no grant can cover the call. `for_trust`: the call would be allowed in
    a trusted workspace."""

    why: str
    once: bool = False
    for_trust: bool = False


@dataclass(frozen=True, slots=True)
class Deny:
    why: str


Decision: TypeAlias = Allow | Ask | Deny


@dataclass(frozen=True, slots=True)
class Policy:
    level: ApprovalLevel
    allow: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    grants: tuple[Grant, ...] = ()
    edit_review: EditReview = field(default_factory=EditReview)
    """When edits inside the workspace are reviewed."""
    unreviewed: Mapping[str, Path] = field(default_factory=dict)
    """The applied edits that the user has not decided about: their files, by id."""
    trusted: bool = False
    """Whether the user trusts the workspace. If not, nothing of it runs unasked, unless a grant covers it."""
    no_commands: str = ""
    """The reason why no command is allowed: the workspace is not trusted, or a sandbox is required."""
    sandbox_required: bool = False
    """Whether `no_commands` applies only to commands without a sandbox."""
    in_memory: bool = False
    """Whether edits are kept in memory. Then edits inside the workspace are allowed, even deletions."""
    tainted_by: str = ""
    """The source of text from outside the workspace that the model got in this turn, worded to follow "it read". Empty
    if there is none."""


def decide_call(
    tool: str, preview: Preview, policy: Policy, workspace: Workspace, *, outside_selection: bool = False
) -> Decision:
    """Decides about a call. If a command would not see unsaved text, the user is asked, even if the command is allowed.

    The question always says where a command runs and what it can access.
    """
    if policy.tainted_by:
        policy = replace(policy, grants=narrow(policy.grants))
    decision = _decide(tool, preview, policy, workspace, outside_selection=outside_selection)
    if policy.tainted_by:
        decision = _after_outside_text(decision, preview, policy)
    if isinstance(decision, Ask) and preview.command is not None:
        effect = f"it {effect_of_command(preview.command)}{preview.command.beyond}"
        if not decision.why.startswith(effect):
            decision = replace(decision, why=f"{effect}: {decision.why}")
    if preview.command is None or not preview.unsaved or isinstance(decision, Deny):
        return decision
    unsaved = describe_unsaved(preview.unsaved, workspace.display)
    if isinstance(decision, Allow):
        return Ask(unsaved, once=True)
    return replace(decision, why=f"{decision.why}, and {unsaved}")


def _after_outside_text(decision: Decision, preview: Preview, policy: Policy) -> Decision:
    """If a call can reach the network, the user is asked, even if it is allowed. Every question names the source."""
    effect, command = effect_of(preview), preview.command
    if isinstance(decision, Allow) and reaches_network(preview):
        decision = Ask(f"it {effect}{'' if command is None else command.beyond}", once=True)
    return (
        replace(decision, why=f"{decision.why}, after it read {policy.tainted_by}")
        if isinstance(decision, Ask)
        else decision
    )


def _decide(tool: str, preview: Preview, policy: Policy, workspace: Workspace, *, outside_selection: bool) -> Decision:
    effect = Effect.EDIT if policy.in_memory and preview.edits else effect_of(preview)
    if preview.command is None and (private := [path for path in _shown(preview) if workspace.is_private(path)]):
        return Deny(f"{workspace.display(private[0])} holds keys or credentials, which no tool reads")
    unchecked = False
    for rule in policy.deny:
        try:
            if rule.concerns(tool, preview, workspace):
                return Deny(f"the rule {rule} denies it")
        except CommandTooLong:
            unchecked = True
    command = preview.command
    if command is not None and policy.no_commands and not (policy.sandbox_required and command.confined):
        return Deny(policy.no_commands)
    if preview.mcp is not None and (refused := _refused_by_trust(policy)) is not None:
        return refused
    written = [path for edit in preview.edits for path in edit.paths]
    outside = [path for path in written if not workspace.is_inside(path)]
    if outside:
        return Deny(f"{outside[0]} is outside the workspace")
    protected = [path for path in (*written, *_writable(preview)) if workspace.is_protected(path)]
    if protected:
        return Ask(f"{workspace.display(protected[0])} is a protected path", once=True)
    if shown := next((edit for edit in preview.edits if _uncovers_keys(edit, workspace)), None):
        return Ask(f"{workspace.display(shown.path)} holds keys, which its new name would no longer hide", once=True)
    if unchecked:
        return Ask("it is too long to be compared with your rules", once=True)
    for rule in policy.ask:
        try:
            if rule.concerns(tool, preview, workspace) or rule.reaches(tool, preview, workspace):
                return Ask(f"the rule {rule} asks", once=True)
        except CommandTooLong:
            return Ask(f"it is too long to be compared with the rule {rule}", once=True)
    if effect is Effect.READING_COMMAND and any(rule.is_about_reading for rule in policy.ask):
        return Ask(f"it {effect}, and a rule of yours asks about reading")  # a command cannot follow the rule
    if outside_selection:
        return Ask("it edits text outside the selection", once=True)
    if effect is Effect.DANGEROUS:
        return Ask(f"it {effect}", once=True)
    beside = next((one for one in _denied_or_asked(policy) if one.is_about(tool)), None)
    if preview.mcp is not None and beside is not None:
        return Ask(f"it {effect}, which does not know your rule {beside}", once=True)
    by_rule = _decide_by_rules(tool, preview, policy, workspace)
    by_grant = None if isinstance(by_rule, Allow) else _decide_by_grants(preview, policy, workspace)
    if (decision := by_grant or by_rule) is not None:
        return decision
    if effect is Effect.EDIT:
        if policy.in_memory or policy.edit_review.when(policy.level) == "after":
            return Allow(f"the approval level {policy.level}: it {effect}")
        untrusted = ", which is not trusted" if policy.edit_review.trusted is False else ""
        return Ask(f"it {effect}{untrusted}")
    if command is not None and effect is Effect.SANDBOXED_COMMAND:
        return _decide_sandboxed(command, policy)
    reading = effect in (Effect.READING_COMMAND, Effect.MCP_READ) and policy.level is not ApprovalLevel.MANUAL
    if effect is Effect.READ_INSIDE or reading:
        allowed = Allow(f"the approval level {policy.level}: it {effect}")
        return _if_trusted(allowed, policy, needed=command is not None and command.needs_trust)
    return Ask(f"it {effect}")


def _refused_by_trust(policy: Policy) -> Deny | Ask | None:
    """Why no MCP server may run: the workspace is not trusted. Permission for the call does not change that."""
    if policy.no_commands and not policy.sandbox_required:
        return Deny(policy.no_commands)
    return None if policy.trusted else Ask("you have not said that you trust this workspace", once=True, for_trust=True)


def _if_trusted(allowed: Allow, policy: Policy, *, needed: bool) -> Decision:
    """Without trust in the workspace, rules and the level do not allow a call that runs something of it. That includes
    git, which reads settings from the workspace."""
    if not needed or policy.trusted:
        return allowed
    return Ask("you have not said that you trust this workspace", for_trust=True)


def _decide_by_rules(tool: str, preview: Preview, policy: Policy, workspace: Workspace) -> Decision | None:
    """None if no allow rule covers the call."""
    allowing = next((rule for rule in policy.allow if rule.allows(tool, preview, workspace)), None)
    if allowing is None:
        return None
    if preview.command is not None and _rules_on_reading(policy):  # they are stronger, and a command cannot follow them
        return Ask(f"the rule {allowing} allows it, but it can read what another rule of yours is about")
    return _if_trusted(Allow(f"the rule {allowing}"), policy, needed=preview.command is not None)


def _decide_by_grants(preview: Preview, policy: Policy, workspace: Workspace) -> Decision | None:
    """None if no grant covers the call. A grant is the user's explicit answer about this folder, so it does not need
    trust in the workspace."""
    changed: Sequence[Path] = ()
    for grant in policy.grants:
        if grant.allows(preview):
            changed = grant.changed_since(preview, policy.unreviewed)
            if not changed:
                return Allow(f"the grant of {grant.covers}")
    if together := grants_together(policy.grants, preview):
        return Allow(f"the grant of {' and of '.join(grant.covers for grant in together)}")
    if changed:
        return Ask(f"{workspace.display(changed[-1])} was changed since you allowed it, and is not reviewed yet")
    return None


def _rules_on_reading(policy: Policy) -> bool:
    return any(rule.is_about_reading for rule in _denied_or_asked(policy))


def _denied_or_asked(policy: Policy) -> tuple[Rule, ...]:
    return (*policy.ask, *policy.deny)


def _decide_sandboxed(command: Command, policy: Policy) -> Decision:
    """Decides about a sandboxed command that can write, and that no rule or grant covers."""
    why = f"it {Effect.SANDBOXED_COMMAND}{command.beyond}"
    lost = f", and undo could not take back what it changes: {command.checkpoint}" if command.checkpoint else ""
    if policy.level is not ApprovalLevel.BALANCED or command.beyond:
        return Ask(f"{why}{lost}")
    if not command.parts:
        return Ask(f"{why}, and it is not certain what it runs: {command.unclear}")
    if _rules_on_reading(policy):
        return Ask(f"{why}, and a rule of yours is about reading")  # a command cannot follow the rule
    if command.checkpoint:
        return Ask(f"{why}{lost}")
    return _if_trusted(Allow(f"the approval level {policy.level}: it {Effect.SANDBOXED_COMMAND}"), policy, needed=True)


def is_read_denied(path: Path, policy: Policy, workspace: Workspace) -> bool:
    """Whether the text of the file is hidden from the model in all tools: by a deny rule for reading, or because the
    file holds keys or credentials."""
    return workspace.is_private(path) or _of_reading(path, policy.deny, workspace)


def may_hide_below(folders: Sequence[Path], policy: Policy, workspace: Workspace) -> bool:
    """Whether `is_read_denied` can be true for a path below these folders. It does not depend on the files that exist,
    because then a notice would reveal which files do."""
    rules = any(rule.is_about_reading and rule.can_match_below(folders, workspace) for rule in policy.deny)
    return rules or any(workspace.has_private_below(folder) for folder in folders)


def may_ask_below(folders: Sequence[Path], policy: Policy, workspace: Workspace) -> bool:
    """Whether `is_read_asked` can be true for a path below these folders."""
    return any(rule.is_about_reading and rule.can_match_below(folders, workspace) for rule in policy.ask)


def is_read_asked(path: Path, policy: Policy, workspace: Workspace) -> bool:
    """Whether an ask rule applies to reading the file. For calls that read many files, which cannot ask about each."""
    return _of_reading(path, policy.ask, workspace)


def shows_secrets_of(path: Path, policy: Policy, workspace: Workspace) -> bool:
    """Whether the secrets of the file are shown to the model: it is in the workspace, and an allow rule for `read_file`
    with a specifier names it. For files outside, such a rule only allows to read them."""
    reading = Preview("", ToolKind.READ, Risk.READ_ONLY, outside=(path,))
    rules = (rule for rule in policy.allow if rule.specifier is not None)
    return workspace.is_inside(path) and any(rule.allows("read_file", reading, workspace) for rule in rules)


def _of_reading(path: Path, rules: Iterable[Rule], workspace: Workspace) -> bool:
    return any(rule.is_about_reading and rule.matches(path, workspace) for rule in rules)


def _writable(preview: Preview) -> tuple[Path, ...]:
    return preview.command.writable if preview.command is not None else ()


def _uncovers_keys(edit: ProposedEdit, workspace: Workspace) -> bool:
    """Whether the file's name says that it holds keys (secrets/file_names.py), and its new name does not."""
    names = (workspace.display(path) for path in edit.paths)
    return edit.target is not None and [is_secret(PurePath(name)) for name in names] == [True, False]


def _shown(preview: Preview) -> list[Path]:
    """The files whose text the call shows, each once. An edit counts, because it shows some of the lines."""
    edited = (path for edit in preview.edits for path in edit.paths)
    return list(dict.fromkeys((*(place.path for place in preview.locations), *preview.outside, *edited)))
