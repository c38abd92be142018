"""Stored files that are damaged, and a disk that is full: said, and repaired as soon as it is possible."""

import os
import random
import resource
import signal
import sqlite3
from pathlib import Path

import pytest

from tark_lsp.errors import ToolError
from tark_lsp.index.cache_folder import workspace_cache
from tark_lsp.index.client import IndexClient
from tark_lsp.index.disk_index import DATABASE, TEXT
from tark_lsp.index.keeper import DAMAGED_NOTE
from tark_lsp.index.questions import DefinitionsOf, Search
from tark_lsp.index.status import IndexState
from tests.exhaustive import seeds
from tests.index.building import all_may, indexed, until, write
from tests.patience import AT_ONCE


async def count(client: IndexClient, name: str) -> int:
    return len((await client.ask(DefinitionsOf(name))).items)


async def built(work: Path, cache: Path) -> Path:
    async with indexed(work, cache):
        return workspace_cache(cache, [work])


def scribble(path: Path, chance: random.Random) -> None:
    """Random bytes at a random place, or a file that was cut off."""
    data = bytearray(path.read_bytes())
    start = chance.randrange(len(data) + 1)
    length = chance.choice([1, 16, 4096, len(data)])
    if chance.random() < 0.3:
        path.write_bytes(data[:start])
    else:
        data[start : start + length] = chance.randbytes(min(length, max(1, len(data) - start)))
        path.write_bytes(data)


@pytest.mark.property
async def test_random_bytes_in_any_file(work: Path, cache: Path) -> None:
    folder = await built(work, cache)
    for seed in seeds(6):
        chance = random.Random(seed)
        files = sorted(
            path for path in folder.rglob("*") if path.is_file() and path.name != "lock" and path.stat().st_size
        )
        scribble(chance.choice(files), chance)
        async with indexed(work, cache) as client:
            assert await count(client, "squared") == 1
            assert [hit.path.name for hit in (await client.ask(Search("geraniums", 5))).items] == ["notes.txt"]
            status = await client.status()
            assert (status.state, status.files, status.indexed) == (IndexState.READY, 3, 3)


@pytest.mark.parametrize("name", [DATABASE, f"{TEXT}/meta.json", f"{TEXT}/*.term", f"{TEXT}/*.idx"])
async def test_a_damaged_index_is_built_again_and_said(name: str, work: Path, cache: Path) -> None:
    folder = await built(work, cache)
    for path in folder.glob(name):
        path.write_bytes(b"\x00" * 300)
    async with indexed(work, cache) as client:
        assert await count(client, "squared") == 1
        assert (await client.status()).reason == DAMAGED_NOTE


async def test_files_that_are_overwritten_while_they_are_open(work: Path, cache: Path) -> None:
    folder = workspace_cache(cache, [work])
    async with indexed(work, cache) as client:
        assert await count(client, "squared") == 1
        for path in (folder / TEXT).iterdir():
            with path.open("r+b") as file:
                file.write(b"\xa5" * path.stat().st_size)
        await client.ask(Search("geraniums", 5))
        await until(client, lambda status: status.state is IndexState.READY and status.indexed == 3)
        assert [hit.path.name for hit in (await client.ask(Search("geraniums", 5))).items] == ["notes.txt"]
        assert await count(client, "squared") == 1
        assert (await client.status()).reason in (DAMAGED_NOTE, "")  # "": the process died, and another one looked


async def test_a_damaged_row_is_repaired(work: Path, cache: Path) -> None:
    folder = await built(work, cache)
    connection = sqlite3.connect(folder / DATABASE)
    connection.execute("UPDATE parsed SET outline = x'00112233', places = x'00'")
    connection.commit()
    connection.close()
    async with indexed(work, cache) as client:
        assert await count(client, "squared") == 1
        assert (await client.status()).reason == ""


