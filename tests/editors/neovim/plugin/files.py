"""A file of ten lines in a real Neovim. The model (files.toml) proposes to change two."""

from pathlib import Path

from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.pictures import changes

SCENARIO = Path(__file__).with_name("files.toml")
TEXT = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n"
CHANGED = TEXT.replace("two\n", "TWO\nTWO2\n").replace("nine", "NINE")
BEGIN = """
    local path, prompt = ...
    vim.cmd('silent! %bwipeout! | messages clear')
    vim.cmd.edit(vim.fn.fnameescape(path))
"""
ATTACHED = "local client = vim.lsp.get_clients({ bufnr = 0, name = 'tark' })[1]; return client and client.initialized"
UNENDED = """
    local found = require('tark.state').unended_turns(require('tark.state').all()[1])
    return #found.running + #found.queued
"""


def edit(neovim: Neovim, path: Path) -> None:
    """Shows only this file, and waits until the server knows it."""
    neovim.live_on()
    neovim.lua(BEGIN, str(path))
    attached(neovim)


def attached(neovim: Neovim) -> None:
    neovim.until(lambda: neovim.lua(ATTACHED), "the language server attached")


def ask(neovim: Neovim, name: str) -> None:
    """Asks for both changes, and waits until they are drawn."""
    neovim.lua("require('tark').agent({ prompt = ('upper %s now'):format(...) })", name)
    neovim.until(lambda: len(changes(neovim)) == 5, "both changes are drawn")


def idle(neovim: Neovim) -> None:
    neovim.until(lambda: neovim.lua(UNENDED) == 0, "every turn has ended")
