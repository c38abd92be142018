"""Fixtures for the tests of sessions."""

from pathlib import Path

import pytest

from tests.sessions.stores import Stores


@pytest.fixture
def stores(tmp_path: Path) -> Stores:
    return Stores(tmp_path)
