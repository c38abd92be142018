"""Automatic context: the code that the index finds for a prompt, before the first request of a turn (docs/index.md).

    what the prompt names, what the selection calls, what calls the selection, what matches the prompt
        -> candidates, in this order -> snippets within a limit of tokens (automatic_snippets.py)

The answers of the index contain no code. The same index and prompt give the same candidates.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal

from tark_lsp.context.prompt_names import LONGEST_QUERY, NamedFile, PromptNames, names_of, telling_words
from tark_lsp.index.code_index import CodeIndex
from tark_lsp.index.model import Definition, FoundDefinition, SymbolKind
from tark_lsp.index.questions import Callees, Callers, DefinitionsOf, Search, SymbolsIn


class Reason(StrEnum):
    """Why a snippet was chosen. The value is the text for the model."""

    NAMED = "named in the prompt"
    CALLED = "called by the selection"
    CALLS = "calls the selection"
    MATCHES = "matches the prompt"

    @property
    def shown(self) -> str:
        """The text for the user."""
        return self.value.replace("the prompt", "your prompt")


@dataclass(frozen=True, slots=True)
class Portion:
    """The most snippets for one reason, and the most lines of each."""

    snippets: int
    lines: int


@dataclass(frozen=True, slots=True)
class Level:
    """`ambiguous`: an unqualified name with more definitions than this is ignored. `few`: if fewer candidates are
    found, the index is searched. `share`: the share of the prompt's telling words that a hit must contain."""

    portions: Mapping[Reason, Portion]
    ambiguous: int
    few: int
    share: float


LEVELS: Mapping[Literal["light", "full"], Level] = {
    "light": Level(
        {
            Reason.NAMED: Portion(4, 60),
            Reason.CALLED: Portion(3, 20),
            Reason.CALLS: Portion(2, 20),
            Reason.MATCHES: Portion(2, 40),
        },
        ambiguous=3,
        few=1,
        share=0.6,
    ),
    "full": Level(
        {
            Reason.NAMED: Portion(12, 150),
            Reason.CALLED: Portion(8, 60),
            Reason.CALLS: Portion(8, 60),
            Reason.MATCHES: Portion(8, 80),
        },
        ambiguous=5,
        few=1_000,
        share=0.5,
    ),
}

TYPES = frozenset(
    {SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.ENUM, SymbolKind.TYPE},
)
CALLABLE = TYPES | {SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.MACRO}
SHORT_NAME = 3
"""Names up to this length can be the language's: `len`, `map`, `str`, `get`."""
MOST_SELECTED = 4
"""The most selected definitions whose callers and callees are looked up."""
CONSTRUCTORS = frozenset({"__init__", "__new__", "constructor", "initialize", "init"})
"""Methods that are called by the name of their class."""
SPECIAL = re.compile(r"__\w+__")
"""Methods that the language calls, not by their name."""
AROUND_LINE = 15
"""Lines that are shown before and after a line that the prompt names."""
FEWEST_WORDS = 3
"""The fewest telling words of a prompt for a search, and of a hit. A shorter prompt is an answer, or has a name."""
MOST_HITS = 20
SPARE = 4
"""The factor by which more candidates are requested than can be shown, because some are hidden or already shown."""
TESTS = re.compile(r"(^|/)(tests?|__tests__|specs?|testing)/|(^|/)test_[^/]*$|(_test|\.test|\.spec)\.\w+$")


