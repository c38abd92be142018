"""search_text: finds lines that match a regular expression, in files on disk and in unsaved text."""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from pathlib import Path

from pydantic import Field

from tark_lsp.context.snippets import format_snippet
from tark_lsp.errors import FileMissing
from tark_lsp.tools.facts import ALL_MODES, ALL_SCOPES, ToolFacts
from tark_lsp.tools.masking import mask_lines
from tark_lsp.tools.places import Place, locate_path, locate_path_again, read_place
from tark_lsp.tools.results import cap_result, count_noun
from tark_lsp.tools.tool import Arguments, CallFacts, Counted, Location, Preview, Risk, Tool, ToolContext, ToolKind
from tark_lsp.workspace.search.ripgrep import SearchQuery, SearchScope, first_hits, search_buffer, search_files
from tark_lsp.workspace.search.search_check import FoundLine
from tark_lsp.workspace.search.search_program import SearchProgram

DESCRIPTION = """\
Search the text of files, unsaved changes included, for a regular expression, line by line. The result has one \
`path:line: text` per match or, with context_lines, code snippets. Ignored and binary files are left out."""

LEFT_OUT = "Files that a rule hides from you are not searched."
"""Added to each search in a folder that can have such files, so that the note does not reveal whether there are any."""


class SearchTextArguments(Arguments):
    pattern: str = Field(
        min_length=1,
        description="A regular expression in ripgrep's syntax (no look-around, no backreferences), matched within one "
        "line. Escape literal characters: `foo\\(`.",
    )
    path: str | None = Field(default=None, description="The folder or file to search. Default: the whole workspace.")
    glob: str | None = Field(
        default=None, description="Search only files that match this glob (`*.py`, `src/**/*.ts`), as in find_files."
    )
    case_sensitive: bool = Field(default=False, description="Whether to distinguish upper and lower case.")
    context_lines: int = Field(default=0, ge=0, le=20, description="How many lines to show around each match.")
    max_results: int = Field(default=100, ge=1, le=1000, description="The maximum number of matching lines.")


async def preview(args: SearchTextArguments, ctx: ToolContext) -> Preview:
    place = locate_path(ctx, args.path) if args.path else None
    where = f" in {place.shown}" if place else ""
    return Preview(
        f"search_text {args.pattern}{where}" + (f" ({args.glob})" if args.glob else ""),
        ToolKind.SEARCH,
        Risk.READ_ONLY,
        locations=(Location(place.path),) if place else (),
        outside=place.outside if place else (),
    )


async def run(args: SearchTextArguments, ctx: ToolContext, preview: Preview) -> Counted:
    place = locate_path_again(ctx, args.path, preview) if args.path else None
    if place is not None and not place.path.is_dir() and not place.path.is_file():
        read_place(ctx, place)  # raises for a device or a pipe, where a search would block; a new document is allowed
    scope = SearchScope((place.path,) if place else ctx.workspace.folders, glob=args.glob)
    program = SearchProgram.find_installed(ctx.workspace.folders)
    query = SearchQuery(args.pattern, args.case_sensitive, args.context_lines, args.max_results)
    is_hidden = cache(lambda path: ctx.is_read_denied(Path(path)))
    unsaved = [path for path in unsaved_paths(ctx, place, scope) if not is_hidden(str(path))]
    found = await search_files(program, query, scope, skip=unsaved, is_hidden=is_hidden)
    lines, complete = found.lines, found.complete
    for path in unsaved:
        try:
            text = ctx.read_draft(path).text
        except FileMissing:
            continue  # this answer moves or deletes the file
        in_buffer = await search_buffer(program, query, path, text)
        lines, complete = lines + in_buffer.lines, complete and in_buffer.complete
    hides = ctx.may_hide_below(scope.roots)
    lines, cut = first_hits(sorted(lines, key=lambda line: line.path), args.max_results)
    changed = f"{count_noun(found.changed, 'line')} of files that changed meanwhile left out." if found.changed else ""
    if not lines:
        text = " ".join(filter(None, (f"No line matches {args.pattern}.", LEFT_OUT if hides else "", changed)))
        return Counted(text, CallFacts(matches=0, files=0))
    lines = mask_lines(ctx, lines)
    shown = as_snippets(lines) if args.context_lines else as_lines(ctx, lines)
    more = cut or not complete
    if more:
        shown.append(
            f"[There are more than {args.max_results} matching lines; narrow the search or raise max_results.]"
        )
    shown += [f"[{notice}]" for notice in (LEFT_OUT if hides else "", changed) if notice]
    hits = [line.path for line in lines if line.hit]
    facts = CallFacts(matches=len(hits), files=len(set(hits)), more=more)
    return Counted(cap_result(ctx, shown, "narrow the pattern, path or glob"), facts)


def unsaved_paths(ctx: ToolContext, place: Place | None, scope: SearchScope) -> Iterator[Path]:
    """The files in scope whose text for the model differs from the file on disk."""
    if place is not None and place.outside:
        return
    matches = scope.matcher()
    folders = ctx.workspace.folders
    unsaved = {path for folder in folders for path in ctx.editor.unsaved_documents(folder)}
    unsaved |= {path for draft in ctx.drafts.values() for path in draft.paths}
    yield from (path for path in sorted(unsaved) if matches(str(path)))


def as_lines(ctx: ToolContext, lines: Iterable[FoundLine]) -> list[str]:
    return [f"{ctx.workspace.display(Path(line.path))}:{line.number}: {line.text}" for line in lines]


def as_snippets(lines: Iterable[FoundLine]) -> list[str]:
    """One snippet for each run of consecutive lines of a file."""
    snippets = []
    for (path, _), group in groupby(enumerate(lines), key=lambda item: (item[1].path, item[1].number - item[0])):
        block = [line for _, line in group]
        code = "\n".join(line.text for line in block)
        snippets.append(format_snippet(Path(path), block[0].number, block[-1].number, code))
    return snippets


FACTS = ToolFacts(reads=True, edits=False, runs=False, modes=ALL_MODES, scopes=ALL_SCOPES, of_workspace=True)
TOOL = Tool("search_text", DESCRIPTION, SearchTextArguments, Risk.READ_ONLY, preview, run, facts=FACTS)
