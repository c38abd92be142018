"""`tark-lsp install vscode` into a real VS Code, which then starts the server that the extension came with.

The user has no settings and does not trust the folder.
"""

import shlex
from pathlib import Path

import psutil
import pytest

from tark_lsp import __version__
from tark_lsp.cli.installing.shipped import server_command
from tests.cli.terminal import environment, without_terminal
from tests.editors.vscode.windows import Begin
from tests.editors.vscode.workbench import Workbench, until


@pytest.fixture(scope="module")
def bench(begin: Begin) -> Workbench:
    settings = {"security.workspace.trust.startupPrompt": "never"}
    bench = begin(Path(__file__).with_name("host.toml"), machine={}, settings=settings, trusting=False)
    (bench.workspace / "numbers.txt").write_text("one\ntwo\n")
    return bench


def install(bench: Workbench, *arguments: str) -> tuple[int, str]:
    programs = bench.home / "bin"
    programs.mkdir(exist_ok=True)
    (programs / "code-server").write_text(f'#!/bin/sh\nexec {shlex.join(bench.program)} "$@"\n')
    (programs / "code-server").chmod(0o755)
    done = without_terminal(
        ["install", "vscode", *arguments], bench.workspace, environment(bench.home, PATH=str(programs)), fresh=True
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_it_is_installed_and_starts_the_server_it_came_with(bench: Workbench) -> None:
    code, out = install(bench)  # replaces the one that every workbench has
    assert (code, f"installed  Tark {__version__} for code-server: " in out) == (0, True), out
    bench.open()
    bench.open_file("numbers.txt")
    until(bench.processes, "the server")
    running = [psutil.Process(process).cmdline() for process in bench.processes()]
    assert running == [server_command()]
    bench.run("Tark: Doctor")
    page = bench.frame_with("a.button")
    page.get_by_text("the tark-lsp that installed the extension").first.wait_for()
    page.get_by_text("not trusted: only your user settings apply, and no commands run").first.wait_for()


def test_in_a_workspace_that_is_not_trusted_nothing_of_it_is_run(bench: Workbench) -> None:
    bench.run("Tark: Run Agent")
    bench.answer("make made.txt")
    bench.chat().locator(".answer").filter(has_text="It is not run.").wait_for()
    assert not (bench.workspace / "made.txt").exists()


def test_it_is_removed(bench: Workbench) -> None:
    assert install(bench, "--uninstall")[0] == 0
    code, out = install(bench, "--uninstall")
    assert (code, "is not installed" in out) == (1, True), out
