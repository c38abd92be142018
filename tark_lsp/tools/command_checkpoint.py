"""Finds the changes of a command: records them in the turn's checkpoint in the sandbox, else compares stamps."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tark_lsp.errors import ToolError
from tark_lsp.tools.command import Command
from tark_lsp.tools.file_stamps import Stamps, changed_since, take_stamps
from tark_lsp.tools.tool import ToolContext
from tark_lsp.workspace.checkpoints.commands.running_command import RunningCommand
from tark_lsp.workspace.file_state import FileChange, StateKind
from tark_lsp.workspace.search.search_program import SearchProgram, run_search

NOBODY = "nothing records what it changes"
NOT_IGNORED = ("--files", "--hidden", "--no-ignore-dot")
"""Options of ripgrep. They include files that only ripgrep's own ignore files exclude: undo can restore them, too."""


async def list_not_ignored(folders: Sequence[Path]) -> Sequence[str]:
    """The files below the folders that Git does not ignore. Raises ToolError."""
    from tark_lsp.workspace.checkpoints.commands.survey import MOST_FILES

    pieces: list[bytes] = []
    count = 0

    def collect(data: bytes) -> bool:
        nonlocal count
        pieces.append(data)
        count += data.count(b"\0")
        return count <= MOST_FILES  # with more, the survey reports that there are too many

    await run_search(SearchProgram.find_installed(folders), NOT_IGNORED, folders, collect)
    return [os.fsdecode(name) for name in b"".join(pieces).split(b"\0")[:-1]]


async def why_no_checkpoint(command: Command, ctx: ToolContext) -> str:
    """Why the command's changes cannot be undone, for the user; empty if they can, or if there are none."""
    if command.reads_only:
        return ""
    if ctx.checkpoint is None:
        return NOBODY
    return await ctx.checkpoint.commands.why_not(ctx.workspace.folders, command.writable)


@dataclass(frozen=True, slots=True)
class Watch:
    """Watches one command from before its start. Either `running` or `stamps` is set."""

    command: Command
    ctx: ToolContext
    program: SearchProgram
    folder: Path
    stamps: Stamps | None = None
    running: RunningCommand | None = None

    @property
    def complete(self) -> bool:
        """Whether `changes` finds all new files."""
        return self.stamps is None or self.stamps.complete

    async def changes(self) -> dict[Path, str]:
        """`created`, `changed` or `deleted` by path. With `running`, the changes are also recorded for undo."""
        if self.stamps is not None:
            return await changed_since(self.stamps, self.program, self.folder, self.ctx.seen)
        assert self.running is not None, "one of them is set"
        assert self.ctx.checkpoint is not None, "it made `running`"
        found = await self.ctx.checkpoint.commands.finish(self.running)
        return {change.path: _what(change) for change in found if not _is_of_folders(change)}

    def abandon(self) -> None:
        """Call this if the command was not started."""
        if self.running is not None and self.ctx.checkpoint is not None:
            self.ctx.checkpoint.commands.abandon(self.running)

    def tell(self) -> list[str]:
        """The lines about undo for the result."""
        if self.running is not None or self.command.reads_only or not self.command.confined:
            return []
        return [f"[what it changed cannot be undone: {self.command.checkpoint}]"]


async def watch(command: Command, ctx: ToolContext, folder: Path) -> Watch:
    """Call this right before the command starts.

    Raises ToolError `unsupported` if its changes should be recorded but cannot be: the user did not allow it like this.
    """
    program = SearchProgram.find_installed(ctx.workspace.folders)
    if command.confined and not command.reads_only and not command.checkpoint and ctx.checkpoint is not None:
        from tark_lsp.workspace.checkpoints.commands.survey import CannotCheckpoint

        access, folders = ctx.checkpoint, ctx.workspace.folders
        try:
            running = await access.commands.begin(access.turn_id, folders, command.writable)
        except CannotCheckpoint as problem:
            raise ToolError(
                "unsupported",
                f"the command did not run, because what it changes could not be undone: {problem}",
                hint="make the same call again: the person is asked",
            ) from problem
        return Watch(command, ctx, program, folder, running=running)
    return Watch(command, ctx, program, folder, stamps=await take_stamps(program, folder, ctx.seen))


def _what(change: FileChange) -> str:
    return "created" if change.before is None else "deleted" if change.after is None else "changed"


def _is_of_folders(change: FileChange) -> bool:
    return all(state is None or state.kind is StateKind.FOLDER for state in (change.before, change.after))
