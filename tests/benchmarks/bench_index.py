"""The code index of a tree: its build against SQLite FTS5 on the same chunks, its questions, its memory, in one run.

    uv run python -m tests.benchmarks.bench_index FOLDER [CHUNKS] [NAME]

FOLDER: a tree of source code. CHUNKS: how many of its chunks the comparison takes (100,000). NAME: a name that is
defined in the tree; it is asked for right after the start of a process that has no index yet.

Goals: the whole build (read, parse, store, index) at least 1.5 times as fast as the same with FTS5; queries p99 under
50 ms at 100,000 chunks; the known definition in the first five within 5 s; a saved file searchable in 200 ms; the
memory of the index process (USS) at most 250 MB, and of the server 20 MB more.
"""

import asyncio
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tark_lsp.index.chunk_fields import spaced
from tark_lsp.index.client import IndexClient
from tark_lsp.index.disk_index import DiskIndex
from tark_lsp.index.file_rows import Seen
from tark_lsp.index.model import IndexState, ParsedFile
from tark_lsp.index.packing import pack
from tark_lsp.index.parsing import parse_file
from tark_lsp.index.questions import DefinitionsOf, Search
from tark_lsp.index.ranking import candidates_query, terms_of
from tark_lsp.index.reading import read_for_index
from tark_lsp.index.scanning import list_all
from tark_lsp.index.store import Store
from tark_lsp.index.text_index import words_of
from tark_lsp.workspace.search.search_program import SearchProgram

QUERIES = 400
BATCH = 2_000
"""Files of a commit, for both."""
FTS = (
    "CREATE VIRTUAL TABLE chunks USING"
    " fts5 (body, symbol, outer_name, path, defines, uses, content='', tokenize='porter unicode61')"
)
"""The fields of text_index.py. No text is stored, as there."""


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
class Parsed:
    seen: Seen
    text: str
    digest: bytes
    parsed: ParsedFile


def batches(files: list[Seen], times: Times, most_chunks: int) -> Iterator[list[Parsed]]:
    batch: list[Parsed] = []
    chunks = 0
    for seen in files:
        with times:
            read = read_for_index(seen.path)
            if read is None or read.reason:
                continue
            parsed = parse_file(seen.path, read.text)
        chunks += len(parsed.chunks)
        batch.append(Parsed(seen, read.text, read.digest, parsed))
        if len(batch) == BATCH:
            yield batch
            batch = []
        if chunks >= most_chunks:
            break
    yield batch


def ours(disk: DiskIndex, batch: list[Parsed]) -> None:
    """As in disk_index.py, without reading and parsing."""
    disk.store.queue.mark([file.seen for file in batch])
    rows = [row for file in batch if (row := disk.store.file(file.seen.path)) is not None]
    disk.store.queue.begin([row.id for row in rows])
    for row, file in zip(rows, batch, strict=True):
        disk.text.add(row.id, row.path, file.text, file.parsed)
    disk.text.commit()
    disk.store.queue.finish(
        [(row, file.digest, pack(file.parsed)) for row, file in zip(rows, batch, strict=True)], [], []
    )


def with_fts(store: Store, chunks: sqlite3.Connection, batch: list[Parsed]) -> None:
    """The same tables, and FTS5 instead of tantivy."""
    store.queue.mark([file.seen for file in batch])
    rows = [row for file in batch if (row := store.file(file.seen.path)) is not None]
    store.queue.begin([row.id for row in rows])
    chunks.execute("BEGIN")
    for file in batch:
        lines, names = lines_of(spaced(file.text)), names_by_chunk(file.parsed)
        in_path = spaced(path_text(file.seen.path))
        uses = " ".join({reference.name for reference in file.parsed.references})
        for at, chunk in enumerate(file.parsed.chunks):
            body, defines = "\n".join(lines[chunk.start_line - 1 : chunk.end_line]), " ".join(names.get(at, ()))
            columns = (body, spaced(defines), spaced(chunk.symbol), in_path, defines, "" if at else uses)
            chunks.execute("INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?)", columns)
    chunks.execute("COMMIT")
    store.queue.finish([(row, file.digest, pack(file.parsed)) for row, file in zip(rows, batch, strict=True)], [], [])


def compare(folder: Path, most_chunks: int, home: Path) -> None:
    files = asyncio.run(list_all(SearchProgram.find_installed([folder]), [folder]))
    random.Random(0).shuffle(files)
    disk = DiskIndex(home / "ours", writable=True)
    (home / "fts").mkdir()
    store = Store(home / "fts/files.sqlite3", writable=True)
    chunks = sqlite3.connect(home / "fts/chunks.sqlite3", isolation_level=None)
    chunks.execute("PRAGMA journal_mode = WAL")
    chunks.execute("PRAGMA synchronous = NORMAL")
    chunks.execute(FTS)
    parsing, tantivy_times, fts_times = Times(), Times(), Times()
    texts: list[str] = []
    for batch in batches(files, parsing, most_chunks):
        with tantivy_times:
            ours(disk, batch)
        with fts_times:
            with_fts(store, chunks, batch)
        texts += [file.text for file in batch[::20]]
    print(f"{disk.text.documents:,} chunks; read and parsed in {parsing}")
    print(f"  tantivy {tantivy_times}\n  FTS5    {fts_times}")
    for name in ("clock", "processor"):
        read, one, other = (getattr(times, name) for times in (parsing, tantivy_times, fts_times))
        print(
            f"  by the {name}: index {other / one:.2f}, whole build {(read + other) / (read + one):.2f} times as fast"
        )
    query_both(disk, chunks, texts)
    disk.close()
    store.close()
    chunks.close()


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


async def real(folder: Path, name: str, home: Path) -> None:
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
    peak = 0.0
    while (await client.status()).state is IndexState.BUILDING:
        await asyncio.sleep(0.5)
        with suppress(psutil.Error):
            peak = max(peak, memory_of(client.process_id))
    status = await client.status()
    print(f"built in {time.perf_counter() - start:.0f} s: {status}")
    print(f"memory: index process at most {peak:.0f} MB, server {memory_of() - before:.1f} MB more")
    await saves(client, folder)
    times = []
    texts = [path.read_text("utf-8", "replace") for path in sorted(folder.rglob("*.py"))[:200]]
    for query, _ in zip(queries(texts), range(QUERIES), strict=False):
        asked = time.perf_counter()
        await client.ask(Search(query, 20))
        times.append(time.perf_counter() - asked)
    show("questions through the client", times)
    await client.close()


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


def main(folder: str, chunks: str = "100000", name: str = "") -> None:
    with tempfile.TemporaryDirectory() as home:
        compare(Path(folder).resolve(), int(chunks), Path(home))
        asyncio.run(real(Path(folder).resolve(), name, Path(home)))


if __name__ == "__main__":
    main(*sys.argv[1:])
