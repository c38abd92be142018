"""Answers `Callers` and `Callees`: what calls a definition, and what it calls.

The index knows only the names of calls, so it guesses from the files: a name means the definition in the same file,
else one in an imported file, else any other.
"""

import os
import re
from collections.abc import Iterable, Sequence
from enum import IntEnum
from pathlib import Path, PurePath

from tark_lsp.index.file_rows import FileRow
from tark_lsp.index.model import (
    Definition,
    Found,
    FoundDefinition,
    Import,
    Reference,
    ReferenceKind,
    SymbolKind,
)
from tark_lsp.index.questions import Callees, Callers
from tark_lsp.index.view import View

MOST_FILES = 1_000
"""Files that use or define a name and are read for one question. The nearest ones to the definition are read first."""
MOST_NAMES = 60
"""How many different names are looked up that one definition calls."""
SAME_NAME = 3
"""Definitions that are returned for one called name if the files do not decide between them."""
CALLABLE = frozenset(
    {SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CLASS, SymbolKind.MACRO, SymbolKind.TYPE, SymbolKind.ENUM}
)
PARTS = re.compile(r"[./\\:]+")
WHOLE_FOLDER = frozenset({"__init__", "index", "mod", "lib", "main"})
"""Names of files that stand for their folder when it is imported."""


class Likely(IntEnum):
    """How likely it is that a use in one file means a given definition. Most likely first."""

    SAME_FILE = 0
    IMPORTED = 1
    SAME_FOLDER = 2
    BY_NAME = 3
    OWN_DEFINITION = 4
    """The file itself has a definition of that name."""


def callers(view: View, question: Callers) -> Found[FoundDefinition]:
    target = question.definition
    name, path = target.definition.name, str(target.path)
    rows = _nearest(view.rows(view.text.files_with("uses", name)), path)
    found: list[tuple[Likely, FoundDefinition]] = []
    for row in rows[:MOST_FILES]:
        found += _calls_in(row.path, view.definitions(row), view.references(row), view.imports(row), target)
    for other, file in view.overlay.items():
        parsed = file.parsed
        found += _calls_in(other, parsed.definitions, parsed.references, parsed.imports, target)
    found.sort(key=lambda item: (item[0], str(item[1].path), item[1].definition.start_line))
    cut = len(rows) > MOST_FILES or len(found) > question.limit
    return Found([item for _, item in found[: question.limit]], complete=not cut)


def callees(view: View, question: Callees) -> Found[FoundDefinition]:
    caller = question.definition
    path = str(caller.path)
    definitions, references, imports = _file(view, path)
    around = caller.definition.qualified_name
    called = [
        use.name
        for use in references
        if use.kind is ReferenceKind.CALL and (use.inside == around or use.inside.startswith(f"{around}."))
    ]
    names = [*dict.fromkeys(called)]
    found: list[FoundDefinition] = []
    for name in names[:MOST_NAMES]:
        found += _meant_by(view, name, path, definitions, imports)
    return Found(found[: question.limit], complete=len(names) <= MOST_NAMES and len(found) <= question.limit)


def likely(path: str, imports: Sequence[Import], own: bool, definition: FoundDefinition) -> Likely:
    """How likely a use of the name in the file at `path` means this definition. `own`: this file defines the name."""
    other = str(definition.path)
    if other == path:
        return Likely.SAME_FILE
    if own:
        return Likely.OWN_DEFINITION
    if any(is_imported(path, one, other) for one in imports):
        return Likely.IMPORTED
    return Likely.SAME_FOLDER if PurePath(path).parent == PurePath(other).parent else Likely.BY_NAME


def is_imported(path: str, one: Import, other: str) -> bool:
    """Whether this import in the file at `path` can mean the file `other`: both names end alike."""
    module = [part for part in PARTS.split(one.module.strip("\"'<>")) if part]
    file = _module_parts(other)
    if one.module.startswith(".") and not _is_below(path, other, one.module):
        return False
    if not module:  # `from . import shapes`
        return file[-1] in one.names
    if module[-1] == PurePath(other).suffix.lstrip("."):  # `#include "shapes.h"`
        module.pop()
    wholes = [module, *([*module, name] for name in one.names), module[:-1]]
    folder = file[:-1]
    return any(_ends_alike(file, parts) for parts in wholes if parts) or (
        len(module) > 1 and (_ends_alike(folder, module) or _ends_alike(folder, module[:-1]))
    )


