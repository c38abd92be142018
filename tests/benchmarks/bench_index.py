"""The code index of a tree: its build, its questions, its memory, and a branch switch.

    uv run python -m tests.benchmarks.bench_index FOLDER [NAME] [SWITCHED]

FOLDER: a tree of source code (make_tree.py writes large ones). NAME: a name that is defined in it; it is asked for
right after the start of a process that has no index yet. SWITCHED: so many files are changed at once, and back again.

Goals: queries p99 under 50 ms at 100,000 chunks; the known definition in the first five within 5 s; a saved file
searchable in 200 ms; the memory of the index process (USS) at most 250 MB, and of the server 20 MB more.
"""

import asyncio
import itertools
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from tark_lsp.index.client import IndexClient
from tark_lsp.index.questions import DefinitionsOf, Search
from tark_lsp.index.status import IndexState
from tark_lsp.index.text_index import words_of

QUERIES = 400
CHUNKS_SHOWN = (100_000, 300_000, 10**9)
"""At so many chunks, the memory is shown while the build goes on."""


def queries(texts: list[str]) -> Iterator[str]:
    """Two to six words that are near each other in a file."""
    chance = random.Random(1)
    while True:
        words = words_of(chance.choice(texts)[:20_000])
        if len(words) > 20:
            at = chance.randrange(len(words) - 12)
            yield " ".join(chance.sample(words[at : at + 12], chance.randint(2, 6)))


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
            print(f"{status.chunks:,} chunks after {time.perf_counter() - start:.0f} s")
            print(f"  index process at most {peak:.0f} MB, helpers {helpers_peak:.0f} MB")
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
        memory, helpers = memory_with_helpers(client.process_id or 0)
        print(f"  settled after {time.perf_counter() - start:.0f} s; {len(found.items)} definitions of the branch")
        print(f"  memory: index process {memory:.0f} MB, helpers {helpers:.0f} MB")


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


def main(folder: str, name: str = "", switched: str = "0") -> None:
    with tempfile.TemporaryDirectory() as home:
        asyncio.run(real(Path(folder).resolve(), name, Path(home), int(switched)))


if __name__ == "__main__":
    main(*sys.argv[1:])
