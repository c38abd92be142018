"""ask_user: a question to the person."""

import math

from pydantic import Field

from tark_lsp.errors import ToolError
from tark_lsp.tools.tool import Arguments, Option, Preview, Risk, Tool, ToolContext, ToolKind

DESCRIPTION = """\
Ask the person and wait for the answer. Use it where a choice is theirs to make and no file can tell; do not ask for \
leave to run tools, that is asked anyway."""


class AskUserArguments(Arguments):
    question: str = Field(min_length=1, description="The question, short and complete in itself.")
    options: list[str] = Field(
        default=[],
        max_length=20,
        description="Answers to choose from, if there are any; best at most four, a few words each.",
    )
    multiple: bool = Field(default=False, description="Whether several options may be chosen.")


async def preview(args: AskUserArguments, ctx: ToolContext) -> Preview:  # noqa: ARG001  # as every tool's
    if len(set(args.options)) < len(args.options):
        raise ToolError("invalid_arguments", "options: two of them are the same", hint="give each option once")
    return Preview(f"ask_user {args.question}", ToolKind.OTHER, Risk.READ_ONLY)


async def run(args: AskUserArguments, ctx: ToolContext, preview: Preview) -> str:  # noqa: ARG001  # as every tool's
    # The label is the id, so that words that happen to be an id mean the same.
    options = [Option(option, option) for option in args.options]
    ctx.report(f"waiting for you: {args.question}")
    answer = await ctx.editor.ask(args.question, options, multiple=args.multiple and bool(options), by_model=True)
    if answer is None:
        raise ToolError(
            "unanswered", "the person did not answer", hint="go on with what you know, or ask in your final answer"
        )
    if isinstance(answer, str):
        return f"The person answers: {answer}"
    return f"The person chose: {', '.join(answer) or 'none of them'}"


TOOL = Tool("ask_user", DESCRIPTION, AskUserArguments, Risk.READ_ONLY, preview, run, seconds=math.inf)
