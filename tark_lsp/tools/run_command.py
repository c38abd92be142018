"""run_command: a command line in a shell, with an end: of time, of output, and of every process it started."""

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import Field

from tark_lsp.context.result_handles import LONGEST_KEPT, how_to_read
from tark_lsp.errors import NotText, OutsideWorkspace, ToolError
from tark_lsp.tools.changes import Stamps, changed_since, take_stamps
from tark_lsp.tools.danger import danger_of
from tark_lsp.tools.environment import command_environment
from tark_lsp.tools.output import HeadAndTail
from tark_lsp.tools.processes import run_process
from tark_lsp.tools.results import character_limit, counted
from tark_lsp.tools.ripgrep import Program
from tark_lsp.tools.tool import Arguments, Command, Option, Preview, Risk, Tool, ToolContext, ToolKind

DESCRIPTION = """\
Run a command line in a shell (bash, else sh) and give its exit code and output, both streams together; of long output \
head and tail. There is no terminal and no input, keys and secrets are not in the environment, and processes it leaves \
in the background are ended with it. The person is asked first, and cannot undo what it does: prefer the other tools \
for reading, searching and editing."""

REPORT_SECONDS = 0.5
CANCEL_SECONDS = 0.15
"""With the end of the processes before it, within the 500 ms a cancel may take."""

NAMED_FILES = 50
"""Changed files named to the model at most."""

SAVE, DISK, REJECT = "save", "disk", "reject"


class RunCommandArguments(Arguments):
    command: str = Field(min_length=1, description="The command line, as you would type it in the shell.")
    cwd: str | None = Field(
        default=None,
        description="The folder to run it in, inside the workspace. Default: the (first) workspace folder.",
    )
    timeout_seconds: float = Field(
        default=120, gt=0, le=3600, description="Seconds after which it is ended, with all it started."
    )


async def preview(args: RunCommandArguments, ctx: ToolContext) -> Preview:
    if "\0" in args.command or not args.command.strip():
        raise ToolError("invalid_arguments", "command is empty or holds a NUL character")
    cwd = folder_of(args, ctx)
    # The same for all commands of a turn, so that what was approved and what runs stay equal byte for byte.
    marker = f"TARK_COMMAND={os.getpid()}-{id(ctx):x}"
    command = Command(
        (*shell(), args.command), args.command, cwd, command_environment(os.environ, marker), args.timeout_seconds
    )
    why = danger_of(args.command)
    title = f"run_command {' '.join(args.command.split())}"
    return Preview(
        title if why is None else f"{title} (dangerous: {why})",
        ToolKind.EXECUTE,
        Risk.RISKY if why is None else Risk.DANGEROUS,
        command=command,
    )


def folder_of(args: RunCommandArguments, ctx: ToolContext) -> Path:
    """Raises OutsideWorkspace: a command starts inside."""
    cwd = ctx.workspace.resolve(args.cwd or ".")
    if not cwd.is_dir():
        raise NotText(f"{args.cwd} is not a folder", hint="list_directory tells what there is")
    return cwd


def shell() -> tuple[str, ...]:
    if sys.platform == "win32":  # untested; PowerShell takes the quoting of list2cmdline, cmd does not
        system = Path(os.environ["SYSTEMROOT"], "System32", "WindowsPowerShell", "v1.0", "powershell.exe")
        return (str(system), "-NoProfile", "-NonInteractive", "-Command")
    bash = next((path for path in ("/bin/bash", "/usr/bin/bash") if os.access(path, os.X_OK)), "/bin/sh")
    return (bash, "-c")


async def run(args: RunCommandArguments, ctx: ToolContext, preview: Preview) -> str:
    command = preview.command
    if command is None or folder_of(args, ctx) != command.cwd:
        raise OutsideWorkspace("cwd leads to another folder than the person was shown", hint="make the call again")
    await settle_unsaved(ctx, command.cwd)
    folder = max(
        (one for one in ctx.workspace.folders if command.cwd.is_relative_to(one)), key=lambda one: len(one.parts)
    )
    program = Program.find(ctx.workspace.folders)
    unsaved = frozenset(ctx.editor.unsaved(folder))
    before = await take_stamps(program, folder, ctx.seen)
    output, whole = HeadAndTail(character_limit(ctx.result_tokens)), HeadAndTail(LONGEST_KEPT)
    started = time.monotonic()
    timed_out = False
    code: int | None = None
    try:
        async with asyncio.timeout(command.timeout_seconds):
            code = await run_process(
                command.argv,
                cwd=command.cwd,
                env=command.env,
                on_stdout=Progress((output, whole), ctx).add,
                marker=f"TARK_COMMAND={command.env['TARK_COMMAND']}",
            )
    except TimeoutError:
        timed_out = True
    except OSError as error:
        raise ToolError("internal", f"the command could not be started: {error}") from error
    except asyncio.CancelledError:
        # Nobody reads a result any more, but the person should know what it changed, if that is quick to find.
        with contextlib.suppress(ToolError, TimeoutError):
            async with asyncio.timeout(CANCEL_SECONDS):
                await note_changes(ctx, program, folder, before, unsaved)
        raise
    changes = await note_changes(ctx, program, folder, before, unsaved)
    parts = [shown(ctx, output, whole).rstrip("\n"), *tell_changes(ctx, changes, folder, before)]
    told = "\n".join(part for part in parts if part)
    if timed_out:
        raise ToolError(
            "timeout",
            f"not done after {command.timeout_seconds:g} s; it was ended, with all it had started",
            hint="give a longer timeout_seconds, or a command that does less",
            details={"output": told},
        )
    seconds = time.monotonic() - started
    return f"{ending(code)} after {seconds:.1f} s\n{told or '(no output)'}"


