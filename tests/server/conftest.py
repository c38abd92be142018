"""What tests of the whole server in this process get: `make`, which makes a desk as a test wants it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.desk import Desk, MakeDesk


@pytest.fixture
async def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[MakeDesk]:
    desks = []

    def made(*paths: str, **more: Any) -> Desk:
        desks.append(Desk(tmp_path, monkeypatch, *paths, **more))
        return desks[-1]

    yield made
    for desk in desks:
        await desk.stop()
