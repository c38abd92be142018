"""Neovim and the server on a busy machine: paused at random while turns are accepted, typed into and undone."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.conftest import INIT, sharing
from tests.editors.neovim.plugin.rest import clear
from tests.editors.neovim.plugin.test_commands import SCENARIO, area_and_volume, open_files
from tests.editors.neovim.plugin.turns import told
from tests.editors.pauses import paused_at_random
from tests.exhaustive import seeds

pytestmark = [pytest.mark.editor, pytest.mark.exhaustive]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Neovim, Path]]:
    yield from sharing(tmp_path_factory.mktemp("busy"), SCENARIO, INIT)


@pytest.fixture
def neovim(resting: tuple[Neovim, Path]) -> Neovim:
    clear(resting[0])
    return open_files(*resting)


@pytest.mark.parametrize("longest", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("seed", seeds(1))
def test_what_is_accepted_is_never_taken_for_typing(neovim: Neovim, seed: int, longest: float) -> None:
    """Neovim reports an edit of the last line in two parts, the second one by a timer."""
    with paused_at_random(neovim.processes(), longest, Random(seed)):
        area_and_volume(neovim)
        neovim.keys("ggOtyped<Esc>:TarkUndo<CR>")
        told(neovim, 'took back "rewrite the volume in shapes.py" in shapes.py')
        neovim.until(lambda: "math.pi" in neovim.lines[9] and "tau" in neovim.lines[5], "the last turn is taken back")
    assert neovim.lines[0] == "typed"
