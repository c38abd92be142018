"""Finds the definitions of a name by ripgrep and a table of patterns. This works in any language, but can be wrong.

Files are searched with their unsaved text. `Shape.area` and `Shape::area` mean the `area` of a `Shape` if there is one,
else any `area`.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tark_lsp.errors import WorkspaceError
from tark_lsp.server.documents.ranges import (
    CONTROL,
    LONGEST_HEAD,
    MODIFIERS,
    WORDS,
    block_end,
    is_definition,
    with_prefixes,
)
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.lines import split_lines
from tark_lsp.workspace.search.ripgrep import SearchQuery, SearchScope, search_files
from tark_lsp.workspace.search.search_program import SearchProgram

FORMS = (
    # a keyword that begins definitions: Python, JavaScript, Rust, Go (with the receiver in between), Ruby, Swift ...
    rf"^\s*(?:(?:{MODIFIERS})\s+)*(?:{WORDS})\s+(?:\([^)]*\)\s*)?(?:[\w$]+(?:\.|::|#))*NAME\b",
    # preprocessor; Lisps
    r"^\s*#\s*define\s+NAME\b",
    r"^\s*\((?:def\w*|cl-def\w+)-?\s+\(?NAME(?:[\s()]|$)",
    # a type before the name, brackets after it: C, C++, Java, C#
    r"^\s*(?:[\w<>\[\],:&*~]+\s+)+[&*]*(?:\w+::)*NAME\s*\([^;]*$",
    # methods in the body of a class: JavaScript, TypeScript, Dart
    r"^\s*(?:(?:async|static|get|set|public|private|protected|readonly|override)\s+)*[*\#]?NAME\s*\([^;]*\{\s*$",
    # variables with a keyword; constants, attributes and aliases without one
    r"^\s*(?:(?:export|pub|public|private|static|final|default)\s+)*(?:const|let|var|val|static)\s+(?:mut\s+)?NAME\b",
    r"^\s*NAME\s*(?::[^=]+)?(?:=[^=>]|=$)",
)
"""Patterns of the beginning of a line that defines NAME, the most certain one first. Their syntax is valid in ripgrep
and Python."""
NO_DEFINITION = re.compile(
    r"\s*(?://|/?\*|--|;|%|\"|'|\#(?!\s*define)"
    r"|(?:await|yield|throw|raise|new|not|and|or|in|import|from|assert|del|print|echo|goto|delete|using|include)\b)"
)
"""Comments, and keywords before a call, which look like a type before a name."""
WHOLE_NAME = re.compile(r"\w{1,100}(?:(?:\.|::|\#)\w{1,100}){0,5}")
PROSE = frozenset({".md", ".markdown", ".rst", ".txt", ".adoc"})
MOST_HITS = 300
Unsaved = Callable[[Path], Sequence[Path]]
"""The open documents below a folder with unsaved changes."""


@dataclass(frozen=True, slots=True)
class Definition:
    """Lines [start, end) of the file, from 0."""

    path: Path
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that defines `name`. `form` is the index of its pattern in the table."""

    path: Path
    line: int
    text: str
    name: str
    form: int


async def find_definitions(name: str, workspace: Workspace, unsaved: Unsaved) -> list[Definition]:
    """The definitions, the most likely one first. Empty if `name` is not a valid name."""
    if WHOLE_NAME.fullmatch(name) is None or not workspace.folders:
        return []
    *around, own = re.split(r"\.|::|#", name)
    hits = await _hits(re.escape(own), workspace, unsaved)
    hits.sort(key=lambda hit: (hit.form, len(hit.text) - len(hit.text.lstrip()), str(hit.path), hit.line))
    placed = [(found, hit) for hit in hits if (found := _definition(hit, around, workspace)) is not None]
    inside = [found for (found, within), _ in placed if within]
    return inside or [found for (found, _), _ in placed]


async def names_beginning(prefix: str, workspace: Workspace, unsaved: Unsaved) -> list[str]:
    """The names with this prefix that are defined in the workspace, sorted. If there are none, the names that begin
    with its first letter and contain the other letters in this order: `mkf` finds `make_file`."""
    if re.fullmatch(r"\w{1,100}", prefix) is None:
        return []
    hits = await _hits(rf"{re.escape(prefix)}\w*", workspace, unsaved)
    hits = hits or await _hits("".join(rf"{letter}\w*" for letter in prefix), workspace, unsaved)
    return sorted({hit.name for hit in hits})


async def _hits(name: str, workspace: Workspace, unsaved: Unsaved) -> list[Hit]:
    """`name` is a regular expression. Raises ToolError if the search fails."""
    forms = [re.compile(form.replace("NAME", f"(?P<name>{name})")) for form in FORMS]
    pattern = "|".join(form.replace("NAME", f"(?:{name})") for form in FORMS)
    folders = workspace.folders
    scope = SearchScope(folders)
    matches = scope.matcher()
    dirty = [path for path in sorted({path for folder in folders for path in unsaved(folder)}) if matches(str(path))]
    found = await search_files(
        SearchProgram.find_installed(folders), SearchQuery(pattern, True, 0, MOST_HITS), scope, skip=dirty
    )
    lines = [(Path(line.path), line.number - 1, line.text) for line in found.lines]
    for path in dirty:
        try:
            text = workspace.read(path).text
        except WorkspaceError:  # closed meanwhile, or too large to be searched
            continue
        lines += [(path, number, line) for number, line in enumerate(split_lines(text))]
    return [hit for line in lines if (hit := _hit(*line, forms)) is not None]


def _hit(path: Path, number: int, text: str, forms: Iterable[re.Pattern[str]]) -> Hit | None:
    if len(text) > LONGEST_HEAD or path.suffix.lower() in PROSE or NO_DEFINITION.match(text) or CONTROL.match(text):
        return None
    for form, pattern in enumerate(forms):
        if (match := pattern.match(text)) is not None:
            return Hit(path, number, text, match["name"], form)
    return None


def _definition(hit: Hit, around: Sequence[str], workspace: Workspace) -> tuple[Definition, bool] | None:
    """The definition, and whether it is inside the one that `around` names. None if the file changed meanwhile."""
    try:
        lines = split_lines(workspace.read(hit.path).text)
    except WorkspaceError:
        return None
    if hit.line >= len(lines) or lines[hit.line].rstrip("\r\n") != hit.text.rstrip("\r\n"):
        return None
    found = Definition(hit.path, with_prefixes(lines, hit.line), block_end(lines, hit.line))
    return found, bool(around) and _is_in(around[-1], lines, hit)


def _is_in(name: str, lines: Sequence[str], hit: Hit) -> bool:
    """Whether the line (`func (s Shape) area`), a definition around it, or the file has this name."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    if word.search(hit.text.partition(hit.name)[0]) or hit.path.stem == name:
        return True
    depth = len(hit.text) - len(hit.text.lstrip())
    for line in reversed(lines[: hit.line]):
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent < depth:
            depth = indent
            if is_definition(line) and word.search(line):
                return True
    return False
