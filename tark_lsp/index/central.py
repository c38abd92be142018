"""Answers `Central`: reads names from the store, from a limited number of files per question, and ranks them."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import nlargest
from pathlib import Path, PurePath
from weakref import WeakKeyDictionary

from tark_lsp.index.calls import WHOLE_FOLDER
from tark_lsp.index.file_rows import FileRow
from tark_lsp.index.graph import FileNames, name_number, rank_all
from tark_lsp.index.model import Definition, Found, FoundDefinition, SymbolKind
from tark_lsp.index.overlay import OverlaidFile
from tark_lsp.index.packing import names_in_outline, names_in_references, pack_outline, pack_references
from tark_lsp.index.questions import Central
from tark_lsp.index.store import Store
from tark_lsp.index.view import View

MOST_READ = 3_000
"""Files that are read for one question, which takes about a second. The next question reads more."""
MOST_FILES = 20_000
"""Files in the graph, about 1 KB each."""
LEFT_OUT = frozenset({SymbolKind.FIELD, SymbolKind.VARIABLE})
"""Kinds of definitions whose names (`path`, `name`) are too common to identify their file."""
FAMILIES = {
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte"), ".js"),
    **dict.fromkeys((".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx", ".m", ".mm"), ".c"),
    **dict.fromkeys((".java", ".kt", ".kts", ".scala", ".groovy"), ".java"),
    ".pyi": ".py",
}
"""Extensions of files that use each other's names. Other files use only names of files with the same extension."""
CANDIDATES = 4
"""Names that are looked up for each requested definition."""


@dataclass(slots=True)
class _Known:
    """The names in files that were read, by path, with the hash of the text that they are from."""

    names: dict[str, tuple[bytes, FileNames]] = field(default_factory=dict)


_known: WeakKeyDictionary[Store, _Known] = WeakKeyDictionary()


def central(view: View, question: Central) -> Found[FoundDefinition]:
    wanted = [str(path) for path in question.paths]
    rows = _rows(view, wanted)
    names = _read(view, rows)
    overlaid = {path: _names_of(path, file) for path, file in view.overlay.items()}
    files = {path: overlaid.get(path) or names[path][1] for path in sorted({*overlaid, *names})}
    paths = [*files]
    places = {path: index for index, path in enumerate(paths)}
    families = {family_of(path) for path in paths} if question.names else ()
    mentioned = {name_number(_last_part(name), family) for name in question.names for family in families}
    ranks = rank_all([*files.values()], {places[path] for path in wanted if path in places}, mentioned)
    modules = {name_number(name, family_of(path)) for path in paths for name in _module_names(path)}
    best = nlargest(
        question.limit * CANDIDATES,
        (item for item in ranks.names.items() if item[0][1] not in modules),
        key=lambda item: (item[1], paths[item[0][0]], item[0][1]),
    )
    by_path: dict[str, dict[int, float]] = {}
    for (index, name), rank in best:
        by_path.setdefault(paths[index], {})[name] = rank
    found = [item for path, wanted_names in by_path.items() for item in _definitions(view, path, wanted_names)]
    found.sort(key=lambda item: (-item.rank, str(item.path), item.definition.start_line))
    notes: tuple[str, ...] = ()
    if len(rows) > len(names):
        notes = (f"The map is made of {len(names):,} of {len(rows):,} files; ask again for more.",)
    return Found(found[: question.limit], complete=len(found) <= question.limit, notes=notes)


def _rows(view: View, wanted: Iterable[str]) -> list[FileRow]:
    """The files of the index: wanted ones first, then those in their folders, then the others."""
    folders = tuple(str(Path(path).parent) + os.sep for path in wanted)
    first = {*wanted}

    def order(row: FileRow) -> tuple[bool, bool, str]:
        return row.path not in first, not row.path.startswith(folders), row.path

    return sorted((row for row in view.store.indexed() if row.path not in view.overlay), key=order)[:MOST_FILES]


def _read(view: View, rows: list[FileRow]) -> dict[str, tuple[bytes, FileNames]]:
    """The names of these files that are cached or can be read now."""
    known = _known.setdefault(view.store, _Known()).names
    current = {}
    room = MOST_READ
    for row in rows:
        found = known.get(row.path)
        if found is None or found[0] != row.hash:
            if room == 0:
                continue
            room -= 1
            found = row.hash, _read_one(view, row)
            known[row.path] = found
        current[row.path] = found
    for path in known.keys() - current.keys():
        del known[path]
    return current


def _read_one(view: View, row: FileRow) -> FileNames:
    try:
        return _file_names(row.path, *view.store.names(row.id, LEFT_OUT))
    except ValueError:
        view.damaged.append(row.path)
        return _file_names(row.path, [], [], [])


def _names_of(path: str, file: OverlaidFile) -> FileNames:
    parsed = file.parsed
    defines, imports = names_in_outline(pack_outline(parsed), LEFT_OUT)
    return _file_names(path, defines, imports, names_in_references(pack_references(parsed.references)))


def _file_names(path: str, defines: list[str], imports: list[tuple[str, str]], uses: list[str]) -> FileNames:
    return FileNames.of([*defines, *_module_names(path)], imports, uses, family=family_of(path))


def _module_names(path: str) -> list[str]:
    """The names by which other files import this one, in the format of `names_in_outline`: its own and its folder's."""
    pure = PurePath(path)
    return [f"/{name}" for name in (pure.parent.name, pure.stem) if name not in WHOLE_FOLDER]


def family_of(path: str) -> str:
    ending = PurePath(path).suffix.lower()
    return FAMILIES.get(ending, ending)


def _definitions(view: View, path: str, ranks: dict[int, float]) -> list[FoundDefinition]:
    """The definitions of a file with these names. Definitions of the same name share its rank."""
    if path in view.overlay:
        found: Iterable[Definition] = view.overlay[path].parsed.definitions
    else:
        row = view.store.file(path)
        found = view.definitions(row) if row is not None else ()
    family = family_of(path)
    by_name: dict[int, list[Definition]] = {}
    for definition in found:
        if definition.kind not in LEFT_OUT and (number := name_number(definition.name, family)) in ranks:
            by_name.setdefault(number, []).append(definition)
    return [
        FoundDefinition(Path(path), definition, ranks[number] / len(same))
        for number, same in by_name.items()
        for definition in same
    ]


def _last_part(name: str) -> str:
    return name.replace("::", ".").replace("#", ".").rpartition(".")[2]
