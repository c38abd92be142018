"""`:checkhealth tark`: green if all is well, and each problem with what to do about it."""

import re
import sys
from pathlib import Path

import pytest

from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.conftest import Start
from tests.editors.neovim.plugin.test_server import FAKE, write_init

pytestmark = pytest.mark.editor


def check(neovim: Neovim) -> str:
    neovim.lua("vim.cmd('checkhealth tark')")
    return "\n".join(neovim.lines)


def marked(report: str, mark: str) -> list[str]:
    return re.findall(rf"^- \S+ {mark} (.*)", report, re.MULTILINE)


def test_all_is_well(start: Start, workspace: Path) -> None:
    (workspace / "a.py").write_text("a = 1\n")
    neovim = start()
    report = check(neovim)
    assert "no server runs yet: it starts with the first file or command" in report
    neovim.lua("vim.cmd.bwipeout()")
    neovim.open(workspace / "a.py")
    report = check(neovim)
    assert marked(report, "ERROR") == []
    assert marked(report, "WARNING") == []
    good = "\n".join(marked(report, "OK"))
    for words in (
        "Neovim 0.1",
        f"`{sys.executable} -m tark_lsp` (setup), version 0.1.0, the same as this plugin",
        "search: ",
        "treesitter parser for Markdown",
        f"tark-lsp 0.1.0 for {workspace} is running, positions in utf-8",
        "model: scripted/editors, mode build, approval careful",
    ):
        assert words in good
    assert "no experimental" not in report, "the plugin understands all of it"


def test_no_program(start: Start, tmp_path: Path) -> None:
    neovim = start(init=write_init(tmp_path, ["/nowhere/tark-lsp"]))
    (problem,) = marked(check(neovim), "ERROR")
    assert problem == "cmd of require('tark').setup is /nowhere/tark-lsp, which is not a program that can be run"


def test_another_program(start: Start, workspace: Path) -> None:
    """A wrong program, one of another version, one that has ended, two plugins."""
    (workspace / "a.py").write_text("a = 1\n")
    neovim = start()
    cmd = [sys.executable, str(FAKE), "2"]
    neovim.lua("require('tark').setup({ cmd = ... })", cmd)
    neovim.open(workspace / "a.py")
    wrong, other = marked(check(neovim), "ERROR")
    assert f"`{' '.join(cmd)}` (setup) is not a tark-lsp: `--version` prints:" in wrong
    assert other == f"fake-server 9.9 for {workspace} speaks protocol 2, this plugin 1"
    neovim.lua("vim.cmd.bwipeout() vim.lsp.stop_client(vim.lsp.get_clients())")
    neovim.until(lambda: not neovim.lua("return require('tark.state').all()[1].alive"), "it ended")
    assert f"the server for {workspace} has ended" in marked(check(neovim), "WARNING")


def test_another_version(start: Start, tmp_path: Path) -> None:
    """Only one of plugin and server is up to date; and the user has an lsp/tark.lua, too."""
    program = tmp_path / "tark-lsp"
    program.write_text("#!/bin/sh\necho tark-lsp 0.0.9\n")
    program.chmod(0o755)
    more = tmp_path / "more"
    (more / "lua" / "tark").mkdir(parents=True)
    note = f"return {{ cmd = {{ '{program}' }}, version = '0.0.9' }}\n"
    (more / "lua" / "tark" / "installed.lua").write_text(note)
    (more / "lsp").mkdir()
    (more / "lsp" / "tark.lua").write_text("return {}\n")
    neovim = start(init=write_init(tmp_path, None, f"vim.opt.runtimepath:append('{more}')"))
    report = check(neovim)
    warnings = "\n".join(marked(report, "WARNING"))
    assert f"`{program}` (installed) has version 0.0.9, this plugin 0.1.0" in warnings
    assert "more than one lsp/tark.lua" in warnings
    assert "tark-lsp install neovim" in report
    program.unlink()
    neovim.lua("vim.cmd.bwipeout()")
    warnings = "\n".join(marked(check(neovim), "WARNING"))
    assert f"the tark-lsp that installed the plugin does not exist any more: {program}" in warnings