def _ends_alike(file: Sequence[str], module: Sequence[str]) -> bool:
    """Whether both end in the same two parts, or in the same part if one of them has only one.

    The parts before can differ: source roots (`src/`), package names (`crate::`, `example.com/`).
    """
    size = min(2, len(file), len(module))
    return size > 0 and [*file[-size:]] == [*module[-size:]]


def _module_parts(path: str) -> list[str]:
    """The folders and the name of a file as in an import."""
    parts = [*PurePath(path).with_suffix("").parts[1:]]
    return parts[:-1] if parts and parts[-1] in WHOLE_FOLDER and len(parts) > 1 else parts


def _is_below(path: str, other: str, module: str) -> bool:
    """Whether a relative import can mean `other`. `.` and `./` are the file's folder, further levels its parents."""
    dots = module[: len(module) - len(module.lstrip("./"))]
    levels = dots.count("../") if "/" in dots else len(dots) - 1
    folder = PurePath(path).parent
    start = folder.parents[levels - 1] if 0 < levels <= len(folder.parents) else folder
    return PurePath(other).is_relative_to(start)


def _calls_in(
    path: str,
    definitions: Sequence[Definition],
    references: Sequence[Reference],
    imports: Sequence[Import],
    target: FoundDefinition,
) -> list[tuple[Likely, FoundDefinition]]:
    """The definitions of a file that call the target, each once. Calls outside of definitions count for the file."""
    name = target.definition.name
    calls = [use for use in references if use.name == name and use.kind is ReferenceKind.CALL]
    if not calls:
        return []
    own = path != str(target.path) and any(one.name == name and one.kind in CALLABLE for one in definitions)
    how = likely(path, imports, own, target)
    by_name = {one.qualified_name: one for one in reversed(definitions)}
    found: dict[str, Definition] = {}
    for use in calls:
        inside = by_name.get(use.inside)
        if inside is None:
            inside = _whole_file(path, use)
        if inside != target.definition or path != str(target.path):  # leave out recursive calls
            found.setdefault(inside.qualified_name, inside)
    return [(how, FoundDefinition(Path(path), one)) for one in found.values()]


def _whole_file(path: str, use: Reference) -> Definition:
    stem = PurePath(path).stem
    return Definition(stem, stem, SymbolKind.MODULE, use.line, use.line, use.line, use.column, "")


def _meant_by(
    view: View, name: str, path: str, definitions: Sequence[Definition], imports: Sequence[Import]
) -> list[FoundDefinition]:
    """The most likely definitions that a call of this name in the file means."""
    own = [one for one in definitions if one.name == name and one.kind in CALLABLE]
    if own:
        return [FoundDefinition(Path(path), one) for one in own][:SAME_NAME]
    found: list[FoundDefinition] = []
    for row in _nearest(view.rows(view.text.files_with("defines", name)), path)[:MOST_FILES]:
        found += _named(row.path, view.definitions(row), name)
    for other, file in view.overlay.items():
        found += _named(other, file.parsed.definitions, name)
    ranked = [(likely(path, imports, False, one), one) for one in found]
    best = min((how for how, _ in ranked), default=Likely.BY_NAME)
    chosen = [one for how, one in ranked if how == best]
    chosen.sort(key=lambda one: (str(one.path), one.definition.start_line))
    return chosen[:SAME_NAME]


def _named(path: str, definitions: Iterable[Definition], name: str) -> list[FoundDefinition]:
    return [FoundDefinition(Path(path), one) for one in definitions if one.name == name and one.kind in CALLABLE]


def _file(view: View, path: str) -> tuple[Sequence[Definition], Sequence[Reference], Sequence[Import]]:
    if (open_file := view.overlay.get(path)) is not None:
        parsed = open_file.parsed
        return parsed.definitions, parsed.references, parsed.imports
    row = view.store.file(path)
    if row is None:
        return (), (), ()
    return view.definitions(row), view.references(row), view.imports(row)


def _nearest(rows: Sequence[FileRow], path: str) -> list[FileRow]:
    """Sort files so that those that share most folders with `path` come first."""
    return sorted(rows, key=lambda row: (-len(os.path.commonpath((row.path, path))), row.path))
