"""Stores a parsed file as compressed JSON: outline, references and places of chunks. Checksums detect damage."""

import json
import re
import zlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tark_lsp.index.model import Chunk, Definition, Import, ParsedFile, Reference, ReferenceKind, SymbolKind

MODULE_PARTS = re.compile(r"[./\\:]+")

FUNCTIONS = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD})
LEVEL = 1
"""zlib's compression level: higher ones save 10% of the space but take three times as long."""


@dataclass(frozen=True, slots=True)
class Outline:
    definitions: tuple[Definition, ...]
    imports: tuple[Import, ...]


@dataclass(frozen=True, slots=True)
class PackedFile:
    """The stored form of a ParsedFile, which takes a fiftieth of its memory."""

    outline: bytes
    uses: bytes
    places: bytes
    """The places of the chunks, separately because a search needs them from a hundred files."""
    chunks: int
    definitions: int


def pack(parsed: ParsedFile) -> PackedFile:
    places = _pack([(chunk.start_line, chunk.end_line, chunk.symbol) for chunk in parsed.chunks])
    sizes = len(parsed.chunks), len(parsed.definitions)
    return PackedFile(pack_outline(parsed), pack_references(parsed.references), places, *sizes)


def pack_outline(parsed: ParsedFile) -> bytes:
    return _pack(
        [
            [
                (d.name, d.qualified_name, d.kind, d.start_line, d.end_line, d.name_line, d.name_column, d.signature)
                for d in parsed.definitions
            ],
            [(each.module, each.names, each.line) for each in parsed.imports],
        ]
    )


def unpack_outline(data: bytes, name: str | None = None) -> Outline:
    """`name`: return only definitions of this name. Raises ValueError if the data is damaged."""
    definitions, imports = _unpack(data)
    return Outline(
        tuple(
            Definition(own, qualified, SymbolKind(kind), *rest)
            for own, qualified, kind, *rest in definitions
            if name is None or own == name
        ),
        tuple(Import(module, tuple(names), line) for module, names, line in imports),
    )


def unpack_places(data: bytes, numbers: Sequence[int] | None = None) -> tuple[Chunk, ...]:
    """`numbers`: return only these chunks, if they exist. Raises ValueError if the data is damaged."""
    chunks = _unpack(data)
    if numbers is not None:
        chunks = [chunks[number] for number in numbers if number < len(chunks)]
    return tuple(Chunk(*chunk) for chunk in chunks)


def pack_references(references: Iterable[Reference]) -> bytes:
    return _pack([(r.name, r.kind, r.line, r.column, r.inside) for r in references])


def unpack_references(data: bytes, name: str | None = None) -> tuple[Reference, ...]:
    """`name`: return only references to this name. Raises ValueError if the data is damaged."""
    return tuple(
        Reference(own, ReferenceKind(kind), line, column, inside)
        for own, kind, line, column, inside in _unpack(data)
        if name is None or own == name
    )


def names_in_outline(data: bytes, without: Collection[SymbolKind]) -> tuple[list[str], list[tuple[str, str]]]:
    """The names that a file defines, and those that it imports. Faster than `unpack_outline`. Raises ValueError.

    Definitions of the kinds in `without`, and those inside functions, are left out. Imports are pairs of a module and a
    name, which can be that of a definition or a module. Names of modules begin with `/`.
    """
    definitions, imports = _unpack(data)
    functions = {qualified for _, qualified, kind, *_ in definitions if kind in FUNCTIONS}
    defined = [
        name
        for name, qualified, kind, *_ in definitions
        if kind not in without and qualified.rpartition(".")[0] not in functions
    ]
    imported: list[tuple[str, str]] = []
    for module, names, _ in imports:
        *above, last = MODULE_PARTS.split(module.strip("\"'<>"))
        imported += [(f"/{name}", f"/{name}") for name in (last, *names)]
        imported += [(f"/{last or name}", name) for name in names]
        if above and not names:  # as in Java
            imported.append((f"/{last}", last))
    return defined, imported


def names_in_references(data: bytes) -> list[str]:
    """The names that a file uses, except in imports. Faster than `unpack_references`. Raises ValueError."""
    return [name for name, kind, *_ in _unpack(data) if kind != ReferenceKind.IMPORT]


def _pack(value: object) -> bytes:
    return zlib.compress(json.dumps(value, separators=(",", ":")).encode(), LEVEL)


def _unpack(data: bytes) -> Any:
    try:
        return json.loads(zlib.decompress(data))
    except zlib.error as error:
        raise ValueError(f"damaged: {error}") from error
