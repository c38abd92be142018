"""A bench in a temporary folder."""

from pathlib import Path

import pytest

from tests.agent.bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    root = (tmp_path / "project").resolve()
    root.mkdir()
    return Bench(root)
