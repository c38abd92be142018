"""read_diagnostics: what compilers, linters and other servers say about the files, as the editor shows it."""

from pydantic import Field

from tark_lsp.tools.places import locate
from tark_lsp.tools.results import cap_lines, character_limit
from tark_lsp.tools.tool import Arguments, Diagnostic, Location, Preview, Risk, Tool, ToolContext, ToolKind

DESCRIPTION = """\
Read the errors and warnings the editor shows, as `path:line:character: severity: message`. They are those of now, and \
may lag behind an edit for some seconds."""

SEVERITIES = {1: "error", 2: "warning", 3: "information", 4: "hint"}


class ReadDiagnosticsArguments(Arguments):
    path: str | None = Field(default=None, description="The file. Default: all files of the workspace.")


async def preview(args: ReadDiagnosticsArguments, ctx: ToolContext) -> Preview:
    place = locate(ctx, args.path) if args.path else None
    return Preview(
        f"read_diagnostics {place.shown}" if place else "read_diagnostics",
        ToolKind.READ,
        Risk.READ_ONLY,
        locations=(Location(place.path),) if place else (),
        outside=place.outside if place else (),
    )


async def run(args: ReadDiagnosticsArguments, ctx: ToolContext, preview: Preview) -> str:
    path = preview.locations[0].path if args.path else None
    found = await ctx.editor.diagnostics(path)
    if path is None:  # those of files outside are asked for one by one
        found = [each for each in found if ctx.workspace.is_inside(each.path)]
    if not found:
        return "The editor shows no diagnostics" + (f" for {ctx.workspace.display(path)}." if path else ".")
    ordered = sorted(found, key=lambda each: (each.path, each.line, each.character, each.severity, each.message))
    lines = [as_line(ctx, each) for each in ordered]
    return cap_lines(lines, character_limit(ctx.result_tokens), "ask for one file by path")


def as_line(ctx: ToolContext, each: Diagnostic) -> str:
    origin = " ".join(word for word in (each.source, each.code) if word)
    place = f"{ctx.workspace.display(each.path)}:{each.line + 1}:{each.character + 1}"
    message = " ".join(each.message.split())
    return f"{place}: {SEVERITIES.get(each.severity, 'error')}: {message}" + (f" ({origin})" if origin else "")


TOOL = Tool("read_diagnostics", DESCRIPTION, ReadDiagnosticsArguments, Risk.READ_ONLY, preview, run)
