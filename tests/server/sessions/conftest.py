"""What tests of sessions get: `desk`, and `another`, which makes further servers on the same home and ends them."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.server.desk import Desk

Another = Callable[..., Desk]


@pytest.fixture
async def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path, monkeypatch)
    yield desk
    await desk.stop()


@pytest.fixture
async def another(desk: Desk) -> AsyncIterator[Another]:
    made = []

    def make(folder: Path | None = None) -> Desk:
        made.append(desk.another(folder))
        return made[-1]

    yield make
    for item in made:
        await item.stop()
