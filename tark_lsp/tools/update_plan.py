"""update_plan: shows the user the steps of the work and their progress."""

from typing import Literal

from pydantic import Field

from tark_lsp.tools.facts import ALL_MODES, ALL_SCOPES, ToolFacts
from tark_lsp.tools.results import count_noun
from tark_lsp.tools.tool import Arguments, Preview, Risk, Tool, ToolContext, ToolKind

DESCRIPTION = """\
Show the person the plan of a task with several steps, and your progress. Give the whole plan each time: it replaces \
the previous one. Keep one step in_progress."""


class PlanEntry(Arguments):
    content: str = Field(min_length=1, description="The step, in a few words.")
    status: Literal["pending", "in_progress", "completed"] = Field(description="The state of the step.")


class UpdatePlanArguments(Arguments):
    entries: list[PlanEntry] = Field(max_length=100, description="All steps, in order; an empty list clears the plan.")


async def preview(args: UpdatePlanArguments, ctx: ToolContext) -> Preview:  # noqa: ARG001  # as in all tools
    return Preview(f"update_plan ({count_noun(len(args.entries), 'step')})", ToolKind.THINK, Risk.READ_ONLY)


async def run(args: UpdatePlanArguments, ctx: ToolContext, preview: Preview) -> str:  # noqa: ARG001  # as in all tools
    ctx.set_plan([{"content": entry.content, "status": entry.status} for entry in args.entries])
    if not args.entries:
        return "The plan is cleared."
    done = sum(entry.status == "completed" for entry in args.entries)
    return f"The plan is shown: {done} of {count_noun(len(args.entries), 'step')} completed."


FACTS = ToolFacts(reads=False, edits=False, runs=False, modes=ALL_MODES, scopes=ALL_SCOPES, untrusted_output=False)
TOOL = Tool("update_plan", DESCRIPTION, UpdatePlanArguments, Risk.READ_ONLY, preview, run, facts=FACTS)
