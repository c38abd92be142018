"""Converts the matches of a language's query to definitions, references and imports (see languages/language.py)."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tree_sitter import Node

from tark_lsp.index.model import Definition, Import, Reference, ReferenceKind, SymbolKind
from tark_lsp.index.signatures import first_byte, signature
from tark_lsp.index.source import Source

LONGEST_NAME = 200
"""Bytes. Nobody searches for a longer name."""
LONGEST_OUTER = 500
"""Characters of the outer names in a qualified name; from a longer one, outer parts are removed. Without this limit, a
file of 1 MB with 90 nested classes and 8,000 functions in the innermost one would have 140 MB of names."""

SCOPE = "scope"
TYPES = frozenset({SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.ENUM, SymbolKind.TYPE, SCOPE})
WITH_LOCALS = TYPES | {SymbolKind.FUNCTION, SymbolKind.METHOD}
"""Kinds with parameters. Those of types are type parameters and parameters of a constructor."""
VALUES = frozenset({SymbolKind.CONSTANT, SymbolKind.VARIABLE, SymbolKind.FIELD})
KINDS = {kind.value: kind for kind in SymbolKind}

QUALIFIER = re.compile(r"::|->|[.:#\\]")
ARGUMENTS = re.compile(r"<[^<>]*>|\[[^\[\]]*\]|\([^()]*\)")
OPERATOR = re.compile(r"\boperator(?:\s*\(\s*\)|\s*[^\w\s(]+|\s+[^()]+)")
"""In C++, `operator==`, `operator()` and `operator std::string` are one name, although they contain separators."""
LEFT_OUT = frozenset({"", "prototype", "module", "exports", "this", "self"})
"""Parts of a qualified name that are left out: `module.exports.area`, `Shape.prototype.area`."""

MEMBER = (b".", b":", b">")
"""The last bytes of `.`, `::` and `->`. A name after one of them is not a local variable."""


Captured = tuple[int, Mapping[str, list[Node]]]
"""The number of a pattern, and the nodes of its match by capture name."""


@dataclass(slots=True)
class Region:
    """A definition or scope while the matches are read."""

    kind: SymbolKind | str
    start: int
    end: int
    names: tuple[str, ...]
    name_start: int
    node: Node
    parent: "Region | None" = None
    """The innermost region around it. A field that a method's parameter declares belongs to the type of the method."""
    qualified: str = ""
    locals: set[bytes] = field(default_factory=set)

    @property
    def range(self) -> tuple[int, int]:
        return self.start, self.end


