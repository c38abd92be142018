"""Grants: what the user allowed beyond one call, and which calls each grant covers. Pure."""

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
"""Of a grant for edits, and for a command that runs without the sandbox or gets more than the workspace there."""


@dataclass(frozen=True, slots=True)
class Grant:
    """Edits below `folder`, one exact command in one folder, commands of some `patterns`, in the sandbox, that start
    in `folder`, or calls of one tool of an MCP server, as it was approved (`mcp`).

    `covers` is the text that the user is shown. `unreviewed`: ids of the edits that were applied and not reviewed when
    it was given. A grant for a command without a sandbox, or with the network, is suspended while there are others: an
    edit of the script that it runs would run unseen. In the sandbox, without network, it holds.
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
        """Whether it covers other commands than the one it was proposed for."""
        return bool(self.patterns)

    def allows(self, preview: Preview) -> bool:
        """Whether the grant is about this call. It can still be suspended (`changed_since`)."""
        if preview.command is not None:
            # The same command can read another place than the user was shown.
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
    """The grants that the user can choose for this call, narrowest first; `unused` makes their ids unique."""
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
    """The grants whose patterns together cover each part of a command; empty if not all are covered.

    A part that only reads needs no pattern, if there is one for another part.
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
    """Whether a pattern can be about the call: in the sandbox, with nothing beyond the workspace, certain, and not
    dangerous."""
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
    """`this folder` is the one that is shown with the command."""
    if folder not in workspace.folders:
        return workspace.display(folder)
    return "this folder" if len(workspace.folders) == 1 else _workspace_folder(folder)


def _workspace_folder(folder: Path) -> str:
    return f"the workspace folder {folder.name}"


def _is_same(granted: Command, command: Command) -> bool:
    """The same words in the same folder, with no more than was granted. In the sandbox it can do less than without.

    Without the sandbox it must be the very folder, and not another one that has its path now.
    """
    return (
        granted.argv == command.argv
        and granted.cwd == command.cwd
        and (command.confined or granted.cwd_id in ("", command.cwd_id))
        and (command.confined or not granted.confined)
        and (granted.network or not command.network)
        and {*command.writable} <= {*granted.writable}
    )
