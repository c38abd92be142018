"""switch_mode: asks the person for another mode, to begin with what a plan has led to, say."""

import math

from pydantic import Field

from tark_lsp.errors import ToolError
from tark_lsp.messages import Mode
from tark_lsp.tools.tool import Arguments, Option, Preview, Risk, Tool, ToolContext, ToolKind

DESCRIPTION = """\
Ask the person to switch the mode: `ask` (answer in words), `plan` (look around and plan) or `build` (change files and \
run commands). Use it when what they want cannot be done in the mode you are in."""

YES, NO = "switch", "stay"


class SwitchModeArguments(Arguments):
    mode: Mode = Field(description="The mode to switch to.")
    reason: str = Field(min_length=1, description="Why, in one sentence the person reads.")


async def preview(args: SwitchModeArguments, ctx: ToolContext) -> Preview:  # noqa: ARG001  # as every tool's
    return Preview(f"switch_mode {args.mode}", ToolKind.OTHER, Risk.READ_ONLY)


async def run(args: SwitchModeArguments, ctx: ToolContext, preview: Preview) -> str:  # noqa: ARG001  # as every tool's
    if args.mode is ctx.mode:
        return f"The mode is {args.mode} already."
    options = (Option(YES, f"Switch to {args.mode}"), Option(NO, f"Stay in {ctx.mode}"))
    question = f"Switch from mode {ctx.mode} to {args.mode}? {args.reason}"
    answer = await ctx.editor.ask(question, options, free_text=False)
    if answer is None:
        raise ToolError(
            "unanswered", f"the person did not answer; the mode is still {ctx.mode}", hint="go on in this mode"
        )
    if answer not in (YES, [YES]):
        raise ToolError("denied", f"the person stays in mode {ctx.mode}", hint="go on in this mode")
    ctx.set_mode(args.mode)
    return f"The mode is {args.mode} now."


TOOL = Tool("switch_mode", DESCRIPTION, SwitchModeArguments, Risk.READ_ONLY, preview, run, seconds=math.inf)