class Reading:
    """Reads the matches of one text."""

    def __init__(self, source: Source, matches: Sequence[Captured], words: frozenset[bytes]) -> None:
        self._source = source
        self._data = source.data
        found: dict[int, tuple[int, Region]] = {}
        self._uses: dict[int, tuple[int, ReferenceKind]] = {}
        self._declared: set[int] = set()
        self._locals: dict[int, int] = {}
        self._imports: dict[int, tuple[str, int, list[str]]] = {}
        self._import_ranges: set[tuple[int, int]] = set()
        for pattern, captures in matches:
            if "word" in captures and self._bytes(captures["word"][0]) not in words:
                continue
            if "name" in captures:
                self._add_region(found, pattern, captures)
            elif "import" in captures:
                self._add_import(captures)
            else:
                self._add_names(captures)
        self._regions = self._nested([region for _, region in found.values()])
        self._note_locals()

    def _add_region(
        self, found: dict[int, tuple[int, Region]], pattern: int, captures: Mapping[str, list[Node]]
    ) -> None:
        name = captures["name"][0]
        text = self._bytes(name)
        parts = _parts(text)
        kind = next((kind for kind in captures if kind in KINDS or kind == SCOPE), None)
        if not parts or kind is None:
            return
        start = name.start_byte + max(text.rfind(parts[-1].encode()), 0)
        known = found.get(start)
        if known is not None and known[0] <= pattern:
            return
        owner = captures.get("owner")
        if owner:
            parts = _parts(self._bytes(owner[0])) + parts
        node = captures[kind][0]
        found[start] = pattern, Region(KINDS.get(kind, kind), node.start_byte, node.end_byte, parts, start, node)

    def _bytes(self, node: Node) -> bytes:
        return self._data[node.start_byte : node.end_byte]

    def _add_import(self, captures: Mapping[str, list[Node]]) -> None:
        node = captures["import"][0]
        self._import_ranges.add((node.start_byte, node.end_byte))
        sources = captures.get("source")
        if not sources:
            return
        start = sources[0].start_byte
        module = self._source.between(start, sources[-1].end_byte).strip("\"'<>")
        _, _, names = self._imports.setdefault(start, (module, node.start_byte, []))
        for imported in captures.get("imported", ()):
            name = self._source.between(imported.start_byte, imported.end_byte)
            if name not in names:
                names.append(name)

    def _add_names(self, captures: Mapping[str, list[Node]]) -> None:
        for capture, nodes in captures.items():
            node = nodes[0]
            start = node.start_byte
            if capture == "use":
                self._uses.setdefault(start, (node.end_byte, ReferenceKind.USE))
            elif capture == "call":
                self._uses[start] = node.end_byte, ReferenceKind.CALL
            elif capture == "local":
                self._locals[start] = node.end_byte
            elif capture == "ignore":
                self._declared.add(start)

    def _nested(self, regions: list[Region]) -> list[Region]:
        """Sort regions by their start, and set the parent, final kind and qualified name of each."""
        regions.sort(key=lambda region: (region.start, -region.end, region.name_start))
        around: list[Region] = []
        for region in regions:
            # Names that share one declaration (`int left, right`) are siblings.
            while around and (around[-1].end < region.end or around[-1].range == region.range):
                around.pop()
            region.parent = around[-1] if around else None
            self._settle(region)
            around.append(region)
        return regions

    @staticmethod
    def _settle(region: Region) -> None:
        parent = region.parent
        if region.kind == SymbolKind.FIELD and parent is not None and parent.kind == SymbolKind.METHOD:
            parent = parent.parent
        outer = parent.qualified if parent else ""
        while len(outer) > LONGEST_OUTER:
            outer = outer.partition(".")[2]
        region.qualified = ".".join((outer, *region.names) if outer else region.names)
        in_type = parent is not None and parent.kind in TYPES
        if region.kind == SymbolKind.FUNCTION and (in_type or (len(region.names) > 1 and parent is None)):
            region.kind = SymbolKind.METHOD
        elif region.kind == SymbolKind.VARIABLE:
            name = region.names[-1]
            region.kind = SymbolKind.FIELD if in_type else SymbolKind.CONSTANT if name.isupper() else region.kind

    def _innermost(self, starts: Sequence[int]) -> Iterator[tuple[int, Region | None]]:
        """For each of the sorted byte positions, the innermost region around it."""
        regions = iter(self._regions)
        following = next(regions, None)
        around: list[Region] = []
        for start in starts:
            while following is not None and following.start <= start:
                while around and (around[-1].end < following.end or around[-1].range == following.range):
                    around.pop()
                around.append(following)
                following = next(regions, None)
            while around and around[-1].end <= start:
                around.pop()
            yield start, around[-1] if around else None

    def _note_locals(self) -> None:
        self._declared |= {region.name_start for region in self._regions if region.kind != SCOPE}
        for start, region in self._innermost(sorted(self._locals.keys() - self._declared)):
            if region is not None and region.kind in WITH_LOCALS:
                region.locals.add(self._data[start : self._locals[start]])
                self._declared.add(start)

    def definitions(self) -> tuple[Definition, ...]:
        """The definitions in the order of their starts. If a value is assigned several times, the first one counts."""
        values: set[str] = set()
        result: list[Definition] = []
        for region in self._regions:
            if not isinstance(region.kind, SymbolKind):
                continue
            if region.kind in VALUES:
                if region.qualified in values:
                    continue
                values.add(region.qualified)
            result.append(self._definition(region, region.kind))
        return tuple(result)

    def _definition(self, region: Region, kind: SymbolKind) -> Definition:
        line, column = self._source.line_and_column(region.name_start)
        start = min(first_byte(region.node), region.name_start)
        return Definition(
            name=region.names[-1],
            qualified_name=region.qualified,
            kind=kind,
            start_line=self._source.line(start),
            end_line=max(self._source.last_line(region.start, region.end), line),
            name_line=line,
            name_column=column,
            signature=signature(self._source, region.node, start, region.name_start, is_value=kind in VALUES),
        )

    def references(self) -> tuple[Reference, ...]:
        """The references in the order of their positions, without local variables and the names of definitions."""
        ranges = sorted(self._import_ranges)
        starts = [start for start, _ in ranges]
        data, result = self._data, []
        for start, region in self._innermost(sorted(self._uses.keys() - self._declared)):
            end, kind = self._uses[start]
            name = data[start:end]
            if not name or len(name) > LONGEST_NAME or self._is_local(name, start, region):
                continue
            place = bisect_right(starts, start) - 1
            if place >= 0 and start < ranges[place][1]:
                kind = ReferenceKind.IMPORT
            line, column = self._source.line_and_column(start)
            result.append(Reference(name.decode(), kind, line, column, region.qualified if region else ""))
        return tuple(result)

    def _is_local(self, name: bytes, start: int, region: Region | None) -> bool:
        if self._data[start - 1 : start] in MEMBER:
            return False
        while region is not None:
            if name in region.locals:
                return True
            region = region.parent
        return False

    def imports(self) -> tuple[Import, ...]:
        """The imports in the order of their positions."""
        return tuple(
            Import(module, tuple(names), self._source.line(start))
            for _, (module, start, names) in sorted(self._imports.items(), key=_place)
        )


def _place(item: tuple[int, Any]) -> int:
    return item[0]


def _parts(text: bytes) -> tuple[str, ...]:
    """The parts of a name: `Shape<T>::area` is Shape and area. Empty if it is not a name."""
    if not 0 < len(text) <= LONGEST_NAME:
        return ()
    name = text.decode("utf-8", "replace").strip("\"'`*& ")
    operator = OPERATOR.search(name)
    if operator is not None:
        return (*_parts(name[: operator.start()].encode()), operator[0].strip())
    if QUALIFIER.search(name) is None:
        return (name.split()[-1],) if name else ()
    while (shorter := ARGUMENTS.sub("", name)) != name:
        name = shorter
    parts = tuple(part.strip() for part in QUALIFIER.split(name))
    outer = tuple(part for part in parts[:-1] if part not in LEFT_OUT)
    return (*outer, parts[-1].split()[-1]) if parts[-1] else outer[-1:]
