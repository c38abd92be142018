"""report_problem: shows the user a problem at its lines in the editor's list of problems. Only for reviews."""

from typing import Literal

from pydantic import Field

from tark_lsp.errors import OutsideWorkspace, ToolError
from tark_lsp.tools.facts import ALL_MODES, ToolFacts
from tark_lsp.tools.places import locate_path
from tark_lsp.tools.problem import Problem
from tark_lsp.tools.results import count_noun
from tark_lsp.tools.tool import Arguments, Location, Preview, Risk, Tool, ToolContext, ToolKind
from tark_lsp.workspace.lines import split_lines

DESCRIPTION = """\
Report a problem of the reviewed changes. The person sees it at these lines in the editor's list of problems, until \
the lines change. Make one call for each problem. Lines are those of the file as it is now."""

SEVERITIES = {"error": 1, "warning": 2, "information": 3}
LONGEST_TITLE = 200
"""Characters of the message in the title of the call."""


class ReportProblemArguments(Arguments):
    path: str = Field(min_length=1, description="The file, relative to the workspace folder.")
    line: int = Field(ge=1, description="The first line of the problem, from 1.")
    message: str = Field(
        min_length=1,
        max_length=1000,
        description="What is wrong, what follows from it, and what would be right, in one to three sentences.",
    )
    end_line: int | None = Field(default=None, ge=1, description="Its last line, if there is more than one.")
    severity: Literal["error", "warning", "information"] = Field(
        default="warning",
        description="error: it breaks something; warning: it can break something; information: everything else.",
    )


async def preview(args: ReportProblemArguments, ctx: ToolContext) -> Preview:
    problem = _problem(args, ctx)
    said = " ".join(args.message.split())[:LONGEST_TITLE]
    title = f"{args.severity} {ctx.workspace.display(problem.path)}:{args.line}: {said}"
    places = (Location(problem.path, problem.start, problem.end),)
    return Preview(title, ToolKind.OTHER, Risk.READ_ONLY, locations=places)


async def run(args: ReportProblemArguments, ctx: ToolContext, preview: Preview) -> str:  # noqa: ARG001  # as in all tools
    ctx.report_problem(_problem(args, ctx))
    return "The problem is shown."


def _problem(args: ReportProblemArguments, ctx: ToolContext) -> Problem:
    """Raises WorkspaceError, and ToolError for lines that do not exist."""
    place = locate_path(ctx, args.path)
    if place.outside:
        raise OutsideWorkspace(f"{args.path} is outside the workspace", hint="report problems of the workspace only")
    if ctx.is_read_denied(place.path):
        raise ToolError("denied", f"a rule hides {place.shown} from you", hint="report nothing about it")
    lines = split_lines(ctx.workspace.read(place.path).text)
    last = args.line if args.end_line is None else args.end_line
    if last < args.line:
        raise ToolError("invalid_arguments", f"end_line {last} is before line {args.line}")
    if last > len(lines):
        raise ToolError(
            "invalid_arguments",
            f"line {last} does not exist: {place.shown} has {count_noun(len(lines), 'line')}",
            hint="read the file, and give the line where the problem is now",
            details={"lines": len(lines)},
        )
    text = tuple(line.rstrip("\r\n") for line in lines[args.line - 1 : last])
    return Problem(place.path, args.line - 1, text, SEVERITIES[args.severity], args.message)


FACTS = ToolFacts(reads=False, edits=False, runs=False, modes=ALL_MODES, kind="review", untrusted_output=False)
TOOL = Tool("report_problem", DESCRIPTION, ReportProblemArguments, Risk.READ_ONLY, preview, run, facts=FACTS)
