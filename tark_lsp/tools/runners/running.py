"""Shared by run_tests and run_check: the command line of a runner goes through the same steps as in run_command."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from tark_lsp.errors import ToolError
from tark_lsp.tools import run_command
from tark_lsp.tools.command import Command
from tark_lsp.tools.command_execution import Executed, ending, execute, tell_limits
from tark_lsp.tools.runners.choice import Choice, choose
from tark_lsp.tools.runners.reading import read_output
from tark_lsp.tools.runners.runner import Purpose
from tark_lsp.tools.runners.summary import counts_in_words, locations_of, places_of, summarize, verdict
from tark_lsp.tools.tool import Arguments, CallFacts, Counted, Preview, Risk, Tool, ToolContext

SECONDS = 600.0
MOST_OUTPUT = 8 * 1024 * 1024
"""Bytes of output that are kept for the parser: the JSON of 10,000 failures has some megabytes."""

NAMED_FILES = 10
"""How many changed files the result names: a build writes many files, and the failures matter more."""

AGAIN = "run the same command line by run_command"
FACTS = replace(run_command.FACTS, allowed_as=run_command.TOOL.name)
A = TypeVar("A", bound=Arguments)


def runner_tool(
    purpose: Purpose, description: str, arguments: type[A], wanted: Callable[[A], tuple[str | None, str | None]]
) -> Tool[A]:
    """Create the tool. `wanted`: returns the target and the runner's name from the arguments of a call."""

    def choice_of(args: A, ctx: ToolContext) -> Choice:
        return choose(purpose, *wanted(args), ctx)

    async def preview(args: A, ctx: ToolContext) -> Preview:
        choice = choice_of(args, ctx)
        shown = await run_command.preview(as_command(choice), ctx)
        return replace(shown, title=f"{purpose} {shown.title.removeprefix('run_command ')}")

    async def run(args: A, ctx: ToolContext, preview: Preview) -> Counted:
        choice, command = choice_of(args, ctx), preview.command
        if command is None or (choice.text, choice.cwd) != (command.text, command.cwd):
            raise ToolError("stale", "another command would run now", hint="make the call again")
        return await told(choice, command, await execute(command, ctx, kept=MOST_OUTPUT, named=NAMED_FILES), ctx)

    return Tool(purpose.value, description, arguments, Risk.RISKY, preview, run, seconds=float("inf"), facts=FACTS)


def as_command(choice: Choice) -> run_command.RunCommandArguments:
    return run_command.RunCommandArguments(command=choice.text, cwd=str(choice.cwd), timeout_seconds=SECONDS)


async def told(choice: Choice, command: Command, executed: Executed, ctx: ToolContext) -> Counted:
    """The result of a run. Raises ToolError `timeout` with the output so far."""
    ran = executed.ran
    report = await read_output(choice.runner.parse, ran.whole.text())
    found = places_of(report, choice, ctx)
    where = ctx.workspace.display(choice.cwd)
    also = f"; also used here: {', '.join(choice.also)}" if choice.also else ""
    parts = [
        f"[{choice.runner.name}, because of {choice.mark}{also}; it ran `{choice.text}` in {where}]",
        *summarize(report, found, ctx),
        *([] if ran.whole.whole else ["[the output is so long that its middle is lost: failures can be missing here]"]),
        *executed.before,
        *tell_limits(command, ran.code, AGAIN),
        *executed.after,
    ]
    if ran.timed_out:
        raise ToolError(
            "timeout",
            f"not finished after {command.timeout_seconds:g} s; the command and all its processes were ended",
            hint="give a narrower target, or run it by run_command with a longer timeout_seconds",
            details={"output": "\n".join(parts)},
        )
    head = f"{ending(ran.code)} after {ran.seconds:.1f} s: {verdict(choice, report, ran.code)}"
    facts = CallFacts(exit_code=ran.code, seconds=round(ran.seconds, 1), counts=counts_in_words(report))
    return Counted("\n".join([head, *parts]), facts, locations_of(found))
