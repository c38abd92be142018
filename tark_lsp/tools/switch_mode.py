"""switch_mode: asks the user for another mode, for example to carry out a plan."""

import math

from pydantic import Field

from tark_lsp.errors import ToolError
from tark_lsp.messages import Mode
from tark_lsp.tools.editor import Option
from tark_lsp.tools.facts import ALL_MODES, ToolFacts
from tark_lsp.tools.tool import Arguments, Preview, Risk, Tool, ToolContext, ToolKind

DESCRIPTION = """\
Ask the person to switch the mode: `ask` (answer in words), `plan` (explore and plan) or `build` (change files and run \
commands). Use it if the current mode does not allow what they want."""

YES, NO = "switch", "stay"


class SwitchModeArguments(Arguments):
    mode: Mode = Field(description="The mode to switch to.")
    reason: str = Field(min_length=1, description="The reason, in one sentence for the person.")


async def preview(args: SwitchModeArguments, ctx: ToolContext) -> Preview:  # noqa: ARG001  # as in all tools
    return Preview(f"switch_mode {args.mode}", ToolKind.OTHER, Risk.READ_ONLY)


async def run(args: SwitchModeArguments, ctx: ToolContext, preview: Preview) -> str:  # noqa: ARG001  # as in all tools
    if args.mode is ctx.mode:
        return f"The mode is already {args.mode}."
    options = (Option(YES, f"Switch to {args.mode}"), Option(NO, f"Stay in {ctx.mode}"))
    question = f"Switch from mode {ctx.mode} to {args.mode}? {args.reason}"
    answer = await ctx.editor.ask_user(question, options, free_text=False)
    if answer is None:
        raise ToolError(
            "unanswered", f"the person did not answer; the mode is still {ctx.mode}", hint="continue in this mode"
        )
    if answer not in (YES, [YES]):
        raise ToolError("denied", f"the person stays in mode {ctx.mode}", hint="continue in this mode")
    ctx.set_mode(args.mode)
    return f"The mode is now {args.mode}."


FACTS = ToolFacts(reads=False, edits=False, runs=False, modes=ALL_MODES, untrusted_output=False)
TOOL = Tool(
    "switch_mode", DESCRIPTION, SwitchModeArguments, Risk.READ_ONLY, preview, run, seconds=math.inf, facts=FACTS
)
