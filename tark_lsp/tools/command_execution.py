"""Executes a permitted command: runs it, watches its changes, and adds notes about them.

All tools that run a command line chosen by the model use this module.
"""

import asyncio
import contextlib
from dataclasses import dataclass

from tark_lsp.context.result_handles import LONGEST_KEPT
from tark_lsp.errors import ToolError
from tark_lsp.tools.command import Command
from tark_lsp.tools.command_changes import NAMED_FILES, note_changes, tell_changes, tell_unsaved
from tark_lsp.tools.command_checkpoint import watch
from tark_lsp.tools.command_findings import settle_findings
from tark_lsp.tools.command_running import Ran, run_previewed
from tark_lsp.tools.tool import ToolContext
from tark_lsp.tools.unsaved import find_unsaved

CANCEL_SECONDS = 0.15
"""Together with the time to end the processes, a cancellation must take at most 500 ms."""


@dataclass(frozen=True, slots=True)
class Executed:
    """`before` and `after`: notes for the model that precede and follow those of the tool."""

    ran: Ran
    before: tuple[str, ...]
    after: tuple[str, ...]


async def execute(
    command: Command, ctx: ToolContext, *, kept: int = LONGEST_KEPT, named: int = NAMED_FILES
) -> Executed:
    """Run a permitted command. `kept`: the maximum of bytes of its output that are kept. Raises ToolError.

    `named`: the maximum number of files in the notes for each kind of change.
    """
    folder = max(
        (one for one in ctx.workspace.folders if command.cwd.is_relative_to(one)), key=lambda one: len(one.parts)
    )
    unsaved = find_unsaved(ctx)
    before = await watch(command, ctx, folder)
    try:
        ran = await run_previewed(command, ctx, kept=kept)
    except asyncio.CancelledError:
        # The result is lost, but the changes should still be reported if they can be found quickly.
        with contextlib.suppress(ToolError, TimeoutError):
            async with asyncio.timeout(CANCEL_SECONDS):
                await note_changes(ctx, before, unsaved)
        raise
    except ToolError:
        before.abandon()
        raise
    found = await settle_findings(ran.findings, ctx)
    changes = await note_changes(ctx, before, unsaved)
    return Executed(ran, tuple(found), (*tell_unsaved(ctx, unsaved), *tell_changes(ctx, changes, before, named)))


def tell_limits(command: Command, code: int | None, again: str = "call again") -> list[str]:
    """A note about limits of the sandbox that can be the cause of a failure."""
    if not command.confined or command.reads_only or code == 0:
        return []
    network = "" if command.network else "it has no network, and "
    where = "the workspace, without protected paths such as .git, and temporary folders"
    needs = "network, writable_paths or without_sandbox"
    return [f"[in a sandbox, {network}it can write only to {where}; if it failed for that, {again} with {needs}]"]


def ending(code: int | None) -> str:
    if code is not None and code < 0:
        return f"ended by signal {-code}"
    return f"exit code {code}"
