"""The programs that tests of the VS Code extension need: a VS Code for browsers, a browser, and the extension, packed.

What is not there is installed from npm into the person's cache folder, once, or the tests are skipped with the reason.
"""

import fcntl
import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import platformdirs

from tests.editors.availability import skip

EXTENSION = Path(__file__).parents[3] / "editors" / "vscode"
VERSION = "4.100.3"
"""Of code-server: VS Code 1.100.3, which runs on Node 20."""
CACHE = platformdirs.user_cache_path("tark-tests", appauthor=False) / f"code-server-{VERSION}"
CODE = CACHE / "node_modules" / "code-server" / "lib" / "vscode"
NPM = ("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@functools.cache
def workbench() -> Path:
    """The server of a VS Code 1.100, a script for Node."""
    _needed("node", "npm", "rg")
    done = CACHE / "installed"
    with _alone(CACHE):
        if not done.exists():
            (CACHE / "package.json").write_text('{"private": true}\n')
            _install([*NPM, f"code-server@{VERSION}"], CACHE)
            _install([*NPM, "--omit=dev"], CODE)
            modules = CODE / "node_modules"
            # Where the web client looks for its modules, and the search for ripgrep, of which only the source came.
            _link(CODE / "node_modules.asar", modules)
            _link(modules / "@vscode" / "ripgrep" / "bin" / "rg", Path(shutil.which("rg") or ""))
            done.touch()
    return CODE / "out" / "server-main.js"


@functools.cache
def browser() -> Path:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        skip("there is no Chromium")
    return Path(found)


@functools.cache
def packed() -> Path:
    """The extension as people install it, packed anew where its sources are newer. That fails where they are wrong."""
    _needed("node", "npm")
    argv = [sys.executable, str(EXTENSION / "pack.py")]
    done = subprocess.run(argv, cwd=EXTENSION, capture_output=True, text=True, check=False, env=_environment())
    assert done.returncode == 0, done.stderr or done.stdout
    return Path(done.stdout.strip())


def _needed(*programs: str) -> None:
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        skip(f"there is no {' and no '.join(missing)}")


def _link(path: Path, target: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def _install(argv: Sequence[str], folder: Path) -> None:
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False, env=_environment())
    if done.returncode:
        skip(f"{' '.join(argv)} failed in {folder}: {(done.stderr or done.stdout)[-1000:]}")


def _environment() -> dict[str, str]:
    """Without what the npm that runs the tests, if one does, has set for itself."""
    return {name: value for name, value in os.environ.items() if not name.startswith("npm_")}


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Tests run in several processes, and one of them installs."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
