"""Grants: permissions that the user gave beyond one call, and the calls that each grant covers. Pure."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from tark_lsp.commands.grant_patterns import Pattern, describe_patterns, widths
from tark_lsp.tools.command import Command
from tark_lsp.tools.mcp_call import McpCall
from tark_lsp.tools.tool import Preview, Risk
from tark_lsp.workspace.files import Workspace

Scope: TypeAlias = Literal["turn", "session", "always"]
SCOPES: tuple[Scope, ...] = ("turn", "session")
"""The scopes of a grant for edits, or for a command that runs without the sandbox or can access more than the workspace
in it."""


@dataclass(frozen=True, slots=True)
class Grant:
    """A grant covers one of these:

    - edits below `folder`
    - one exact command in one folder
    - sandboxed commands that match `patterns` and start in `folder`
    - calls of one tool of an MCP server, as it was approved (`mcp`)

    `covers` is the text for the user. `unreviewed`: ids of the applied edits that were not reviewed when the grant was
    given. While there are other unreviewed edits, a grant for a command without a sandbox or with the network is
    suspended: the command could run an edited script that the user has not seen. A grant for a command in the sandbox,
    without network, stays valid.
    """

    id: str
    scope: Scope
    covers: str
    folder: Path | None = None
    command: Command | None = None
    patterns: tuple[Pattern, ...] = ()
    mcp: McpCall | None = None
    unreviewed: frozenset[str] = frozenset()

    @property
    def is_wide(self) -> bool:
        """Whether the grant covers other commands than the one that it was proposed for."""
        return bool(self.patterns)

    def allows(self, preview: Preview) -> bool:
        """Whether the grant covers this call. It can still be suspended (`changed_since`)."""
        if preview.command is not None:
            # With `outside`, the same command can read another place than the one that the user saw.
            return self.command is not None and not preview.outside and _is_same(self.command, preview.command)
        if preview.mcp is not None:
            return self.mcp is not None and replace(self.mcp, confined=preview.mcp.confined) == preview.mcp
        if self.command is not None or self.patterns or self.folder is None:
            return False
        if not preview.edits or any(edit.removes for edit in preview.edits):
            return False
        return all(path.is_relative_to(self.folder) for edit in preview.edits for path in edit.paths)

    def changed_since(self, preview: Preview, unreviewed: Mapping[str, Path]) -> Sequence[Path]:
        """The files with edits that suspend the grant for this call."""
        command = preview.command
        if command is None or (command.confined and not command.network):
            return ()
        return [path for edit_id, path in unreviewed.items() if edit_id not in self.unreviewed]


def grants_for(preview: Preview, workspace: Workspace, unused: str) -> tuple[Grant, ...]:
    """The grants that the user can select for this call, the narrowest first. `unused` makes their ids unique."""
    if preview.mcp is not None:
        covers = f"calls of {preview.mcp.tool} with any arguments"
        return tuple(Grant(f"{scope}-{unused}", scope, f"{covers}, this {scope}", mcp=preview.mcp) for scope in SCOPES)
    if preview.command is not None and not preview.outside:
        return _for_command(preview.command, workspace, unused)
    if preview.edits and not any(edit.removes for edit in preview.edits):
        folder = Path(os.path.commonpath([path.parent for edit in preview.edits for path in edit.paths]))
        if not workspace.is_inside(folder):  # edits in several workspace folders: their common folder is above them
            return ()
        shown = _workspace_folder(folder) if folder in workspace.folders else workspace.display(folder)
        return tuple(
            Grant(f"{scope}-{unused}", scope, f"edits below {shown}, this {scope}", folder=folder) for scope in SCOPES
        )
    return ()


def grants_together(grants: Iterable[Grant], preview: Preview) -> tuple[Grant, ...]:
    """The grants whose patterns together cover each part of a command; empty if a part is not covered.

    A part that only reads needs no pattern, if a pattern covers another part.
    """
    command = preview.command
    if not can_have_patterns(preview) or command is None:
        return ()
    here = [one for one in grants if one.patterns and one.folder and command.cwd.is_relative_to(one.folder)]
    used: dict[str, Grant] = {}
    for index, part in enumerate(command.parts):
        covering = next((one for one in here if any(pattern.covers(part) for pattern in one.patterns)), None)
        if covering is not None:
            used[covering.id] = covering
        elif index not in command.reading_parts:
            return ()
    return tuple(used.values())


def can_have_patterns(preview: Preview) -> bool:
    """Whether a pattern can cover the call: a command in the sandbox, without access beyond the workspace, whose parts
    are certain, and that is not dangerous."""
    command = preview.command
    if command is None or preview.outside or preview.risk is Risk.DANGEROUS:
        return False
    return command.confined and not command.beyond and bool(command.parts)


def _for_command(command: Command, workspace: Workspace, unused: str) -> tuple[Grant, ...]:
    exact = f"`{command.text}` in {_place(command.cwd, workspace)}{command.beyond}"
    for_a_while = [Grant(f"{scope}-{unused}", scope, f"{exact}, this {scope}", command=command) for scope in SCOPES]
    folder = _folder_of(command, workspace)
    in_shell = command.argv[-1:] == (command.text,)
    if folder is None or not in_shell or not command.confined or command.beyond:
        return tuple(for_a_while)
    where = _place(folder, workspace) if command.cwd == folder else _workspace_folder(folder)
    wider: list[Grant] = []
    always = Grant(f"always-{unused}", "always", f"{exact}, always", folder, command)
    for patterns in widths(command.parts)[1:]:
        covers = f"{describe_patterns(patterns)} in {where}"
        wider += [
            Grant(f"any-session-{unused}", "session", f"{covers}, this session", folder, patterns=patterns),
            Grant(f"any-always-{unused}", "always", f"{covers}, always", folder, patterns=patterns),
        ]
    return (*for_a_while, *wider[:1], always, *wider[1:])


def _folder_of(command: Command, workspace: Workspace) -> Path | None:
    """The workspace folder that the command starts in."""
    around = [folder for folder in workspace.folders if command.cwd.is_relative_to(folder)]
    return max(around, key=lambda folder: len(folder.parts), default=None)


def _place(folder: Path, workspace: Workspace) -> str:
    """The name of the folder for the user. `this folder` is the one that is shown with the command."""
    if folder not in workspace.folders:
        return workspace.display(folder)
    return "this folder" if len(workspace.folders) == 1 else _workspace_folder(folder)


def _workspace_folder(folder: Path) -> str:
    return f"the workspace folder {folder.name}"


def _is_same(granted: Command, command: Command) -> bool:
    """Whether the command has the same words and folder, and no more access, than the granted one. A grant without the
    sandbox also covers the command in it.

    Without the sandbox, it must be the same folder, not another folder that has its path now.
    """
    return (
        granted.argv == command.argv
        and granted.cwd == command.cwd
        and (command.confined or granted.cwd_id in ("", command.cwd_id))
        and (command.confined or not granted.confined)
        and (granted.network or not command.network)
        and {*command.writable} <= {*granted.writable}
    )
