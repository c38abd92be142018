"""Packs the extension for VS Code, and adds it to the wheel and the sdist. A build hook of hatch, and a script.

`python editors/vscode/pack.py` builds dist/tark.vsix and prints its path. It does nothing if the file is newer than its
sources. Both need npm (Node.js 20). Without npm, a wheel is built without the extension, with a warning. A wheel
that is built from an sdist contains the extension of the sdist.

The extension contains the server as a wheel without the extension, so that Install Server installs this version.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hatchling.builders.constants import BuildEnvVars
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.builders.wheel import WheelBuilder

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
VSIX = FOLDER / "dist" / "tark.vsix"
SERVER = FOLDER / "server"
MADE_OF = (
    *(FOLDER / name for name in ("src", "media", "walkthrough", "package.json", "tsconfig.json", "README.md")),
    *(FOLDER / name for name in ("package-lock.json", "esbuild.mjs", "notices.mjs", ".vscodeignore")),
    *(ROOT / name for name in ("tark_lsp", "editors/neovim", "pyproject.toml", "README.md", "LICENSE")),
)
INSTALL = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
INSTALLED = FOLDER / "node_modules" / ".installed"
"""The marker of .ci/run: newer than the lock file if the packages are installed."""
SECONDS = 600


class NotPackedError(Exception):
    pass


class BuildHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":  # a checkout, which has the script
            return
        try:
            path = packed()
        except NotPackedError as error:
            self.app.display_warning(f"built without the extension for VS Code: {error}")
            return
        place = "editors/vscode/dist" if self.target_name == "sdist" else "tark_lsp/plugins/vscode"
        build_data["force_include"][str(path)] = f"{place}/{path.name}"


def packed() -> Path:
    """Return the path of the .vsix, which is built first if needed. Raises NotPackedError."""
    with _alone():
        if not _is_new():
            npm = shutil.which("npm")
            if npm is None:
                raise NotPackedError("npm is not in PATH; install Node.js 20 or newer")
            if not INSTALLED.is_file() or _time(INSTALLED) < _time(FOLDER / "package-lock.json"):
                _run(npm, *INSTALL)
                INSTALLED.touch()
            began = time.time()
            _build_server()
            _run(npm, "run", "--silent", "package")
            os.utime(VSIX, (began, began))  # files changed meanwhile count as newer
    return VSIX


def _is_new() -> bool:
    if not VSIX.is_file():
        return False
    from_sdist = (ROOT / "PKG-INFO").is_file()  # unpacking can have changed all timestamps
    paths = (path for item in MADE_OF for path in (item, *item.rglob("*")) if path.suffix != ".pyc")
    return from_sdist or _time(VSIX) >= max(_time(path) for path in paths if path.is_file())


def _build_server() -> None:
    """Build the wheel in SERVER, without this hook. Raises NotPackedError."""
    shutil.rmtree(SERVER, ignore_errors=True)
    before = os.environ.get(BuildEnvVars.NO_HOOKS)
    os.environ[BuildEnvVars.NO_HOOKS] = "true"
    try:
        for _ in WheelBuilder(str(ROOT)).build(directory=str(SERVER), versions=["standard"]):
            pass
    except Exception as error:  # builders raise any exception
        raise NotPackedError(f"the server's own wheel could not be built: {error}") from error
    finally:
        os.environ.pop(BuildEnvVars.NO_HOOKS)
        if before is not None:
            os.environ[BuildEnvVars.NO_HOOKS] = before


def _time(path: Path) -> float:
    return path.stat().st_mtime


@contextmanager
def _alone() -> Iterator[None]:
    """Let one process pack while others wait. On Windows there is no lock: do not pack in parallel."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    (FOLDER / "out").mkdir(exist_ok=True)
    with (FOLDER / "out" / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _run(*command: str) -> None:
    """Raises NotPackedError with the last lines of the output."""
    try:
        done = subprocess.run(
            command,
            cwd=FOLDER,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotPackedError(str(error)) from error
    if done.returncode:
        said = "\n".join(done.stdout.strip().splitlines()[-10:])
        raise NotPackedError(f"`{Path(command[0]).stem} {' '.join(command[1:])}` failed:\n{said}")


if __name__ == "__main__":
    try:
        print(packed())
    except NotPackedError as error:
        sys.exit(f"not packed: {error}")
