"""run_command: runs a command line in a shell, with limits on time and output, and ends every process it started."""

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from tark_lsp.context.result_handles import LONGEST_KEPT, how_to_read
from tark_lsp.errors import NotText, OutsideWorkspace, ToolError
from tark_lsp.tools.danger import danger_of
from tark_lsp.tools.environment import command_environment
from tark_lsp.tools.facts import ToolFacts
from tark_lsp.tools.file_stamps import Stamps, changed_since, take_stamps
from tark_lsp.tools.output import HeadAndTail
from tark_lsp.tools.processes import run_process
from tark_lsp.tools.reading_commands import reads_only
from tark_lsp.tools.results import character_limit, count_noun
from tark_lsp.tools.search_program import SearchProgram
from tark_lsp.tools.tool import (
    Arguments,
    CallFacts,
    Command,
    Counted,
    Preview,
    Risk,
    Tool,
    ToolContext,
    ToolKind,
)
from tark_lsp.tools.unsaved import find_unsaved

DESCRIPTION = """\
Run a command line in a shell (bash, otherwise sh). The result is the exit code and the output of both streams \
together; long output is cut to its head and tail. There is no terminal and no input, the environment contains no keys \
or secrets, and background processes are ended with the command. The person is asked first, unless it is certain to \
only read, and cannot undo what it does: prefer the other tools for reading, searching and editing."""

REPORT_SECONDS = 0.5
CANCEL_SECONDS = 0.15
"""Together with ending the processes, this stays within the 500 ms that a cancellation can take."""

NAMED_FILES = 50
"""How many changed files the result names at most."""


class RunCommandArguments(Arguments):
    command: str = Field(min_length=1, description="The command line, as you would type it in the shell.")
    cwd: str | None = Field(
        default=None,
        description="The folder to run the command in, inside the workspace. Default: the (first) workspace folder.",
    )
    timeout_seconds: float = Field(
        default=120, gt=0, le=3600, description="Seconds after which the command and all its processes are ended."
    )


async def preview(args: RunCommandArguments, ctx: ToolContext) -> Preview:
    if "\0" in args.command or not args.command.strip():
        raise ToolError("invalid_arguments", "command is empty or contains a NUL character")
    cwd = folder_of(args, ctx)
    # The same for all commands of a turn, so that the approved command and the one that runs are equal byte for byte.
    marker = f"TARK_COMMAND={os.getpid()}-{id(ctx):x}"
    why = danger_of(args.command)
    command = Command(
        (*shell(), args.command),
        args.command,
        cwd,
        command_environment(os.environ, marker),
        args.timeout_seconds,
        reads_only=why is None and await reads_only(args.command, cwd, ctx),
    )
    title = f"run_command {' '.join(args.command.split())}"
    return Preview(
        title if why is None else f"{title} (dangerous: {why})",
        ToolKind.EXECUTE,
        Risk.RISKY if why is None else Risk.DANGEROUS,
        command=command,
        unsaved=find_unsaved(ctx),
    )


def folder_of(args: RunCommandArguments, ctx: ToolContext) -> Path:
    """Raises OutsideWorkspace: a command must start inside the workspace."""
    cwd = ctx.workspace.resolve(args.cwd or ".")
    if not cwd.is_dir():
        raise NotText(f"{args.cwd} is not a folder", hint="list_directory shows what exists")
    return cwd


def shell() -> tuple[str, ...]:
    if sys.platform == "win32":  # untested; PowerShell takes the quoting of list2cmdline, cmd does not
        system = Path(os.environ["SYSTEMROOT"], "System32", "WindowsPowerShell", "v1.0", "powershell.exe")
        return (str(system), "-NoProfile", "-NonInteractive", "-Command")
    bash = next((path for path in ("/bin/bash", "/usr/bin/bash") if os.access(path, os.X_OK)), "/bin/sh")
    return (bash, "-c")


