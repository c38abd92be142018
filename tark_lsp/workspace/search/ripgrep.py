"""Lists and searches files with the search program (search_program.py), and reads its output."""

import asyncio
import contextlib
import heapq
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from tark_lsp.workspace.globs import Glob, name_pattern, wants_hidden
from tark_lsp.workspace.search.search_check import LINE_LIMIT, FoundLine, existing, true_lines
from tark_lsp.workspace.search.search_program import SearchProgram, run_search

LISTING_LIMIT = 100_000
"""How many files are listed at most, before a glob selects among them; each takes about 200 bytes."""

MOST_UNSORTED = 2_000
"""How many matching lines are sorted here. If there are more, ripgrep sorts them, with only one thread."""

MATCH_LINE = re.compile(rb"([^\0\n]*)\0(\d+)([:-])([^\n]*)\n?")


@dataclass(frozen=True, slots=True)
class SearchScope:
    """The files to search: those at and below `roots` (absolute) that are not ignored and match `glob`."""

    roots: tuple[Path, ...]
    glob: str | None = None
    hidden: bool = False

    @property
    def options(self) -> list[str]:
        options = ["--hidden"] if self._hidden else []
        # A --glob that includes files would include ignored files; a type does not (ripgrep's guide, "File types").
        if self.glob is not None and (name := name_pattern(self.glob)) is not None:
            options += [f"--type-add=tark:{name}", "--type=tark"]
        return options

    @property
    def _hidden(self) -> bool:
        return self.hidden or (self.glob is not None and wants_hidden(self.glob))

    def matcher(self) -> Callable[[str], bool]:
        """A function that decides whether a file is in scope, by the absolute path that the search program reports."""
        glob = None if self.glob is None else Glob.parse(self.glob)
        roots = [str(root).rstrip(os.sep) + os.sep for root in self.roots]
        files = {str(root) for root in self.roots}
        show_hidden = self._hidden

        def matches(path: str) -> bool:
            if path in files:
                return True
            root = next((root for root in roots if path.startswith(root)), None)
            if root is None:
                return False
            below = path[len(root) :].replace(os.sep, "/")
            if not show_hidden and (below.startswith(".") or "/." in below):
                return False
            return glob is None or glob.matches(below)

        return matches


@dataclass(slots=True)
class SearchResult:
    """`complete` is False if there were more matches than requested. `changed`: lines that were omitted, because they
    were no longer in their files."""

    lines: list[FoundLine] = field(default_factory=list)
    hits: int = 0
    complete: bool = True
    changed: int = 0


async def list_files(
    program: SearchProgram, scope: SearchScope, *, limit: int = LISTING_LIMIT
) -> tuple[list[str], bool]:
    """Absolute paths in order, and whether the list is complete. Over the limit, the list has the paths found first."""
    matches = scope.matcher()
    pieces: list[bytes] = []
    count = 0

    def collect(data: bytes) -> bool:
        nonlocal count
        pieces.append(data)
        count += data.count(b"\0")
        return count <= limit

    await run_search(program, ["--files", *scope.options], scope.roots, collect)

    def select() -> list[str]:
        names = map(os.fsdecode, b"".join(pieces).split(b"\0")[:-1])
        return existing(sorted(name for name in names if matches(name)))

    # In a thread: with 100,000 files it takes long enough to delay typing noticeably.
    return await asyncio.to_thread(select), count <= limit


async def newest_first(paths: Sequence[str], most: int) -> list[str]:
    """The `most` most recently changed files of `paths`, without files that no longer exist."""

    def timed() -> Iterator[tuple[int, str]]:
        for path in paths:
            with contextlib.suppress(OSError):
                yield -os.stat(path).st_mtime_ns, path  # noqa: PTH116  # a Path for each takes 4 times as long

    newest = await asyncio.to_thread(heapq.nsmallest, most, timed())
    return [path for _, path in newest]


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A regular expression in ripgrep's syntax, with `context` lines around each match and at most `limit` matches."""

    pattern: str
    case_sensitive: bool
    context: int
    limit: int

    @property
    def options(self) -> list[str]:
        options = ["--line-number", "--with-filename", "--no-heading", f"--max-columns={LINE_LIMIT}"]
        options += ["--max-columns-preview", f"--context={self.context}", f"--regexp={self.pattern}"]
        return options if self.case_sensitive else ["--ignore-case", *options]


async def search_files(
    program: SearchProgram,
    query: SearchQuery,
    scope: SearchScope,
    skip: Iterable[Path] = (),
    is_hidden: Callable[[str], bool] = lambda _: False,
) -> SearchResult:
    """The first matches in files on disk, sorted by path, without files in `skip` and files that are hidden by a rule.

    Hidden files leave no trace, not even in the number of matches. Raises ToolError for a bad pattern.
    """
    matches = scope.matcher()
    skipped = {str(path) for path in skip}

    @cache
    def is_wanted(path: str) -> bool:
        return path not in skipped and matches(path) and not is_hidden(path)

    options = [*query.options, *scope.options]
    found = await _search(
        program, replace(query, limit=max(query.limit, MOST_UNSORTED)), options, scope.roots, is_wanted
    )
    if found.complete:
        found.lines, is_cut = first_hits(sorted(found.lines, key=lambda line: line.path), query.limit)
        found.complete = not is_cut
    else:
        found = await _search(program, query, ["--sort=path", *options], scope.roots, is_wanted)
    lines = await asyncio.to_thread(true_lines, found.lines)
    found.lines, found.changed = lines, len(found.lines) - len(lines)
    return found


def first_hits(lines: Iterable[FoundLine], limit: int) -> tuple[list[FoundLine], bool]:
    """The lines up to match number `limit`, and whether there are more."""
    kept: list[FoundLine] = []
    hits = 0
    for line in lines:
        if line.hit and hits == limit:
            return kept, True
        hits += line.hit
        kept.append(line)
    return kept, False


async def search_buffer(program: SearchProgram, query: SearchQuery, path: Path, text: str) -> SearchResult:
    """The matches in the text of an open document that differs from the file on disk."""
    data = text.encode("utf-8", "surrogatepass")
    found = await _search(program, query, query.options, (), lambda _: True, data)
    found.lines = [FoundLine(str(path), line.number, line.text, line.hit) for line in found.lines]
    return found


async def _search(
    program: SearchProgram,
    query: SearchQuery,
    options: list[str],
    roots: tuple[Path, ...],
    wanted: Callable[[str], bool],
    input_bytes: bytes | None = None,
) -> SearchResult:
    found = SearchResult()
    rest = b""

    def collect(data: bytes) -> bool:
        nonlocal rest
        *complete, rest = (rest + data).split(b"\n")
        for raw in complete:
            parsed = MATCH_LINE.fullmatch(raw)
            if parsed is None or not wanted(path := os.fsdecode(parsed[1])):
                continue  # `--` between groups, the notice about a binary file, or a skipped file
            hit = parsed[3] == b":"
            if hit and found.hits == query.limit:
                found.complete = False
                return False
            found.hits += hit
            text = parsed[4].decode("utf-8", "replace").rstrip("\r")
            found.lines.append(FoundLine(path, int(parsed[2]), text[: 2 * LINE_LIMIT], hit))
        return True

    await run_search(program, options, roots, collect, input_bytes)
    return found
