"""The programs for tests of the VS Code extension: a VS Code for browsers, a browser, and the packed extension.

A push runs them in the oldest VS Code that the extension supports, an exhaustive run in the newest, except the tests in
the extension host.
Missing programs are installed once from npm into the user's cache folder. If that fails, the tests are skipped.
"""

import functools
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests import exhaustive
from tests.editors.availability import skip
from tests.npm import CACHE, NPM, alone, environment, install, need

EXTENSION = Path(__file__).parents[3] / "editors" / "vscode"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True)
class Version:
    """`number`: of code-server. 4.100.3 has VS Code 1.100.3, and so on. `node`: what it needs, None for Node 20."""

    number: str
    node: str | None = None

    @property
    def folder(self) -> Path:
        return CACHE / f"code-server-{self.number}"

    @property
    def code(self) -> Path:
        return self.folder / "node_modules" / "code-server" / "lib" / "vscode"


OLDEST = Version("4.100.3")
NEWEST = Version("4.139.1", node="24")


def version_of_run() -> Version:
    return NEWEST if exhaustive.is_exhaustive() else OLDEST


@functools.cache
def workbench(version: Version) -> tuple[str, str]:
    """The server of VS Code: Node, and its script."""
    need("node", "npm", "rg")
    done = version.folder / "installed"
    with alone(version.folder):
        if not done.exists():
            (version.folder / "package.json").write_text('{"private": true}\n')
            own = [] if version.node is None else [f"node-{_platform()}@{version.node}"]
            install([*NPM, f"code-server@{version.number}", *own], version.folder)
            install([*NPM, "--omit=dev"], version.code)
            modules = version.code / "node_modules"
            # The web client looks for its modules here, and the search for ripgrep, whose package has only sources.
            _link(version.code / "node_modules.asar", modules)
            _link(modules / "@vscode" / "ripgrep" / "bin" / "rg", Path(shutil.which("rg") or ""))
            done.touch()
    own_node = version.folder / "node_modules" / ".bin" / "node"
    node = (shutil.which("node") or "node") if version.node is None else str(own_node)
    return node, str(version.code / "out" / "server-main.js")


def _platform() -> str:
    """As in the names of npm's packages of Node, for example linux-x64."""
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return f"{sys.platform}-{machine}"


@functools.cache
def browser() -> Path:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        skip("Chromium is not installed")
    return Path(found)


@functools.cache
def packed() -> Path:
    """The extension as users install it. Packed again if its sources are newer; fails if they do not compile."""
    need("node", "npm")
    argv = [sys.executable, str(EXTENSION / "pack.py")]
    done = subprocess.run(argv, cwd=EXTENSION, capture_output=True, text=True, check=False, env=environment())
    assert done.returncode == 0, done.stderr or done.stdout
    return Path(done.stdout.strip())


def _link(path: Path, target: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(target)
