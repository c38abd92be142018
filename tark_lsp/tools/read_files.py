"""read_files: the text of several files in one call."""

from pydantic import Field

from tark_lsp.errors import FailureForModel
from tark_lsp.tools.facts import ALL_MODES, ALL_SCOPES, ToolFacts
from tark_lsp.tools.places import locate_path, locate_path_again
from tark_lsp.tools.reading import show_file
from tark_lsp.tools.results import character_limit, failure_line
from tark_lsp.tools.tool import Arguments, Location, Preview, Risk, Tool, ToolContext, ToolKind

DESCRIPTION = """\
Read several whole text files, shown as read_file shows them. A file that cannot be read has an error in its place; \
files that no longer fit into the result are named at its end."""

SHARE = 400
"""Characters. If fewer are left in the result, the next file needs another call."""


class ReadFilesArguments(Arguments):
    paths: list[str] = Field(
        min_length=1, max_length=50, description="The files, each written as in read_file. At most 50."
    )


async def preview(args: ReadFilesArguments, ctx: ToolContext) -> Preview:
    places = [locate_path(ctx, path) for path in args.paths]
    names = ", ".join(place.shown for place in places[:3]) + (", ..." if len(places) > 3 else "")
    return Preview(
        f"read_files {names}",
        ToolKind.READ,
        Risk.READ_ONLY,
        locations=tuple(Location(place.path) for place in places),
        outside=tuple(path for place in places for path in place.outside),
    )


async def run(args: ReadFilesArguments, ctx: ToolContext, preview: Preview) -> str:
    left = character_limit(ctx.result_tokens)
    parts: list[str] = []
    for index, path in enumerate(args.paths):
        if parts and left < SHARE:
            rest = ", ".join(args.paths[index:])
            parts.append(f"[Not read because the result is full: {rest}; read them with another call.]")
            break
        try:
            part = show_file(ctx, locate_path_again(ctx, path, preview), None, None, left)
        except FailureForModel as error:
            part = f"{path}: {failure_line(error)}"
        parts.append(part)
        left -= len(part)
    return "\n\n".join(parts)


FACTS = ToolFacts(reads=True, edits=False, runs=False, modes=ALL_MODES, scopes=ALL_SCOPES, of_workspace=True)
TOOL = Tool("read_files", DESCRIPTION, ReadFilesArguments, Risk.READ_ONLY, preview, run, facts=FACTS)
