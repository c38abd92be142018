"""Links from the chat to code in a real Neovim: only to existing files in the workspace."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.chat import SHAPES, Chat
from tests.editors.neovim.plugin.turns import told, unhurt

pytestmark = pytest.mark.editor


def at(neovim: Neovim) -> tuple[str, int]:
    """The file name and line of the cursor."""
    name, line = neovim.lua("return { vim.fn.expand('%:t'), vim.fn.line('.') }")
    return name, line


@pytest.fixture
def no_browser(chat: Chat) -> Iterator[None]:
    """What would be opened outside of Neovim."""
    chat.neovim.lua("_G.former_open = vim.ui.open; vim.g.opened = {}")
    chat.neovim.lua("vim.ui.open = function(url) vim.g.opened = { url } end")
    yield
    chat.neovim.lua("vim.ui.open = _G.former_open")


@pytest.mark.usefixtures("no_browser")
def test_to_the_code(chat: Chat, chatting: tuple[Neovim, Path]) -> None:
    neovim, workspace = chatting
    (workspace.parent / "secret.txt").write_text("secret\n")
    chat.open()
    chat.say("where is the area")
    chat.until_over()
    transcript = chat.window("transcript")["window"]

    def go(keys: str) -> None:
        neovim.lua("vim.api.nvim_set_current_win(...)", transcript)
        neovim.keys("<Esc>gg" + keys)

    go("/^\\[shapes.py<CR>fs<CR>")
    neovim.until(lambda: at(neovim) == ("shapes.py", 4), "the citation")
    marked = """
        local namespace = vim.api.nvim_create_namespace('tark_links')
        return #vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, {})
    """
    assert neovim.lua(marked) > 0, "its lines are marked for a moment"
    neovim.until(lambda: neovim.lua(marked) == 0, "and not for longer")
    go("/see shapes<CR>wgf")
    neovim.until(lambda: at(neovim) == ("shapes.py", 8), "a plain reference")
    neovim.keys("gg<C-o>")
    neovim.until(lambda: at(neovim) == ("shapes.py", 8), "the jump list knows the way")
    go("/read_file<CR>gf")
    neovim.until(lambda: at(neovim)[0] == "shapes.py", "the place of a call")
    for keys, what in (
        ("/missing<CR>gf", "missing.py is not a file in the workspace"),
        ("/secret<CR>gf", "../secret.txt is not a file in the workspace"),
        ("/I look<CR>gf", "no file is named here"),
        ("/I look<CR>gx", "no web page is named here"),
    ):
        go(keys)
        told(neovim, what)
        assert at(neovim)[0] == "transcript"
    go("/https<CR>gx")
    neovim.until(lambda: neovim.lua("return vim.g.opened") == ["https://example.org/shapes"], "the page")
    assert neovim.lua("return #vim.api.nvim_list_wins()") == 3
    # If no window shows a file, one is created.
    neovim.lua("vim.api.nvim_set_current_win(...)", transcript)
    neovim.keys("<Esc><C-w>h:q<CR>")
    neovim.until(lambda: chat.parts() == ["transcript", "prompt"], "nothing but the chat")
    go("/see shapes<CR>w<CR>")
    neovim.until(lambda: at(neovim) == ("shapes.py", 8), "a window of its own")
    assert neovim.lines == SHAPES.splitlines()
    assert chat.parts() == ["shapes.py", "transcript", "prompt"]
    unhurt(neovim)
