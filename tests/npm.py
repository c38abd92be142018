"""Programs of npm for tests, installed once into the user's cache folder. If that fails, the tests are skipped."""

import fcntl
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import platformdirs

from tests.editors.availability import skip

CACHE = platformdirs.user_cache_path("tark-tests", appauthor=False)
NPM = ("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error")


def installed(*packages: str) -> Path:
    """The `node_modules` with these packages, each with its version, such as `jest@29`."""
    need("node", "npm")
    folder = CACHE / re.sub(r"[@/]", "_", "-".join(sorted(packages)))
    done = folder / "installed"
    with alone(folder):
        if not done.exists():
            (folder / "package.json").write_text('{"private": true}\n')
            install([*NPM, *packages], folder)
            done.touch()
    return folder / "node_modules"


def need(*programs: str) -> None:
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        skip(f"not installed: {', '.join(missing)}")


def install(argv: Sequence[str], folder: Path) -> None:
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False, env=environment())
    if done.returncode:
        skip(f"{' '.join(argv)} failed in {folder}: {(done.stderr or done.stdout)[-1000:]}")


def environment() -> dict[str, str]:
    """The environment without the variables of an npm that runs the tests."""
    return {name: value for name, value in os.environ.items() if not name.startswith("npm_")}


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Let one of several test processes install."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
