"""The build of the index against SQLite FTS5 on the same chunks, and what a query costs in both, in one run.

    uv run python -m tests.benchmarks.bench_index_fts FOLDER [CHUNKS]

FOLDER: a tree of source code. CHUNKS: how many of its chunks are taken (100,000).

Goal: the whole build (read, parse, store, index) at least 1.5 times as fast as with FTS5. Three comparisons: without
parsing; with it, both in one process; and the whole build as the index process does it, with helpers that parse,
against FTS5 in one process and with the same helpers.
"""

import asyncio
import itertools
import os
import random
import sqlite3
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

from tark_lsp.index.disk_index import DiskIndex
from tark_lsp.index.file_rows import FileRow, Seen
from tark_lsp.index.helpers import Helpers, Prepare, prepare_here
from tark_lsp.index.packing import PackedFile
from tark_lsp.index.prepared import Prepared, prepare
from tark_lsp.index.ranking import candidates_query, terms_of
from tark_lsp.index.scanning import list_all
from tark_lsp.index.store import Store
from tark_lsp.index.text_index import words_of
from tark_lsp.index.worker import Worker
from tark_lsp.workspace.search.search_program import SearchProgram
from tests.benchmarks.bench_index import QUERIES, queries, show

BATCH = 2_000
"""Files of a commit, for both."""
FTS = (
    "CREATE VIRTUAL TABLE chunks USING"
    " fts5 (body, symbol, outer_name, path, defines, uses, content='', tokenize='porter unicode61')"
)
"""No text is stored, as in text_index.py."""
COLUMNS = ("body", "symbol", "outer", "path", "defines", "uses")
AHEAD = 200
"""Files that are prepared at once."""


@dataclass
class Times:
    """Seconds of the clock and of the processor (all threads)."""

    clock: float = 0.0
    processor: float = 0.0
    started: tuple[float, float] = field(default=(0.0, 0.0))

    def __enter__(self) -> None:
        self.started = time.perf_counter(), time.process_time()

    def __exit__(self, *_: object) -> None:
        self.clock += time.perf_counter() - self.started[0]
        self.processor += time.process_time() - self.started[1]

    def __str__(self) -> str:
        return f"{self.clock:7.1f} s, of the processor {self.processor:6.1f} s"


@dataclass(frozen=True)
class File:
    seen: Seen
    prepared: Prepared


@dataclass(frozen=True)
class Fts:
    """FTS5 in place of tantivy, beside the same tables of files."""

    store: Store
    chunks: sqlite3.Connection

    @classmethod
    def new(cls, home: Path) -> "Fts":
        home.mkdir()
        chunks = sqlite3.connect(home / "chunks.sqlite3", isolation_level=None)
        chunks.execute("PRAGMA journal_mode = WAL")
        chunks.execute("PRAGMA synchronous = NORMAL")
        chunks.execute(FTS)
        return cls(Store(home / "files.sqlite3", writable=True), chunks)

    def add(self, files: list[File]) -> None:
        rows = begin(self.store, files)
        self.chunks.execute("BEGIN")
        for file in files:
            for fields in file.prepared.chunks:
                columns = [" ".join(map(str, fields[field])) for field in COLUMNS]
                self.chunks.execute("INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?)", columns)
        self.chunks.execute("COMMIT")
        self.store.queue.finish(done(rows, files), [], [])


def begin(store: Store, files: list[File]) -> list[FileRow]:
    store.queue.mark([file.seen for file in files])
    rows = [row for file in files if (row := store.file(file.seen.path)) is not None]
    store.queue.begin([row.id for row in rows])
    return rows


def done(rows: list[FileRow], files: list[File]) -> list[tuple[FileRow, bytes, PackedFile]]:
    return [
        (row, file.prepared.digest, file.prepared.packed)
        for row, file in zip(rows, files, strict=True)
        if file.prepared.packed is not None
    ]


def ours(disk: DiskIndex, files: list[File]) -> None:
    rows = begin(disk.store, files)
    for row, file in zip(rows, files, strict=True):
        disk.text.add(row.id, file.prepared.chunks)
    disk.text.commit()
    disk.store.queue.finish(done(rows, files), [], [])