@dataclass(frozen=True, slots=True)
class Subject:
    """What a turn is about. `folders`: of the workspace. `lines`: the first and the last selected line of `document`,
    from 1; None if nothing is selected. `selected`: the selected text."""

    prompt: str
    folders: Sequence[Path] = ()
    document: Path | None = None
    lines: tuple[int, int] | None = None
    selected: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Lines `start` to `end` of a file, from 1. `name` is the definition's name, or empty. If there are too many lines,
    the ones around the first use of the name `call` are shown, or the first ones if `call` is empty."""

    path: Path
    start: int
    end: int
    reason: Reason
    name: str = ""
    call: str = ""


async def find_candidates(index: CodeIndex, subject: Subject, level: Level, found: list[Candidate]) -> None:
    """Append the candidates to `found` in their order. A caller that stops waiting has the candidates found so far.

    Raises ToolError, as the index does.
    """
    names = names_of(subject.prompt)
    found += await _named_definitions(index, subject, names, level)
    found += await _named_files(index, subject, names, {one.path for one in found})
    found += await _neighbours(index, subject, level)
    if len(found) < level.few and len(telling_words(subject.prompt)) >= FEWEST_WORDS:
        most = SPARE * level.portions[Reason.MATCHES].snippets
        hits = await index.ask(Search(subject.prompt[:LONGEST_QUERY], min(MOST_HITS, most), local=True))
        found += [Candidate(hit.path, hit.start_line, hit.end_line, Reason.MATCHES, hit.symbol) for hit in hits.items]


async def _named_definitions(index: CodeIndex, subject: Subject, names: PromptNames, level: Level) -> list[Candidate]:
    found: list[Candidate] = []
    for name in names.symbols:
        answer = await index.ask(DefinitionsOf(name))
        meant = _meant(answer.items, subject.document)
        if not meant and "." in name:
            meant = await _in_module(index, name, subject.document)
        is_plain = name.isidentifier()
        if len(meant) > level.ambiguous and is_plain and meant[0].path != subject.document:
            continue
        found += [_candidate(one, Reason.NAMED) for one in meant[: level.ambiguous if is_plain else 1]]
    for name in names.capitalized:
        answer = await index.ask(DefinitionsOf(name))
        types = [one for one in _meant(answer.items, subject.document) if one.definition.kind in TYPES]
        if len(types) == 1:
            found.append(_candidate(types[0], Reason.NAMED))
    return found


async def _in_module(index: CodeIndex, name: str, document: Path | None) -> list[FoundDefinition]:
    """Definitions of `module.name`, which the index has as `name` in a file or folder called `module`."""
    *around, own = name.split(".")
    answer = await index.ask(DefinitionsOf(own))
    return [one for one in _meant(answer.items, document) if around[-1] in (one.path.stem, one.path.parent.name)]


def _meant(found: Iterable[FoundDefinition], document: Path | None) -> list[FoundDefinition]:
    """The definitions, the most likely first: those in the document come before others. Tests are left out if there are
    other definitions, and variables and fields if there are functions or types."""

    def order(one: FoundDefinition) -> tuple[bool, str, int]:
        return one.path != document, str(one.path), one.definition.start_line

    ranked = sorted(found, key=order)
    ranked = [one for one in ranked if one.definition.kind in CALLABLE] or ranked
    return [one for one in ranked if one.path == document or not TESTS.search(one.path.as_posix())] or ranked


async def _named_files(
    index: CodeIndex, subject: Subject, names: PromptNames, known: Collection[Path]
) -> list[Candidate]:
    """`known`: files with definitions that the prompt also names. The beginning of such a file is not added."""
    found: list[Candidate] = []
    for file in names.files:
        paths = [folder / file.path for folder in subject.folders if "/" in file.path]
        if not paths:
            hits = await index.ask(Search(file.path, MOST_HITS, local=True))
            paths = sorted({hit.path for hit in hits.items if hit.path.name == file.path})
        if len(paths) == 1 or "/" in file.path:
            paths = [path for path in paths if path not in known or file.first is not None]
            found += [await _lines_of(index, path, file) for path in paths]
    return found


async def _lines_of(index: CodeIndex, path: Path, file: NamedFile) -> Candidate:
    """The innermost definition around the named lines, or else the lines with some context. If no lines are named, the
    beginning of the file."""
    if file.first is None or file.last is None:
        return Candidate(path, 1, 10**9, Reason.NAMED)
    answer = await index.ask(SymbolsIn(path))
    around = _innermost([one.definition for one in answer.items], file.first, file.last)
    if around is None:
        return Candidate(path, max(1, file.first - AROUND_LINE), file.last + AROUND_LINE, Reason.NAMED)
    return _candidate(FoundDefinition(path, around), Reason.NAMED)


async def _neighbours(index: CodeIndex, subject: Subject, level: Level) -> list[Candidate]:
    """The definitions that the selection calls, then its callers. Only callees whose name is in the selected text
    count."""
    if subject.document is None or subject.lines is None:
        return []
    answer = await index.ask(SymbolsIn(subject.document))
    definitions = [one.definition for one in answer.items if one.definition.kind in CALLABLE]
    first, last = subject.lines
    selected = [one for one in definitions if first <= one.name_line <= last][:MOST_SELECTED]
    around = None if selected else _innermost(definitions, first, last)
    own = [*selected, *([around] if around is not None else [])]
    words = frozenset(re.findall(r"\w+", subject.selected))
    called: list[Candidate] = []
    calling: list[Candidate] = []
    for definition in own:
        center = FoundDefinition(subject.document, definition)
        callees = await index.ask(Callees(center, SPARE * level.portions[Reason.CALLED].snippets))
        found = [one for one in callees.items if one.definition.name in words]
        called += [_candidate(one, Reason.CALLED) for one in _certain(found, subject.document)]
        calling += await _callers(index, _called_as(center, definitions), level)
    ours = {(subject.document, definition.start_line) for definition in own}
    return [one for one in (*called, *calling) if (one.path, one.start) not in ours]


def _certain(found: Sequence[FoundDefinition], document: Path) -> list[FoundDefinition]:
    """Leaves out definitions in other files if their name is ambiguous, or so short that it may be the language's."""
    names = Counter(one.definition.name for one in found)
    return [
        one
        for one in found
        if one.path == document or (names[one.definition.name] == 1 and len(one.definition.name) > SHORT_NAME)
    ]


