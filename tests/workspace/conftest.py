"""A workspace of one folder on disk, with an editor's documents in memory."""

from pathlib import Path

import pytest

from tark_lsp.workspace.files import Workspace
from tests.memory import MemoryBuffers


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path.resolve() / "project"
    path.mkdir()
    return path


@pytest.fixture
def buffers() -> MemoryBuffers:
    return MemoryBuffers()


@pytest.fixture
def workspace(folder: Path, buffers: MemoryBuffers) -> Workspace:
    return Workspace([folder], buffers)
