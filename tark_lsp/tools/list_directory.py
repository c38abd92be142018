"""list_directory: shows the files and folders below a folder as a tree."""

import os
from dataclasses import dataclass, field

from pydantic import Field

from tark_lsp.tools.facts import ALL_MODES, ALL_SCOPES, ToolFacts
from tark_lsp.tools.places import locate_path, locate_path_again, require_folder
from tark_lsp.tools.results import cap_lines, character_limit, count_noun
from tark_lsp.tools.tool import Arguments, Location, Preview, Risk, Tool, ToolContext, ToolKind
from tark_lsp.workspace.search.ripgrep import LISTING_LIMIT, SearchScope, list_files
from tark_lsp.workspace.search.search_program import SearchProgram

DESCRIPTION = """\
List the content of a folder as an indented tree. Files that are ignored (by .gitignore and similar files) and folders \
without files are left out. For a folder below the depth, the number of its files is shown."""


class ListDirectoryArguments(Arguments):
    path: str = Field(description="The folder, relative to the workspace folder with `/`; `.` is the workspace folder.")
    depth: int = Field(default=1, ge=1, le=20, description="How many levels to show; 1: only the folder itself.")
    include_hidden: bool = Field(default=False, description="Whether to show names that begin with a dot.")


@dataclass(slots=True)
class Folder:
    folders: "dict[str, Folder]" = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    count: int = 0
    """The number of files in it and below."""

    def add(self, parts: list[str], depth: int) -> None:
        self.count += 1
        if len(parts) == 1:
            self.files.append(parts[0])
        elif depth:
            self.folders.setdefault(parts[0], Folder()).add(parts[1:], depth - 1)

    def lines(self, depth: int, indent: str = "") -> list[str]:
        shown = []
        for name, folder in sorted(self.folders.items()):
            closed = f"  ({count_noun(folder.count, 'file')})" if depth == 1 else ""
            shown.append(f"{indent}{name}/{closed}")
            if depth > 1:
                shown += folder.lines(depth - 1, indent + "  ")
        return shown + [indent + name for name in sorted(self.files)]


async def preview(args: ListDirectoryArguments, ctx: ToolContext) -> Preview:
    place = locate_path(ctx, args.path or ".")
    return Preview(
        f"list_directory {place.shown}",
        ToolKind.READ,
        Risk.READ_ONLY,
        locations=(Location(place.path),),
        outside=place.outside,
    )


async def run(args: ListDirectoryArguments, ctx: ToolContext, preview: Preview) -> str:
    place = locate_path_again(ctx, args.path or ".", preview)
    require_folder(place)
    program = SearchProgram.find_installed(ctx.workspace.folders)
    scope = SearchScope((place.path,), hidden=args.include_hidden)
    paths, complete = await list_files(program, scope)
    paths = ctx.workspace.listed(paths, scope.matcher())
    paths = ctx.workspace.private.without_private(place.path, paths)
    if not paths:
        hidden = "" if args.include_hidden else " or hidden"
        return f"{place.shown} contains no files except ignored{hidden} ones."
    tree, start = Folder(), len(str(place.path).rstrip(os.sep)) + 1
    for path in paths:
        tree.add(path[start:].split(os.sep), args.depth)  # noqa: PTH206  # 100,000 of them
    lines = tree.lines(args.depth)
    if not complete:
        lines.insert(0, f"[Only the first {LISTING_LIMIT:,} files are counted; list a subfolder.]")
    return cap_lines(lines, character_limit(ctx.result_tokens), "list a subfolder, or use a smaller depth")


FACTS = ToolFacts(reads=False, edits=False, runs=False, modes=ALL_MODES, scopes=ALL_SCOPES, of_workspace=True)
TOOL = Tool("list_directory", DESCRIPTION, ListDirectoryArguments, Risk.READ_ONLY, preview, run, facts=FACTS)
