"""read_file: the text of one file, from the editor if it is open there, otherwise from disk."""

from pydantic import Field

from tark_lsp.context.result_handles import HANDLE
from tark_lsp.tools.facts import ALL_MODES, ALL_SCOPES, ToolFacts
from tark_lsp.tools.places import locate_path, locate_path_again
from tark_lsp.tools.reading import line_range, show_file, show_result
from tark_lsp.tools.results import character_limit
from tark_lsp.tools.tool import Arguments, Location, Preview, Risk, Tool, ToolContext, ToolKind

DESCRIPTION = """\
Read a text file, or some lines of it, including the person's unsaved changes. The result is a snippet \
<code="PATH" #FIRST:LAST> with the unchanged text (without line numbers; `</code>` is shown as `<\\/code>`), and says \
what was left out. Read a file before you edit it. A path `result:ID` from an earlier result gives that whole result."""


class ReadFileArguments(Arguments):
    path: str = Field(
        min_length=1,
        description="The file: relative to the workspace folder with `/` (`src/app.py`, or `folder:src/app.py` if "
        "there are several folders), or absolute.",
    )
    start_line: int | None = Field(
        default=None, ge=1, description="The first line to read, counted from 1. Default: the first of the file."
    )
    end_line: int | None = Field(
        default=None, ge=1, description="The last line to read, included. Default: the last of the file."
    )


async def preview(args: ReadFileArguments, ctx: ToolContext) -> Preview:
    if HANDLE.fullmatch(args.path):
        lines = line_range(args.start_line, args.end_line)
        return Preview(f"read_file {args.path}{lines}", ToolKind.READ, Risk.READ_ONLY)
    place = locate_path(ctx, args.path)
    start = None if args.start_line is None and args.end_line is None else (args.start_line or 1) - 1
    return Preview(
        f"read_file {place.shown}{line_range(args.start_line, args.end_line)}",
        ToolKind.READ,
        Risk.READ_ONLY,
        locations=(Location(place.path, start, args.end_line),),
        outside=place.outside,
    )


async def run(args: ReadFileArguments, ctx: ToolContext, preview: Preview) -> str:
    if handle := HANDLE.fullmatch(args.path):
        return show_result(ctx, handle[1], args.start_line or 1, args.end_line)
    place = locate_path_again(ctx, args.path, preview)
    return show_file(ctx, place, args.start_line, args.end_line, character_limit(ctx.result_tokens))


FACTS = ToolFacts(reads=True, edits=False, runs=False, modes=ALL_MODES, scopes=ALL_SCOPES, of_workspace=True)
TOOL = Tool("read_file", DESCRIPTION, ReadFileArguments, Risk.READ_ONLY, preview, run, facts=FACTS)
