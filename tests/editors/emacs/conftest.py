"""What tests of real Emacs get: `emacs`, the binary, with eglot and the recipe of README.md."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.editors.availability import skip

APT = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
INSTALL = (
    ("apt-get", "update"),
    ("apt-get", "install", "-y", "--no-install-recommends", "emacs-nox", "elpa-eglot"),
)
README = Path(__file__).parents[3] / "README.md"
HAS_EGLOT = ("emacs", "--batch", "--eval", "(progn (package-initialize) (require 'eglot))")


@pytest.fixture(scope="session")
def emacs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The binary, with eglot; installed by apt-get where that may be done. What it compiles is shared (batch.el)."""
    if shutil.which("emacs") is None or subprocess.run(HAS_EGLOT, capture_output=True, check=False).returncode:
        if shutil.which("apt-get") is None or os.geteuid():
            skip("there is no Emacs with eglot, and only root can install one")
        for command in INSTALL:
            done = subprocess.run(command, env=APT, capture_output=True, text=True, check=False)
            if done.returncode:
                skip(f"{' '.join(command)} failed: {done.stderr.strip().splitlines()[-1:]}")
    recipe = tmp_path_factory.mktemp("recipe") / "init.el"
    (block,) = re.findall(r"^```elisp\n(.*?)^```$", README.read_text(), re.DOTALL | re.MULTILINE)
    recipe.write_text(block)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ELN_CACHE", str(tmp_path_factory.mktemp("eln")))
        patch.setenv("RECIPE", str(recipe))
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")  # has tark-lsp
        yield "emacs"
