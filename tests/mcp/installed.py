"""Real MCP servers and the conformance suite, installed once from npm and PyPI into the user's cache folder.

If that fails, the tests are skipped.
"""

import fcntl
import functools
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import platformdirs

from tests.editors.availability import skip

CACHE = platformdirs.user_cache_path("tark-tests", appauthor=False)
NPM = ("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error")
CONFORMANCE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
NODE_SERVERS = tuple(
    f"@modelcontextprotocol/server-{name}@2026.8.31" for name in ("everything", "filesystem", "memory")
)
PYTHON_SERVERS = ("mcp-server-git==2026.10.19", "mcp-server-time==2026.10.19", "mcp-server-fetch==2026.10.24")


@functools.cache
def conformance() -> tuple[str, str]:
    """Node, in the version that the suite needs, and its script."""
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    node = f"node-{sys.platform}-{machine}"
    folder = _npm("mcp-conformance", (CONFORMANCE, f"{node}@24"))
    script = folder / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    return str(folder / "node_modules" / node / "bin" / "node"), str(script)


@functools.cache
def node_servers() -> Path:
    """The folder with their programs."""
    return _npm("mcp-servers", NODE_SERVERS) / "node_modules" / ".bin"


@functools.cache
def python_servers() -> Path:
    """The folder with their programs."""
    folder = CACHE / "mcp-python"
    uv = shutil.which("uv") or skip("uv is not installed")
    python = str(folder / "bin" / "python")
    _once(
        folder,
        [
            [uv, "venv", "-q", "--allow-existing", str(folder)],
            [uv, "pip", "install", "-q", "--python", python, *PYTHON_SERVERS],
        ],
    )
    return folder / "bin"


def _npm(name: str, packages: Sequence[str]) -> Path:
    folder = CACHE / name
    if shutil.which("npm") is None:
        skip("npm is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"private": true}\n')
    _once(folder, [[*NPM, *packages]])
    return folder


def _once(folder: Path, commands: Sequence[Sequence[str]]) -> None:
    """One of several test processes installs."""
    folder.mkdir(parents=True, exist_ok=True)
    done = folder / "installed"
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if done.exists():
            return
        environ = {name: value for name, value in os.environ.items() if not name.startswith("npm_")}
        for command in commands:
            ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environ)
            if ran.returncode:
                skip(f"{' '.join(command)} failed: {(ran.stderr or ran.stdout)[-1000:]}")
        done.touch()