def _called_as(center: FoundDefinition, definitions: Iterable[Definition]) -> FoundDefinition | None:
    """The definition whose name the callers use: for a constructor, its class. None if they use no name."""
    definition = center.definition
    if definition.name in CONSTRUCTORS and definition.kind is SymbolKind.METHOD:
        owner = definition.qualified_name.rpartition(".")[0]
        classes = (one for one in definitions if one.qualified_name == owner and one.kind in TYPES)
        return next((FoundDefinition(center.path, one) for one in classes), None)
    return None if SPECIAL.fullmatch(definition.name) else center


async def _callers(index: CodeIndex, center: FoundDefinition | None, level: Level) -> list[Candidate]:
    """The callers of `center`. If many definitions have its name, only callers in the same file count, because calls in
    other files may mean another one."""
    if center is None:
        return []
    name = center.definition.name
    callers = await index.ask(Callers(center, SPARE * level.portions[Reason.CALLS].snippets))
    is_common = len((await index.ask(DefinitionsOf(name))).items) > level.ambiguous
    near = [one for one in callers.items if one.path == center.path or not is_common]
    return [_candidate(one, Reason.CALLS, name) for one in near]


def _innermost(definitions: Iterable[Definition], first: int, last: int) -> Definition | None:
    around = [one for one in definitions if one.start_line <= first and last <= one.end_line and one.kind in CALLABLE]
    return max(around, key=lambda one: one.start_line, default=None)


def _candidate(found: FoundDefinition, reason: Reason, call: str = "") -> Candidate:
    one = found.definition
    if one.kind is SymbolKind.MODULE:  # the call is outside of all definitions
        return Candidate(found.path, max(1, one.start_line - 3), one.end_line + 3, reason)
    return Candidate(found.path, one.start_line, one.end_line, reason, one.qualified_name, call)
