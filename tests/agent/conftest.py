"""A bench in a temporary folder."""

from pathlib import Path

import pytest

from tests.agent.bench import Bench
from tests.agent.tight import tight_bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    root = (tmp_path / "project").resolve()
    root.mkdir()
    return Bench(root)


@pytest.fixture
def tight(bench: Bench) -> Bench:
    return tight_bench(bench)
