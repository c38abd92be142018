"""ask_user: a question to the user."""

import math

from pydantic import Field

from tark_lsp.errors import ToolError
from tark_lsp.tools.editor import Option
from tark_lsp.tools.facts import ALL_MODES, ALL_SCOPES, ToolFacts
from tark_lsp.tools.tool import Arguments, Preview, Risk, Tool, ToolContext, ToolKind

DESCRIPTION = """\
Ask the person a question and wait for the answer. Use it for a choice that only they can make and that no file \
answers. Do not ask for permission to run tools: that is asked automatically."""


class AskUserArguments(Arguments):
    question: str = Field(min_length=1, description="The question, short and understandable on its own.")
    options: list[str] = Field(
        default=[],
        max_length=20,
        description="Answers to choose from, if there are any: at most four if possible, a few words each.",
    )
    multiple: bool = Field(default=False, description="Whether several options can be chosen.")


async def preview(args: AskUserArguments, ctx: ToolContext) -> Preview:  # noqa: ARG001  # as in all tools
    if len(set(args.options)) < len(args.options):
        raise ToolError("invalid_arguments", "options: two options are the same", hint="give every option once")
    return Preview(f"ask_user {args.question}", ToolKind.OTHER, Risk.READ_ONLY)


async def run(args: AskUserArguments, ctx: ToolContext, preview: Preview) -> str:  # noqa: ARG001  # as in all tools
    # The label is also the id, so typing the label has the same effect as choosing it.
    options = [Option(option, option) for option in args.options]
    ctx.report_progress(f"waiting for you: {args.question}")
    answer = await ctx.editor.ask_user(args.question, options, multiple=args.multiple and bool(options), by_model=True)
    if answer is None:
        raise ToolError(
            "unanswered", "the person did not answer", hint="continue with what you know, or ask in your final answer"
        )
    if isinstance(answer, str):
        return f"Answer: {answer}"
    return f"Chosen: {', '.join(answer) or 'none of them'}"


FACTS = ToolFacts(reads=False, edits=False, runs=False, modes=ALL_MODES, scopes=ALL_SCOPES, untrusted_output=False)
TOOL = Tool("ask_user", DESCRIPTION, AskUserArguments, Risk.READ_ONLY, preview, run, seconds=math.inf, facts=FACTS)
