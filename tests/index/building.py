"""Indexes for the tests: one of a real process, and one that is built from nothing in this process to compare with."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tark_lsp.index.client import IndexClient
from tark_lsp.index.disk_index import DiskIndex
from tark_lsp.index.helpers import prepare_here
from tark_lsp.index.overlay import OverlaidFile
from tark_lsp.index.packing import unpack_places
from tark_lsp.index.scanning import list_all
from tark_lsp.index.status import IndexState, IndexStatus
from tark_lsp.index.view import View
from tark_lsp.index.worker import Worker
from tark_lsp.workspace.search.search_program import SearchProgram
from tests.patience import AT_ONCE

Dump = dict[str, Any]
EVERYTHING = 10_000


def all_may(paths: Sequence[Path]) -> Sequence[bool]:
    return [True] * len(paths)


@asynccontextmanager
async def indexed(
    folder: Path, cache: Path, may_index: Callable[[Sequence[Path]], Sequence[bool]] = all_may
) -> AsyncIterator[IndexClient]:
    """The index of a process that has indexed everything."""
    client = IndexClient([folder], cache, may_index)
    await client.start()
    try:
        await client.settle(AT_ONCE)
        yield client
    finally:
        await client.close()


async def until(client: IndexClient, is_wanted: Callable[[IndexStatus], bool]) -> IndexStatus:
    """Wait for a status."""
    seen: asyncio.Queue[IndexStatus] = asyncio.Queue()
    client.listen(seen.put_nowait)
    status = await client.status()
    async with asyncio.timeout(AT_ONCE):
        while not is_wanted(status):
            status = await seen.get()
    return status


async def until_ready(client: IndexClient) -> IndexStatus:
    return await until(client, lambda status: status.state is IndexState.READY)


def fresh(folder: Path, cache: Path, may_index: Callable[[str], bool] = lambda _: True) -> DiskIndex:
    """An index that is built from nothing, in this process."""
    found = asyncio.run(list_all(SearchProgram.find_installed([folder]), [folder]))
    disk = DiskIndex(cache, writable=True)
    disk.store.queue.compare(found)
    worker = Worker(lambda paths: [*map(may_index, paths)], prepare_here)
    while worker.step(disk, is_full=False):
        pass
    return disk


def dump(disk: DiskIndex, words: Iterable[str], overlay: Mapping[str, str] | None = None) -> Dump:
    """All that an index knows: definitions, references, imports and chunks, and the chunks that have each word."""
    view = View(disk.store, disk.text, {path: OverlaidFile.of(path, text) for path, text in (overlay or {}).items()})
    known: Dump = {}
    for row in disk.store.indexed():
        places = unpack_places(disk.store.places([row.id])[row.id])
        known[row.path] = (disk.store.outline(row.id), places, disk.store.references(row.id))
    for word in words:
        found = disk.text.search(disk.text.term("body", word), EVERYTHING)
        hits = view.hits((hit.file, hit.chunk, 0.0) for hit in found)
        known[f"chunks with {word}"] = {(hit.path, hit.start_line, hit.end_line, hit.symbol) for hit in hits}
        known[f"files that use {word}"] = {row.path for row in view.rows(disk.text.files_with("uses", word))}
        known[f"files that define {word}"] = {row.path for row in view.rows(disk.text.files_with("defines", word))}
    return known


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
