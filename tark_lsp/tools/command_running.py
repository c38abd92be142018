"""Runs a command as it was previewed: with or without the sandbox, with limits on time and output."""

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tark_lsp.context.result_handles import LONGEST_KEPT
from tark_lsp.errors import ToolError
from tark_lsp.tools.command import Command
from tark_lsp.tools.command_findings import tell_findings
from tark_lsp.tools.confined import run_confined
from tark_lsp.tools.output import HeadAndTail
from tark_lsp.tools.results import character_limit, count_noun
from tark_lsp.tools.tool import ToolContext
from tark_lsp.workspace.processes import run_process

if TYPE_CHECKING:  # imported only with the first command in the sandbox
    from tark_lsp.sandbox.quarantine import Findings
    from tark_lsp.sandbox.sandbox import Run

REPORT_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended. `code` is None if it was ended at its time limit.

    `findings`: what it did to protected paths in the sandbox.
    """

    code: int | None
    seconds: float
    output: HeadAndTail
    whole: HeadAndTail
    findings: "Findings | None" = None

    @property
    def timed_out(self) -> bool:
        return self.code is None


async def run_previewed(command: Command, ctx: ToolContext, *, kept: int = LONGEST_KEPT) -> Ran:
    """`kept`: how many bytes of the output are kept as `whole`.

    Raises ToolError `unsupported` if the sandbox cannot be set up: the user has not allowed the command without it.
    """
    if command.confined:
        return await _run_in_sandbox(command, ctx, kept)
    return await start(command, command.argv, command.env, ctx, kept)


async def _run_in_sandbox(command: Command, ctx: ToolContext, kept: int) -> Ran:
    last: Ran | None = None
    prepared: Run | None = None

    async def start_run(run: "Run") -> int | None:
        nonlocal last, prepared
        prepared = run
        last = await start(command, run.argv, run.env, ctx, kept)
        return last.code

    try:
        run = await run_confined(
            command.argv,
            command.cwd,
            command.env,
            start_run,
            ctx,
            read_only=command.reads_only,
            network=command.network,
            writable=command.writable,
            cwd_id=command.cwd_id,
        )
    except BaseException:  # also a cancellation: report what was moved away
        tell_findings(None if prepared is None else prepared.findings, ctx)
        raise
    assert last is not None, "a run that was not set up is an error"
    return replace(last, findings=run.findings)


def folder_id(found: os.stat_result) -> str:
    return f"{found.st_dev}:{found.st_ino}"


@contextlib.contextmanager
def opened_folder(command: Command) -> Iterator[Path]:
    """A path to the folder that the preview showed. Raises ToolError `stale` if another folder has replaced it.

    On Linux the path leads to an open handle, so that the folder cannot be replaced before the process starts.
    """
    stale = ToolError(
        "stale", "the folder of the command was replaced since the call was previewed", hint="make the call again"
    )
    if sys.platform != "linux":
        if folder_id(command.cwd.stat()) != command.cwd_id:
            raise stale
        yield command.cwd
        return
    try:
        handle = os.open(command.cwd, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise stale from error
    try:
        if folder_id(os.fstat(handle)) != command.cwd_id:
            raise stale
        yield Path(f"/proc/self/fd/{handle}")  # of the child, which has the handle until it has changed to the folder
    finally:
        os.close(handle)


async def start(
    command: Command, argv: Sequence[str], env: Mapping[str, str], ctx: ToolContext, kept: int = LONGEST_KEPT
) -> Ran:
    output, whole = HeadAndTail(character_limit(ctx.result_tokens)), HeadAndTail(kept)
    started = time.monotonic()
    code: int | None = None
    try:
        async with asyncio.timeout(command.timeout_seconds):
            with opened_folder(command) as folder:
                code = await run_process(
                    argv,
                    cwd=folder,
                    env=env,
                    on_stdout=Progress((output, whole), ctx).feed_bytes,
                    marker=f"TARK_COMMAND={command.env['TARK_COMMAND']}",
                )
    except TimeoutError:
        pass  # `code` stays None
    except OSError as error:
        raise ToolError("internal", f"the command could not be started: {error}") from error
    return Ran(code, time.monotonic() - started, output, whole)


class Progress:
    """Collects output, and reports the number of lines from time to time."""

    def __init__(self, outputs: Sequence[HeadAndTail], ctx: ToolContext) -> None:
        self.outputs = outputs
        self.report = ctx.report_progress
        self.reported = time.monotonic()

    def feed_bytes(self, data: bytes) -> bool:
        for output in self.outputs:
            output.feed_bytes(data)
        now = time.monotonic()
        if now - self.reported >= REPORT_SECONDS:
            self.reported = now
            self.report(count_noun(self.outputs[0].lines, "line"))
        return True
