"""The data for answers: the index on disk, and the open documents that replace some of its files."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from tark_lsp.index.dense import Dense
from tark_lsp.index.file_rows import FileRow, Totals
from tark_lsp.index.model import Definition, Hit, Import, Reference
from tark_lsp.index.overlay import OverlaidFile
from tark_lsp.index.packing import unpack_places
from tark_lsp.index.store import Store
from tark_lsp.index.text_index import TextIndex

T = TypeVar("T")


@dataclass(slots=True)
class View:
    """`used` collects the indexed files that an answer uses, so that they can be compared with the disk.

    `damaged` collects files whose stored data could not be read.
    """

    store: Store
    text: TextIndex
    overlay: dict[str, OverlaidFile]
    totals: Totals = field(default_factory=Totals)
    used: dict[str, FileRow] = field(default_factory=dict)
    damaged: list[str] = field(default_factory=list)
    dense: Dense | None = None

    def hits(self, found: Iterable[tuple[int, int, float]]) -> Iterator[Hit]:
        """Convert (file, chunk, score) to hits, without those of open documents."""
        found = [*found]
        rows = {row.id: row for row in self.rows(file for file, _, _ in found)}
        packed = self.store.places(rows)
        numbers: defaultdict[int, list[int]] = defaultdict(list)
        for file, number, _ in found:
            numbers[file].append(number)
        chunks = {}
        for file, row in rows.items():
            wanted = sorted(numbers[file])
            read = partial(unpack_places, packed.get(file, b""), wanted)
            chunks[file] = dict(zip(wanted, self._read(row, read), strict=False))
        for file, number, score in found:
            chunk = chunks[file].get(number) if file in chunks else None
            if chunk is not None:
                yield Hit(Path(rows[file].path), chunk.start_line, chunk.end_line, chunk.symbol, score)

    def rows(self, files: Iterable[int]) -> list[FileRow]:
        """The rows of these files by path, without open documents."""
        found = (row for row in self.store.files(files).values() if row.path not in self.overlay)
        return sorted(found, key=lambda row: row.path)

    def definitions(self, row: FileRow, name: str | None = None) -> tuple[Definition, ...]:
        """The definitions of a file; only those named `name`, if given."""
        return self._read(row, lambda: self.store.outline(row.id, name).definitions)

    def imports(self, row: FileRow) -> tuple[Import, ...]:
        return self._read(row, lambda: self.store.outline(row.id, "").imports)

    def references(self, row: FileRow, name: str | None = None) -> tuple[Reference, ...]:
        """The references of a file; only those to `name`, if given."""
        return self._read(row, lambda: self.store.references(row.id, name))

    def changed(self) -> list[str]:
        """The paths of used files that changed since they were indexed, and of damaged ones."""
        return [*self.damaged, *(path for path, row in self.used.items() if not _is_same(path, row))]

    def _read(self, row: FileRow, read: Callable[[], tuple[T, ...]]) -> tuple[T, ...]:
        self.used[row.path] = row
        try:
            return read()
        except ValueError:
            self.damaged.append(row.path)
            return ()


def _is_same(path: str, row: FileRow) -> bool:
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return (status.st_mtime_ns, status.st_size) == (row.mtime, row.size)
