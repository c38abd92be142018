"""run_command: runs a command line in a shell with limits on time and output, and ends all processes it started."""

import os
from dataclasses import replace
from pathlib import Path

from pydantic import Field

from tark_lsp.commands.shell_text import read_command
from tark_lsp.context.result_handles import how_to_read
from tark_lsp.errors import FileMissing, NotText, OutsideWorkspace, ToolError
from tark_lsp.tools.command import Command
from tark_lsp.tools.command_checkpoint import why_no_checkpoint
from tark_lsp.tools.command_execution import ending, execute, tell_limits
from tark_lsp.tools.command_running import folder_id
from tark_lsp.tools.confined import can_confine
from tark_lsp.tools.danger import danger_of
from tark_lsp.tools.facts import ToolFacts
from tark_lsp.tools.output import HeadAndTail
from tark_lsp.tools.reading_commands import parts_of_workspace, reading_parts, reads_only
from tark_lsp.tools.shell import shell
from tark_lsp.tools.tool import Arguments, CallFacts, Counted, Preview, Risk, Tool, ToolContext, ToolKind
from tark_lsp.tools.unsaved import find_unsaved
from tark_lsp.workspace.environment import command_environment

DESCRIPTION = """\
Run a command line in a shell (bash, otherwise sh). The result is the exit code and the output of both streams \
together; long output is cut to its head and tail. There is no terminal and no input, the environment contains no keys \
or secrets, and background processes are ended with the command. If possible it runs in a sandbox: no network, and it \
writes only to the workspace, without protected paths such as .git; /tmp is empty, and gone at its end. Say what else \
it needs, and the person is asked; a command that needs no more can run unasked. Prefer the other tools for reading, \
searching and editing."""


class RunCommandArguments(Arguments):
    command: str = Field(min_length=1, description="The command line, as you would type it in the shell.")
    cwd: str | None = Field(
        default=None,
        description="The folder to run the command in, inside the workspace. Default: the (first) workspace folder.",
    )
    timeout_seconds: float = Field(
        default=120, gt=0, le=3600, description="Seconds after which the command and all its processes are ended."
    )
    network: bool = Field(default=False, description="It needs the network. The person is asked.")
    writable_paths: tuple[str, ...] = Field(
        default=(),
        max_length=20,
        description="Files and folders that it writes to and that a command cannot write to otherwise: outside the "
        "workspace, or protected (git commit needs .git). The person is asked.",
    )
    without_sandbox: bool = Field(
        default=False,
        description="It cannot work in the sandbox, for example because it needs a service or keys of the person. "
        "The person is asked.",
    )


async def preview(args: RunCommandArguments, ctx: ToolContext) -> Preview:
    if "\0" in args.command or not args.command.strip():
        raise ToolError("invalid_arguments", "command is empty or contains a NUL character")
    cwd = folder_of(args, ctx)
    # The marker is the same for all commands of a turn, so that the approved command and the running one are identical.
    marker = f"TARK_COMMAND={os.getpid()}-{id(ctx):x}"
    why = danger_of(args.command)
    words = read_command(args.command)
    confined = not args.without_sandbox and await can_confine(ctx)
    writable = writable_of(args, ctx) if confined else ()
    command = Command(
        (*shell(), args.command),
        args.command,
        cwd,
        command_environment(os.environ, marker),
        args.timeout_seconds,
        words.parts,
        words.why,
        confined,
        network=confined and args.network,
        writable=writable,
        cwd_id=folder_id(cwd.stat()),
    )
    if confined and why is None and not command.beyond:
        own = parts_of_workspace(words, command.env.get("PATH", ""), ctx)
        command = replace(
            command,
            reads_only=reads_only(words, cwd, ctx),
            reading_parts=reading_parts(words, cwd, ctx) - own,
            needs_trust=bool(own),
        )
    if confined:
        command = replace(command, checkpoint=await why_no_checkpoint(command, ctx))
    title = f"run_command {' '.join(args.command.split())}{command.beyond}"
    return Preview(
        title if why is None else f"{title} (dangerous: {why})",
        ToolKind.EXECUTE,
        Risk.RISKY if why is None else Risk.DANGEROUS,
        command=command,
        unsaved=find_unsaved(ctx),
    )


def writable_of(args: RunCommandArguments, ctx: ToolContext) -> tuple[Path, ...]:
    """The `writable_paths` to which a command cannot write anyway. Raises ToolError and WorkspaceError."""
    found: dict[Path, None] = {}
    for name in args.writable_paths:
        named = Path(name).expanduser()
        path = Path(os.path.realpath(named)) if named.is_absolute() else ctx.workspace.resolve(name)
        if any(folder.is_relative_to(path) for folder in (*ctx.workspace.folders, Path.home())):
            raise ToolError("invalid_arguments", f"writable_paths: {name} is too wide", hint="name what it writes to")
        if ctx.workspace.is_private(path) or ctx.workspace.has_private_below(path):
            raise ToolError("denied", f"{name} holds keys or credentials", hint="name a folder that holds none")
        if not path.exists():
            raise FileMissing(f"writable_paths: {name} does not exist", hint="name the folder that will hold it")
        if not ctx.workspace.is_inside(path) or ctx.workspace.is_protected(path):
            found[path] = None
    return tuple(found)


def folder_of(args: RunCommandArguments, ctx: ToolContext) -> Path:
    """The folder where the command starts. Raises OutsideWorkspace if it is not inside the workspace."""
    cwd = ctx.workspace.resolve(args.cwd or ".")
    if not cwd.is_dir():
        raise NotText(f"{args.cwd} is not a folder", hint="list_directory shows what exists")
    return cwd


async def run(args: RunCommandArguments, ctx: ToolContext, preview: Preview) -> Counted:
    command = preview.command
    if command is None or folder_of(args, ctx) != command.cwd:
        raise OutsideWorkspace("cwd now leads to another folder", hint="make the call again")
    executed = await execute(command, ctx)
    ran = executed.ran
    parts = [
        shown(ctx, ran.output, ran.whole).rstrip("\n"),
        *executed.before,
        *tell_limits(command, ran.code),
        *executed.after,
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


def shown(ctx: ToolContext, output: HeadAndTail, whole: HeadAndTail) -> str:
    """The output for the result. If it is cut, `whole` is stored, and the text says how to read more."""
    if output.whole:
        return output.text()
    kept = ctx.results.keep_result(ctx.masks.mask_text(whole.text()))
    return output.text(lambda line: f"read on with {how_to_read(kept, line)}")


FACTS = ToolFacts(reads=False, edits=False, runs=True)
TOOL = Tool(
    "run_command", DESCRIPTION, RunCommandArguments, Risk.RISKY, preview, run, seconds=float("inf"), facts=FACTS
)
