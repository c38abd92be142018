"""The life of the index process: its start, its end, its death, and two of them for one workspace."""

import asyncio
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tark_lsp.errors import ToolError
from tark_lsp.index.cache_folder import workspace_cache
from tark_lsp.index.client import IndexClient
from tark_lsp.index.questions import DefinitionsOf, Search
from tark_lsp.index.status import IndexState
from tests.index.building import all_may, indexed, until, write
from tests.patience import AT_ONCE

CLOSE_SECONDS = 0.5


def pid_of(client: IndexClient) -> int:
    assert client.process_id is not None
    return client.process_id


async def count(client: IndexClient, name: str) -> int:
    return len((await client.ask(DefinitionsOf(name))).items)


async def until_found(client: IndexClient, name: str) -> None:
    """A reader looks once a second for the lock, and for what the writer has begun; nothing tells when it does."""
    async with asyncio.timeout(AT_ONCE):
        while await count(client, name) == 0:  # noqa: ASYNC110  # see above
            await asyncio.sleep(0.05)


async def test_it_ends_at_once_whatever_it_does(work: Path, cache: Path) -> None:
    write(work, {f"many/m{number}.py": "def other():\n    pass\n" * 2_000 for number in range(50)})
    client = IndexClient([work], cache, all_may)
    await client.start()
    process = pid_of(client)
    await until(client, lambda status: status.files > 0)
    start = time.process_time()
    await client.close()
    assert time.process_time() - start < CLOSE_SECONDS
    assert not psutil.pid_exists(process)
    with pytest.raises(ToolError) as raised:
        await client.ask(Search("other", 1))
    assert raised.value.code == "unsupported"


async def test_it_ends_if_it_is_stopped_and_cannot_hear(work: Path, cache: Path) -> None:
    client = IndexClient([work], cache, all_may)
    await client.start()
    os.kill(process := pid_of(client), signal.SIGSTOP)
    await client.close()
    assert not psutil.pid_exists(process)


SERVER = """
import asyncio, sys
from pathlib import Path
from tark_lsp.index.client import IndexClient

async def serve():
    client = IndexClient([Path(sys.argv[1])], Path(sys.argv[2]), lambda paths: [True] * len(paths))
    await client.start()
    print(client.process_id, flush=True)
    await asyncio.sleep(3600)

asyncio.run(serve())
"""


def test_it_ends_with_the_server(work: Path, cache: Path) -> None:
    arguments = [sys.executable, "-c", SERVER, str(work), str(cache)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        index = psutil.Process(int(server.stdout.readline()))
        server.kill()
        psutil.wait_procs([index], AT_ONCE)
        assert not index.is_running()


async def test_it_is_restarted_when_it_dies(work: Path, cache: Path) -> None:
    async with indexed(work, cache) as client:
        client.show_text(work / "new.py", "def unsaved():\n    pass\n")
        for _ in range(2):
            assert await count(client, "squared") == 1
            os.kill(pid_of(client), signal.SIGKILL)
            assert await count(client, "unsaved") == 1


async def test_it_is_not_restarted_for_ever(work: Path, cache: Path) -> None:
    async with indexed(work, cache) as client:
        for _ in range(3):
            os.kill(pid_of(client), signal.SIGKILL)
            assert await count(client, "squared") == 1
        os.kill(pid_of(client), signal.SIGKILL)
        with pytest.raises(ToolError) as raised:
            await count(client, "squared")
        assert "failed 4 times within a minute (it was ended by signal 9)" in raised.value.message
        assert (await client.status()).state is IndexState.FAILED
        await client.rebuild()
        await client.settle(AT_ONCE)
        assert await count(client, "squared") == 1


async def test_what_it_writes_is_yours_alone(work: Path, cache: Path) -> None:
    async with indexed(work, cache):
        for path in [*cache.rglob("*")]:
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


async def test_no_text_is_stored(work: Path, cache: Path) -> None:
    write(work, {"prose.txt": "the zebras of yesterday evening\n"})
    async with indexed(work, cache):
        for path in cache.rglob("*"):
            assert not path.is_file() or b"zebras of yesterday" not in path.read_bytes()


async def test_a_second_server_reads_and_takes_over(work: Path, cache: Path) -> None:
    async with indexed(work, cache) as first, indexed(work, cache) as second:
        assert await count(second, "squared") == 1
        write(work, {"shapes.py": "def cubed():\n    pass\n"})
        second.files_changed([work / "shapes.py"])
        assert await count(second, "cubed") == 1
        assert await count(second, "squared") == 0
        first.files_changed([work / "shapes.py"])
        assert await count(first, "cubed") == 1
        await first.close()
        write(work, {"later.py": "def written_later():\n    pass\n"})
        await until_found(second, "written_later")
        assert await count(second, "cubed") == 1


async def test_a_second_server_before_the_first_has_begun(work: Path, cache: Path) -> None:
    one, other = (IndexClient([work], cache, all_may) for _ in range(2))
    await asyncio.gather(one.start(), other.start())
    try:
        await asyncio.gather(one.settle(AT_ONCE), other.settle(AT_ONCE))
        for client in (one, other):
            await until_found(client, "squared")
    finally:
        await asyncio.gather(one.close(), other.close())


async def test_rebuild(work: Path, cache: Path) -> None:
    async with indexed(work, cache) as client:
        marker = workspace_cache(cache, [work]) / "left by an older one"
        marker.write_text("")
        await client.rebuild()
        await client.settle(AT_ONCE)
        assert not marker.exists()
        assert await count(client, "squared") == 1


async def test_a_second_start_reads_nothing_again(work: Path, cache: Path) -> None:
    async with indexed(work, cache):
        pass
    times = {path: path.stat().st_mtime_ns for path in workspace_cache(cache, [work]).rglob("*.term")}
    async with indexed(work, cache) as client:
        assert await count(client, "squared") == 1
    assert times == {path: path.stat().st_mtime_ns for path in workspace_cache(cache, [work]).rglob("*.term")}