async def test_a_path_that_is_wrong_in_an_index_of_the_database(work: Path, cache: Path) -> None:
    """Its table is right, so a file would be there twice."""
    folder = await built(work, cache)
    connection = sqlite3.connect(folder / DATABASE)
    ((size,),) = connection.execute("PRAGMA page_size")
    ((page,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_files_1'")
    connection.close()
    with (folder / DATABASE).open("r+b") as file:
        file.seek((page - 1) * size)
        paths = file.read(size)
        assert b"shapes.py" in paths
        file.seek((page - 1) * size)
        file.write(paths.replace(b"shapes.py", b"shapez.py"))
    async with indexed(work, cache) as client:
        assert await count(client, "squared") == 1
        status = await client.status()
        assert (status.files, status.reason) == (3, DAMAGED_NOTE)


@pytest.mark.parametrize("version", [1, 1000])
async def test_an_index_of_another_version(version: int, work: Path, cache: Path) -> None:
    folder = await built(work, cache)
    connection = sqlite3.connect(folder / DATABASE)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.execute("ALTER TABLE files DROP COLUMN tries")
    connection.commit()
    connection.close()
    async with indexed(work, cache) as client:
        assert await count(client, "squared") == 1


async def test_a_full_disk(work: Path, cache: Path) -> None:
    async with indexed(work, cache) as client:
        process = client.process_id
        assert process is not None
        _, hard = resource.prlimit(process, resource.RLIMIT_FSIZE)
        resource.prlimit(process, resource.RLIMIT_FSIZE, (1_000, hard))
        write(work, {f"more/m{number}.py": f"def additional{number}():\n    pass\n" for number in range(200)})
        client.rescan()
        status = await until(client, lambda status: status.state is IndexState.FAILED)
        assert "cannot be written" in status.reason
        assert "free some space" in status.reason
        found = await client.ask(DefinitionsOf("squared"))
        assert (len(found.items), found.notes) == (1, (status.reason,))
        resource.prlimit(process, resource.RLIMIT_FSIZE, (hard, hard))
        client.rescan()
        await until(client, lambda status: status.state is IndexState.READY and status.files == 203)
        assert await count(client, "additional7") == 1


async def test_a_cache_folder_that_cannot_be_made(work: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    client = IndexClient([work], tmp_path / "cache", all_may)
    await client.start()
    try:
        status = await until(client, lambda status: status.state is IndexState.FAILED)
        assert "cannot be written" in status.reason
        assert (await client.ask(Search("area", 5))).items == ()
        with pytest.raises(ToolError, match="cannot be written"):
            await client.rebuild()
    finally:
        await client.close()


async def test_links_in_the_place_of_the_index(work: Path, cache: Path, tmp_path: Path) -> None:
    """What they lead to is neither written nor removed."""
    other = tmp_path / "other"
    write(other, {"text": "mine"})
    place = workspace_cache(cache, [work])
    cache.mkdir()
    for link, target in ((place, other), (place / "lock", other / "text")):
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(target)
        client = IndexClient([work], cache, all_may)
        await client.start()
        status = await until(client, lambda status: status.state is not IndexState.BUILDING)
        assert status.state is IndexState.FAILED
        assert "symbolic link" in status.reason
        await client.close()
        link.unlink()
    assert {path.name: path.read_text() for path in other.iterdir()} == {"text": "mine"}


async def test_it_can_be_killed_at_any_moment_of_a_build(work: Path, cache: Path) -> None:
    write(work, {f"many/m{number}.py": f"def other{number}():\n    pass\n" for number in range(300)})
    for _ in range(3):
        client = IndexClient([work], cache, all_may)
        await client.start()
        await until(client, lambda status: status.files > 0)
        assert client.process_id is not None
        os.kill(client.process_id, signal.SIGKILL)
        await client.close()
    async with indexed(work, cache) as client:
        status = await client.status()
        assert (status.files, status.indexed) == (303, 303)
        assert await count(client, "other299") == 1
        await client.settle(AT_ONCE)
