"""Shared by the tests of MCP."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.mcp.servers import Desk


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    await desk.servers.aclose()


Approve = Callable[..., object]