def ending(code: int | None) -> str:
    if code is not None and code < 0:
        return f"ended by signal {-code}"
    return f"exit code {code}"


def shown(ctx: ToolContext, output: HeadAndTail, whole: HeadAndTail) -> str:
    """What of the output is told, and how to read on in `whole`, which is kept then."""
    if output.whole:
        return output.text()
    kept = ctx.results.keep(whole.text())
    return output.text(lambda line: f"read on with {how_to_read(kept, line)}")


class Progress:
    """Adds output and says from time to time how much there is."""

    def __init__(self, outputs: Sequence[HeadAndTail], ctx: ToolContext) -> None:
        self.outputs = outputs
        self.report = ctx.report
        self.reported = time.monotonic()

    def add(self, data: bytes) -> bool:
        for output in self.outputs:
            output.add(data)
        now = time.monotonic()
        if now - self.reported >= REPORT_SECONDS:
            self.reported = now
            self.report(counted(self.outputs[0].lines, "line"))
        return True


async def settle_unsaved(ctx: ToolContext, cwd: Path) -> None:
    """Asks once what to do about unsaved documents below `cwd`. Raises ToolError where the command is not to run."""
    unsaved = sorted(ctx.editor.unsaved(cwd))
    if not unsaved:
        return
    names = named(ctx, unsaved, most=5)
    options = (Option(SAVE, "Save and run"), Option(DISK, "Run with the files on disk"), Option(REJECT, "Reject"))
    answer = await ctx.editor.ask(f"Not saved: {names}. Run the command all the same?", options, free_text=False)
    choice = answer[0] if isinstance(answer, list) and answer else answer
    if choice == DISK:
        return
    if choice == SAVE:
        saved = set(await ctx.editor.save(unsaved))
        missing = [path for path in unsaved if path not in saved]
        if not missing:
            return
        raise ToolError(
            "unsupported",
            f"the editor did not save {named(ctx, missing, most=5)}, so the command was not run",
            hint="ask the person to save, then make the call again",
        )
    if choice == REJECT:
        raise ToolError("denied", "the person does not want it run while documents are not saved", hint="do without it")
    raise ToolError("unanswered", "the person did not say whether to save first, so the command was not run")


async def note_changes(
    ctx: ToolContext, program: Program, folder: Path, before: Stamps, unsaved: frozenset[Path]
) -> Mapping[Path, str]:
    """What the command changed, told to `ctx.changed_by_command`, too."""
    changes = await changed_since(before, program, folder, ctx.seen)
    for path in ctx.editor.unsaved(folder):
        if path not in unsaved:  # an open document that was as on disk, and is not any more
            changes.setdefault(path, "changed")
    if changes:
        ctx.changed_by_command(tuple(changes))
    return changes


def tell_changes(ctx: ToolContext, changes: Mapping[Path, str], folder: Path, before: Stamps) -> list[str]:
    lines = []
    for kind in ("created", "changed", "deleted"):
        paths = [path for path, what in changes.items() if what == kind]
        if paths:
            lines.append(f"[{kind} while it ran: {named(ctx, paths, most=NAMED_FILES)}]")
    if not before.complete:
        lines.append("[there are too many files to tell which were created or changed besides]")
    differing = [path for path in ctx.editor.unsaved(folder) if path in changes]
    if differing:
        names = named(ctx, differing, most=NAMED_FILES)
        lines.append(f"[open in the editor with another text than on disk now: {names}]")
    return lines


def named(ctx: ToolContext, paths: Sequence[Path], most: int) -> str:
    names = ", ".join(ctx.workspace.display(path) for path in paths[:most])
    return names if len(paths) <= most else f"{names} and {counted(len(paths) - most, 'other')}"


TOOL = Tool("run_command", DESCRIPTION, RunCommandArguments, Risk.RISKY, preview, run, seconds=float("inf"))
