"""The code index of a tree: its build against SQLite FTS5 on the same chunks, its questions, its memory, in one run.

    uv run python -m tests.benchmarks.bench_index FOLDER [CHUNKS] [NAME] [SWITCHED]

FOLDER: a tree of source code (make_tree.py writes large ones). CHUNKS: how many of its chunks the comparison takes
(100,000; 0: no comparison). NAME: a name that is defined in the tree; it is asked for right after the start of a process
that has no index yet. SWITCHED: so many files are changed at once, and changed back.

Goals: the whole build (read, parse, store, index) at least 1.5 times as fast as with FTS5; queries p99 under
50 ms at 100,000 chunks; the known definition in the first five within 5 s; a saved file searchable in 200 ms; the
memory of the index process (USS) at most 250 MB, and of the server 20 MB more.
"""

import asyncio
import itertools
import os
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tark_lsp.index.client import IndexClient
from tark_lsp.index.disk_index import DiskIndex
from tark_lsp.index.file_rows import FileRow, Seen
from tark_lsp.index.helpers import Helpers, Prepare, prepare_here
from tark_lsp.index.model import IndexState
from tark_lsp.index.packing import PackedFile
from tark_lsp.index.prepared import Prepared, prepare
from tark_lsp.index.questions import DefinitionsOf, Search
from tark_lsp.index.ranking import candidates_query, terms_of
from tark_lsp.index.scanning import list_all
from tark_lsp.index.store import Store
from tark_lsp.index.text_index import words_of
from tark_lsp.index.worker import Worker
from tark_lsp.workspace.search.search_program import SearchProgram

QUERIES = 400
BATCH = 2_000
"""Files of a commit, for both."""
FTS = (
    "CREATE VIRTUAL TABLE chunks USING"
    " fts5 (body, symbol, outer_name, path, defines, uses, content='', tokenize='porter unicode61')"
)
"""No text is stored, as in text_index.py."""
COLUMNS = ("body", "symbol", "outer", "path", "defines", "uses")
CHUNKS_SHOWN = (100_000, 300_000, 10**9)
"""At so many chunks, the memory and questions are measured while the build goes on."""
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


def queries(texts: list[str]) -> Iterator[str]:
    """Two to six words that are near each other in a file."""
    chance = random.Random(1)
    while True:
        words = words_of(chance.choice(texts)[:20_000])
        if len(words) > 20:
            at = chance.randrange(len(words) - 12)
            yield " ".join(chance.sample(words[at : at + 12], chance.randint(2, 6)))


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


def show(what: str, seconds: list[float]) -> None:
    ordered = sorted(seconds)
    p99 = ordered[int(len(ordered) * 0.99)]
    print(
        f"{what}: p50 {statistics.median(ordered) * 1e3:.1f} ms, p99 {p99 * 1e3:.1f} ms, max {ordered[-1] * 1e3:.1f} ms"
    )


def memory_of(process_id: int | None = None) -> float:
    """USS in MB."""
    return float(psutil.Process(process_id).memory_full_info().uss) / 1e6


def memory_with_helpers(process_id: int) -> tuple[float, float]:
    """USS in MB of a process, and of all that it started."""
    helpers = 0.0
    for child in psutil.Process(process_id).children(recursive=True):
        with suppress(psutil.Error):
            helpers += memory_of(child.pid)
    return memory_of(process_id), helpers


async def real(folder: Path, name: str, home: Path, switched: int) -> None:
    before = memory_of()
    client = IndexClient([folder], home / "real", lambda paths: [True] * len(paths))
    start = time.perf_counter()
    await client.start()
    if name:
        found = await client.ask(DefinitionsOf(name))
        seconds = time.perf_counter() - start
        print(f"cold: {name} defined {len(found.items)} times, {seconds:.1f} s, share {found.share:.3f}")
        asked = time.perf_counter()
        hits = (await client.ask(Search(name, 5))).items
        is_in = any(hit.path == item.path for hit in hits for item in found.items)
        print(f"cold: a search has it in the first five: {is_in}, {time.perf_counter() - asked:.1f} s")
    peak = helpers_peak = 0.0
    steps = iter(CHUNKS_SHOWN)
    shown = next(steps)
    while (status := await client.status()).state is IndexState.BUILDING:
        await asyncio.sleep(0.5)
        with suppress(psutil.Error):
            memory, helpers = memory_with_helpers(client.process_id or 0)
            peak, helpers_peak = max(peak, memory), max(helpers_peak, helpers)
        if status.chunks > shown:
            shown = next(steps)
            print(f"{status.chunks:,} chunks after {time.perf_counter() - start:.0f} s: at most {peak:.0f} MB")
            await ask_often(client, folder)
    status = await client.status()
    print(f"built in {time.perf_counter() - start:.0f} s: {status}")
    print(f"memory: index process at most {peak:.0f} MB, its helpers {helpers_peak:.0f} MB")
    print(f"        server {memory_of() - before:.1f} MB more")
    await saves(client, folder)
    await ask_often(client, folder)
    if switched:
        await switch(client, folder, switched)
    await client.close()


async def ask_often(client: IndexClient, folder: Path) -> None:
    times = []
    texts = [path.read_text("utf-8", "replace") for path in itertools.islice(folder.rglob("*.py"), 200)]
    for query, _ in zip(queries(texts), range(QUERIES), strict=False):
        asked = time.perf_counter()
        await client.ask(Search(query, 20))
        times.append(time.perf_counter() - asked)
    show(f"questions through the client, load {os.getloadavg()[0]:.1f}", times)


async def switch(client: IndexClient, folder: Path, count: int) -> None:
    """As a branch switch does: this many files change at once, and are what they were at the end."""
    before = {path: path.read_bytes() for path in itertools.islice(sorted(folder.rglob("*.py")), count)}
    for name in ("switched", "switched back"):
        start = time.perf_counter()
        for path, data in before.items():
            path.write_bytes(data if name == "switched back" else b"def of_branch():\n    pass\n" + data)
        written = time.perf_counter() - start
        client.rescan()
        asked = time.perf_counter()
        hits = (await client.ask(Search("of_branch", 5))).items
        print(
            f"{name}: {len(before):,} files written in {written:.1f} s, a question at once: {len(hits)} hits in "
            f"{time.perf_counter() - asked:.2f} s"
        )
        await client.settle(3_600)
        found = await client.ask(DefinitionsOf("of_branch"))
        print(
            f"  settled after {time.perf_counter() - start:.0f} s; {len(found.items)} definitions of the branch; {memory_with_helpers(client.process_id or 0)} MB"
        )


async def saves(client: IndexClient, folder: Path) -> None:
    path = folder / "saved_by_the_benchmark.py"
    path.write_text("first = 1\n")
    client.rescan()
    await client.settle(600)
    times = []
    for number in range(20):
        path.write_text(f"def saved_{number}_times():\n    pass\n")
        start = time.perf_counter()
        client.files_changed([path])
        hits = (await client.ask(Search(f"saved_{number}_times", 5))).items
        times.append(time.perf_counter() - start)
        assert any(hit.path == path for hit in hits)
    path.unlink()
    show("a saved file is found after", times)


def main(folder: str, chunks: str = "100000", name: str = "", switched: str = "0") -> None:
    with tempfile.TemporaryDirectory() as home:
        if int(chunks):
            compare(Path(folder).resolve(), int(chunks), Path(home))
        asyncio.run(real(Path(folder).resolve(), name, Path(home), int(switched)))


if __name__ == "__main__":
    main(*sys.argv[1:])