async def run(args: RunCommandArguments, ctx: ToolContext, preview: Preview) -> Counted:
    command = preview.command
    if command is None or folder_of(args, ctx) != command.cwd:
        raise OutsideWorkspace("cwd now leads to another folder", hint="make the call again")
    folder = max(
        (one for one in ctx.workspace.folders if command.cwd.is_relative_to(one)), key=lambda one: len(one.parts)
    )
    program = SearchProgram.find_installed(ctx.workspace.folders)
    unsaved = find_unsaved(ctx)
    before = await take_stamps(program, folder, ctx.seen)
    try:
        ran = await (run_in_sandbox(command, ctx) if command.reads_only else run_plainly(command, ctx))
    except asyncio.CancelledError:
        # There is no result any more, but the user should know what changed, if that can be found quickly.
        with contextlib.suppress(ToolError, TimeoutError):
            async with asyncio.timeout(CANCEL_SECONDS):
                await note_changes(ctx, program, folder, before, unsaved)
        raise
    changes = await note_changes(ctx, program, folder, before, unsaved)
    parts = [
        shown(ctx, ran.output, ran.whole).rstrip("\n"),
        *tell_unsaved(ctx, unsaved),
        *tell_changes(ctx, changes, folder, before),
    ]
    told = "\n".join(part for part in parts if part)
    if ran.timed_out:
        raise ToolError(
            "timeout",
            f"not finished after {command.timeout_seconds:g} s; the command and all its processes were ended",
            hint="give a longer timeout_seconds, or a command that does less",
            details={"output": told},
        )
    text = f"{ending(ran.code)} after {ran.seconds:.1f} s\n{told or '(no output)'}"
    return Counted(text, CallFacts(exit_code=ran.code, seconds=round(ran.seconds, 1)))


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended. `code` is None if it was ended after its time."""

    code: int | None
    seconds: float
    output: HeadAndTail
    whole: HeadAndTail

    @property
    def timed_out(self) -> bool:
        return self.code is None


async def run_plainly(command: Command, ctx: ToolContext) -> Ran:
    return await start(command, command.argv, command.env, ctx)


async def run_in_sandbox(command: Command, ctx: ToolContext) -> Ran:
    """Raises ToolError `unsupported` if the sandbox cannot be set up: without it nobody has allowed the command."""
    from tark_lsp.sandbox.plan import Needs  # loaded with the first command that only reads
    from tark_lsp.sandbox.sandbox import NotSandboxed, Run

    sandbox = ctx.sandbox.find()
    last: Ran | None = None

    async def start_run(run: Run) -> int | None:
        nonlocal last
        last = await start(command, run.argv, run.env, ctx)
        return last.code

    try:
        if sandbox is None:
            raise NotSandboxed("it is turned off")
        await sandbox.execute(command.argv, command.cwd, command.env, start_run, Needs(read_only=True))
    except NotSandboxed as error:
        ctx.sandbox.give_up()
        raise ToolError(
            "unsupported",
            f"the command did not run, because the sandbox cannot be set up: {error}",
            hint="make the same call again: the person is asked, and it runs without a sandbox",
        ) from error
    assert last is not None, "a run that was not set up is an error"
    return last


async def start(command: Command, argv: Sequence[str], env: Mapping[str, str], ctx: ToolContext) -> Ran:
    output, whole = HeadAndTail(character_limit(ctx.result_tokens)), HeadAndTail(LONGEST_KEPT)
    started = time.monotonic()
    code: int | None = None
    try:
        async with asyncio.timeout(command.timeout_seconds):
            code = await run_process(
                argv,
                cwd=command.cwd,
                env=env,
                on_stdout=Progress((output, whole), ctx).feed_bytes,
                marker=f"TARK_COMMAND={command.env['TARK_COMMAND']}",
            )
    except TimeoutError:
        pass  # `code` stays None
    except OSError as error:
        raise ToolError("internal", f"the command could not be started: {error}") from error
    return Ran(code, time.monotonic() - started, output, whole)


def ending(code: int | None) -> str:
    if code is not None and code < 0:
        return f"ended by signal {-code}"
    return f"exit code {code}"


def shown(ctx: ToolContext, output: HeadAndTail, whole: HeadAndTail) -> str:
    """The output for the result. If it is cut, `whole` is stored, and the text says how to read on."""
    if output.whole:
        return output.text()
    kept = ctx.results.keep_result(whole.text())
    return output.text(lambda line: f"read on with {how_to_read(kept, line)}")


class Progress:
    """Collects output and reports from time to time how many lines there are."""

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


async def note_changes(
    ctx: ToolContext, program: SearchProgram, folder: Path, before: Stamps, unsaved: Sequence[Path]
) -> Mapping[Path, str]:
    """What the command changed; also passed to `ctx.changed_by_command`."""
    changes = await changed_since(before, program, folder, ctx.seen)
    for path in ctx.editor.unsaved_documents(folder):
        if path not in unsaved:  # an open document that equalled the file on disk, and no longer does
            changes.setdefault(path, "changed")
    if changes:
        ctx.changed_by_command(tuple(changes))
    return changes


def tell_unsaved(ctx: ToolContext, unsaved: Sequence[Path]) -> list[str]:
    if not unsaved:
        return []
    return [f"[not saved when it started, so it saw older text of: {named(ctx, unsaved, most=NAMED_FILES)}]"]


def tell_changes(ctx: ToolContext, changes: Mapping[Path, str], folder: Path, before: Stamps) -> list[str]:
    lines = []
    for kind in ("created", "changed", "deleted"):
        paths = [path for path, what in changes.items() if what == kind]
        if paths:
            lines.append(f"[{kind} while it ran: {named(ctx, paths, most=NAMED_FILES)}]")
    if not before.complete:
        lines.append("[there are too many files to list all that were created or changed]")
    differing = [path for path in ctx.editor.unsaved_documents(folder) if path in changes]
    if differing:
        names = named(ctx, differing, most=NAMED_FILES)
        lines.append(f"[open in the editor with a text that differs from the file on disk: {names}]")
    return lines


def named(ctx: ToolContext, paths: Sequence[Path], most: int) -> str:
    names = ", ".join(ctx.workspace.display(path) for path in paths[:most])
    return names if len(paths) <= most else f"{names} and {count_noun(len(paths) - most, 'other')}"


FACTS = ToolFacts(reads=False, edits=False, runs=True)
TOOL = Tool(
    "run_command", DESCRIPTION, RunCommandArguments, Risk.RISKY, preview, run, seconds=float("inf"), facts=FACTS
)
