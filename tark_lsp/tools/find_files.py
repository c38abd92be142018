"""find_files: finds files by a glob over their paths, newest first."""

from pathlib import Path

from pydantic import Field

from tark_lsp.tools.facts import ALL_MODES, ALL_SCOPES, ToolFacts
from tark_lsp.tools.places import locate_path, locate_path_again, require_folder
from tark_lsp.tools.results import cap_lines, character_limit, count_noun
from tark_lsp.tools.tool import Arguments, CallFacts, Counted, Location, Preview, Risk, Tool, ToolContext, ToolKind
from tark_lsp.workspace.search.ripgrep import LISTING_LIMIT, SearchScope, list_files, newest_first
from tark_lsp.workspace.search.search_program import SearchProgram

DESCRIPTION = """\
Find files by name or path; the most recently changed come first. Ignored files are left out, and so are hidden ones \
unless the pattern names them (`.github/**`). To find text in files use search_text."""


class FindFilesArguments(Arguments):
    pattern: str = Field(
        min_length=1,
        description="A glob. Without `/` it matches names at any depth (`*.py`, `conf*.{yml,yaml}`), with `/` it "
        "matches paths relative to the searched folder (`src/**/test_*.py`). `*` and `?` do not match `/`, `**` does.",
    )
    path: str | None = Field(default=None, description="The folder to search. Default: the whole workspace.")
    max_results: int = Field(default=100, ge=1, le=1000, description="The maximum number of paths.")


async def preview(args: FindFilesArguments, ctx: ToolContext) -> Preview:
    place = locate_path(ctx, args.path) if args.path else None
    return Preview(
        f"find_files {args.pattern}" + (f" in {place.shown}" if place else ""),
        ToolKind.SEARCH,
        Risk.READ_ONLY,
        locations=(Location(place.path),) if place else (),
        outside=place.outside if place else (),
    )


async def run(args: FindFilesArguments, ctx: ToolContext, preview: Preview) -> Counted:
    roots = ctx.workspace.folders
    if args.path:
        place = locate_path_again(ctx, args.path, preview)
        require_folder(place)
        roots = (place.path,)
    scope = SearchScope(roots, glob=args.pattern)
    paths, complete = await list_files(SearchProgram.find_installed(ctx.workspace.folders), scope)
    paths = ctx.workspace.listed(paths, scope.matcher())
    for root in roots:
        paths = ctx.workspace.private.without_private(root, paths)
    if not paths:
        anchored = "/" in args.pattern and not args.pattern.startswith("**")
        hint = (
            " A pattern with `/` starts at the searched folder; begin it with `**/` for any folder." if anchored else ""
        )
        return Counted(f"No file matches {args.pattern}.{hint}", CallFacts(files=0))
    created = [path for path in ctx.workspace.listed([], scope.matcher()) if path in paths]
    newest = [*created, *await newest_first(paths, args.max_results)][: args.max_results]
    lines = [ctx.workspace.display(Path(path)) for path in newest]
    if not complete:
        lines.append(f"[Only the first {LISTING_LIMIT:,} files were searched; narrow the path.]")
    elif len(paths) > len(lines):
        left = count_noun(len(paths) - len(lines), "older file")
        lines.append(f"[{left} left out; narrow the pattern or the path, or raise max_results.]")
    text = cap_lines(lines, character_limit(ctx.result_tokens), "narrow the pattern or the path")
    return Counted(text, CallFacts(files=len(paths), more=not complete))


FACTS = ToolFacts(reads=False, edits=False, runs=False, modes=ALL_MODES, scopes=ALL_SCOPES, of_workspace=True)
TOOL = Tool("find_files", DESCRIPTION, FindFilesArguments, Risk.READ_ONLY, preview, run, facts=FACTS)