def batches(files: list[Seen], how: Prepare) -> Iterator[list[File]]:
    """Prepared in this order. So many are asked for at once as the worker does."""
    waiting: deque[tuple[Seen, Future[Prepared | None]]] = deque()
    left = iter(files)
    batch: list[File] = []
    while True:
        for seen in itertools.islice(left, AHEAD - len(waiting)):
            waiting.append((seen, how(seen.path, b"")))
        if not waiting:
            break
        seen, coming = waiting.popleft()
        prepared = coming.result()
        if prepared is not None and prepared.packed is not None:
            batch.append(File(seen, prepared))
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch


def first_files(files: list[Seen], most_chunks: int) -> list[Seen]:
    """So many that they have that many chunks. Reads them, so they are in the cache of the system for all."""
    chunks = 0
    for count, seen in enumerate(files):
        if chunks >= most_chunks:
            return files[:count]
        prepared = prepare(seen.path, b"")
        chunks += len(prepared.chunks) if prepared is not None else 0
    return files


def compare(folder: Path, most_chunks: int, home: Path) -> None:
    files = asyncio.run(list_all(SearchProgram.find_installed([folder]), [folder]))
    random.Random(0).shuffle(files)
    files = first_files(files, most_chunks)
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    preparing, tantivy_times, fts_times = Times(), Times(), Times()
    disk, fts = DiskIndex(home / "ours", writable=True), Fts.new(home / "fts")
    texts: list[str] = []
    for batch in timed(batches(files, prepare_here), preparing):
        with tantivy_times:
            ours(disk, batch)
        with fts_times:
            fts.add(batch)
        texts += [Path(file.seen.path).read_text("utf-8", "replace") for file in batch[::20]]
    print(f"{disk.text.documents:,} chunks, one process: reading and parsing {preparing}")
    print(f"  tantivy {tantivy_times}\n  FTS5    {fts_times}")
    for name in ("clock", "processor"):
        read, one, other = (getattr(times, name) for times in (preparing, tantivy_times, fts_times))
        print(
            f"  by the {name}: index {other / one:.2f}, with parsing {(read + other) / (read + one):.2f} times as fast"
        )
    query_both(disk, fts.chunks, texts)
    disk.close()
    with_helpers(files, home, preparing.clock + fts_times.clock)


def timed(made: Iterator[list[File]], times: Times) -> Iterator[list[File]]:
    while True:
        with times:
            batch = next(made, None)
        if batch is None:
            return
        yield batch


def with_helpers(files: list[Seen], home: Path, one_process: float) -> None:
    """The whole build as the index process does it, and the same with FTS5."""
    helpers = Helpers()
    disk, worker = DiskIndex(home / "whole", writable=True), Worker(lambda paths: [True] * len(paths), helpers.prepare)
    start = time.perf_counter()
    disk.store.queue.mark(files)
    while worker.step(disk, is_full=False):
        pass
    seconds = time.perf_counter() - start
    disk.close()
    fts, start = Fts.new(home / "whole_fts"), time.perf_counter()
    for batch in batches(files, helpers.prepare):
        fts.add(batch)
    fts_seconds = time.perf_counter() - start
    helpers.close()
    print(
        f"whole build {seconds:.1f} s; with FTS5 in one process {one_process:.1f} s, with helpers {fts_seconds:.1f} s"
    )
    print(f"  {one_process / seconds:.2f} and {fts_seconds / seconds:.2f} times as fast")


def query_both(disk: DiskIndex, chunks: sqlite3.Connection, texts: list[str]) -> None:
    one: list[float] = []
    other: list[float] = []
    for query, _ in zip(queries(texts), range(QUERIES), strict=False):
        start = time.perf_counter()
        disk.text.search(candidates_query(disk.text, terms_of(query)), 100)
        one.append(time.perf_counter() - start)
        if len(other) < QUERIES // 10:
            match = " OR ".join(f'"{word}"' for word in words_of(query))
            start = time.perf_counter()
            chunks.execute("SELECT rowid FROM chunks WHERE chunks MATCH ? ORDER BY rank LIMIT 100", (match,)).fetchall()
            other.append(time.perf_counter() - start)
    show("  queries, tantivy", one)
    show("  queries, FTS5   ", other)


def main(folder: str, chunks: str = "100000") -> None:
    with tempfile.TemporaryDirectory() as home:
        compare(Path(folder).resolve(), int(chunks), Path(home))


if __name__ == "__main__":
    main(*sys.argv[1:])
