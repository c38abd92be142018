"""Text that the server does not accept: a late answer, drafts when it is killed, a prompt for a hunk."""

from pathlib import Path

import pytest

from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.conftest import Start
from tests.editors.neovim.plugin.test_hostile import WAITS
from tests.editors.neovim.plugin.test_input import writing
from tests.editors.neovim.plugin.waiting import mode, opened, waiting

pytestmark = pytest.mark.editor

HUNK = """
    local hunk = { hunkId = 'no such hunk', turnId = 'turn', state = 'pending', applied = false }
    hunk.oldText, hunk.newText = 'two = 2\\n', 'two = 22\\n'
    hunk.range = { start = { line = 1, character = 0 }, ['end'] = { line = 2, character = 0 } }
    local hunks = { uri = vim.uri_from_bufnr(0), version = vim.lsp.util.buf_versions[vim.fn.bufnr()], hunks = { hunk } }
    hunks.kind = 'hunks'
    local params = { sessionId = 'made up', turnId = 'turn', seq = 1, update = hunks }
    require('tark.state.updates').update_received(params, require('tark.server.clients').for_buffer().id)
"""
DRAWN = "local hunks = require('tark.review.drawing').of_buffer() return hunks ~= nil and #hunks:ordered() == 1"


def kept(neovim: Neovim) -> list[str]:
    return list(neovim.lua("return vim.fn.getbufline('tark://kept', 1, '$')"))


def test_words_that_are_not_taken_are_kept(start: Start, workspace: Path) -> None:
    neovim = opened(start, workspace)
    neovim.lua("vim.fn.setreg('t', 'a macro of the person')")
    # The server does not know this question, as if it was answered already.
    neovim.lua(WAITS, "one", "Why?")
    neovim.keys(":TarkPermission<CR>")
    writing(neovim)
    neovim.keys("an answer<CR>of two lines<C-s>")
    neovim.until(lambda: kept(neovim) == ["an answer", "of two lines"], "the answer")
    assert "your text is kept (:buffer tark://kept)" in neovim.messages()
    neovim.until(lambda: neovim.lua("return vim.bo.buftype") == "", "the file is current again")
    # Nor does it know this hunk.
    neovim.lua(HUNK)
    neovim.until(lambda: neovim.lua(DRAWN), "the hunk is drawn")
    neovim.keys("<Esc>2G:lua require('tark').hunk_regenerate()<CR>")
    neovim.until(lambda: mode(neovim) == "c", "it asks")
    neovim.keys("otherwise<CR>")
    neovim.until(lambda: kept(neovim)[2:] == ["", "otherwise"], "what should be otherwise")
    # Two drafts when the server is killed, and a prompt for the hunk.
    for name in ("two", "three"):
        neovim.lua(WAITS, name, f"Why {name}?")
        neovim.lua("require('tark.waiting.float').focus(...)", name)
        writing(neovim)
        neovim.keys(f"draft {name}<Esc>q")
        neovim.until(lambda: mode(neovim) == "n", "it is left")
    assert waiting(neovim) == 2
    neovim.lua("vim.cmd('wincmd t')")
    neovim.keys("2G:lua require('tark').hunk_regenerate()<CR>")
    neovim.until(lambda: mode(neovim) == "c", "it asks")
    neovim.server_process().kill()
    neovim.until(lambda: waiting(neovim) == 0, "nothing waits")
    neovim.keys("and again<CR>")
    neovim.until(lambda: len(kept(neovim)) >= 10, "all of it")
    assert {"draft two", "draft three", "and again"} <= set(kept(neovim))
    assert neovim.lua("return vim.fn.getreg('t')") == "a macro of the person"
