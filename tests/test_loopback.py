"""The tests' own server: it loses no socket, whenever a client comes."""

import asyncio
import gc
import socket

import pytest

from tests.loopback import Loopback


@pytest.mark.parametrize("rounds", range(6))
def test_closed_so_many_rounds_of_the_loop_after_a_client_came(rounds: int, recwarn: pytest.WarningsRecorder) -> None:
    async def come_and_close() -> None:
        async with Loopback([]) as server:
            client = socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2])))
            for _ in range(rounds):
                await asyncio.sleep(0)
        client.close()

    asyncio.run(come_and_close())
    gc.collect()
    assert [str(warning.message) for warning in recwarn] == []
