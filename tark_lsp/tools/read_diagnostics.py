"""read_diagnostics: the diagnostics that the editor shows, from compilers, linters and other servers."""

from pydantic import Field

from tark_lsp.tools.editor import Diagnostic
from tark_lsp.tools.facts import ALL_MODES, ALL_SCOPES, ToolFacts
from tark_lsp.tools.places import locate_path
from tark_lsp.tools.results import cap_lines, character_limit
from tark_lsp.tools.tool import Arguments, Location, Preview, Risk, Tool, ToolContext, ToolKind

DESCRIPTION = """\
Read the errors and warnings that the editor shows now, as `path:line:character: severity: message`. They can lag \
behind an edit by some seconds."""

SEVERITIES = {1: "error", 2: "warning", 3: "information", 4: "hint"}


class ReadDiagnosticsArguments(Arguments):
    path: str | None = Field(default=None, description="The file. Default: all files of the workspace.")


async def preview(args: ReadDiagnosticsArguments, ctx: ToolContext) -> Preview:
    place = locate_path(ctx, args.path) if args.path else None
    return Preview(
        f"read_diagnostics {place.shown}" if place else "read_diagnostics",
        ToolKind.READ,
        Risk.READ_ONLY,
        locations=(Location(place.path),) if place else (),
        outside=place.outside if place else (),
    )


async def run(args: ReadDiagnosticsArguments, ctx: ToolContext, preview: Preview) -> str:
    path = preview.locations[0].path if args.path else None
    found = await ctx.editor.read_diagnostics(path)
    if path is None:  # a file outside the workspace needs its own call
        found = [diagnostic for diagnostic in found if ctx.workspace.is_inside(diagnostic.path)]
    if not found:
        return "The editor shows no diagnostics" + (f" for {ctx.workspace.display(path)}." if path else ".")
    ordered = sorted(
        found,
        key=lambda diagnostic: (
            diagnostic.path,
            diagnostic.line,
            diagnostic.character,
            diagnostic.severity,
            diagnostic.message,
        ),
    )
    lines = [diagnostic_line(ctx, diagnostic) for diagnostic in ordered]
    return cap_lines(lines, character_limit(ctx.result_tokens), "ask for one file by path")


def diagnostic_line(ctx: ToolContext, diagnostic: Diagnostic) -> str:
    origin = " ".join(word for word in (diagnostic.source, diagnostic.code) if word)
    place = f"{ctx.workspace.display(diagnostic.path)}:{diagnostic.line + 1}:{diagnostic.character + 1}"
    message = " ".join(diagnostic.message.split())
    return f"{place}: {SEVERITIES.get(diagnostic.severity, 'error')}: {message}" + (f" ({origin})" if origin else "")


FACTS = ToolFacts(reads=False, edits=False, runs=False, modes=ALL_MODES, scopes=ALL_SCOPES, of_workspace=True)
TOOL = Tool("read_diagnostics", DESCRIPTION, ReadDiagnosticsArguments, Risk.READ_ONLY, preview, run, facts=FACTS)
