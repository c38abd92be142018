"""Questions in the plugin: answered by number, by line or by text. Written text is never lost."""

from pathlib import Path

import pytest

from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.conftest import Start
from tests.editors.neovim.plugin.waiting import CANCEL, asks, begin, end, go, gone, mode, opened, said, shown, waiting

pytestmark = pytest.mark.editor

TITLE = """
    local config = vim.api.nvim_win_get_config(0)
    return config.title and config.title[1][1] or ''
"""


def writing(neovim: Neovim) -> None:
    """Waits until the user is in the window for the answer."""
    there = "the place to write"
    neovim.until(lambda: neovim.lua(TITLE) == " Your answer " and mode(neovim) == "i", there)


def test_one_of_several(neovim: Neovim) -> None:
    neovim.lua("""
        vim.g.heard = {}
        vim.api.nvim_create_autocmd('User', { pattern = 'TarkPermission', callback = function(event)
          local kinds = vim.tbl_map(function(request) return request.kind end, event.data.waiting)
          vim.g.heard = vim.list_extend(vim.g.heard, { table.concat(kinds) })
        end })
    """)
    begun = begin(neovim, "ask for one colour")
    there = asks(neovim, "> Which colour?")
    assert neovim.lua("return vim.g.heard")[-1] == "input", "scripts of one's own hear of it"
    assert not there.focused
    assert there.lines[2:5] == [" 1 red", " 2 green", " 3 blue"]
    go(neovim)
    neovim.keys("2")
    assert said(end(neovim, begun)) == "Chosen: green"
    gone(neovim)

    begun = begin(neovim, "ask for one colour")
    asks(neovim, "Which colour?")
    go(neovim)
    neovim.keys("<CR>")  # on the question: nothing is answered by accident
    neovim.until(lambda: "go to the line of an answer" in neovim.messages(), "what to do is said")
    neovim.keys("5G<CR>")
    assert said(end(neovim, begun)) == "Chosen: blue"

    begun = begin(neovim, "ask for one colour")
    asks(neovim, "Which colour?")
    go(neovim)
    neovim.keys("d")
    assert said(end(neovim, begun)) == "No answer, then."


def test_several_of_several(neovim: Neovim) -> None:
    begun = begin(neovim, "ask for some colours")
    asks(neovim, " 1 [ ] red")
    go(neovim)
    neovim.keys("132")
    asks(neovim, " 2 [x] green")
    neovim.keys("4G<Space>")
    asks(neovim, " 2 [ ] green")
    neovim.keys("<CR>")
    assert said(end(neovim, begun)) == "Chosen: red, blue"


def test_words_of_their_own(neovim: Neovim) -> None:
    begun = begin(neovim, "ask for words")
    asks(neovim, "> In your own words.")
    neovim.keys(":TarkPermission<CR>")
    writing(neovim)
    neovim.keys("a long<Esc>q")
    neovim.until(lambda: getattr(shown(neovim), "focused", False), "back at the question")
    neovim.keys("q")
    neovim.until(lambda: neovim.lines[0] == "one = 1", "left waiting")
    assert waiting(neovim) == 1
    neovim.keys(":TarkPermission<CR>")
    writing(neovim)
    neovim.keys(" name<CR>of two lines<C-s>")
    assert said(end(neovim, begun)) == "Answer: a long name\nof two lines"
    gone(neovim)
    assert mode(neovim) == "n"
    assert neovim.lines[0] == "one = 1"

    # Also where there are options.
    begun = begin(neovim, "ask for one colour")
    asks(neovim, "Which colour?")
    go(neovim)
    neovim.keys("i")
    writing(neovim)
    neovim.keys("<Esc><CR>")
    neovim.until(lambda: "nothing to send yet" in neovim.messages(), "nothing is no answer")
    neovim.keys("amauve<Esc><CR>")
    assert said(end(neovim, begun)) == "Answer: mauve"


def test_what_was_written_is_kept_when_nobody_asks_any_more(neovim: Neovim) -> None:
    begun = begin(neovim, "ask for words")
    asks(neovim, "What is it called?")
    neovim.keys(":TarkPermission<CR>")
    writing(neovim)
    neovim.keys("half a")
    neovim.lua(CANCEL)
    assert end(neovim, begun)["stopReason"] == "cancelled"
    gone(neovim)
    assert mode(neovim) == "i", "not closed under the person's hands"
    neovim.keys(" name<Esc>q")
    neovim.until(lambda: neovim.lines[0] == "one = 1", "closed")
    assert "your text is kept (:buffer tark://kept)" in neovim.messages()
    assert neovim.lua("return vim.fn.histget('input')") == "half a name", "there when Neovim has ended, too"

    # Also what was left there.
    begun = begin(neovim, "ask for words")
    asks(neovim, "What is it called?")
    neovim.keys(":TarkPermission<CR>")
    writing(neovim)
    neovim.keys("left<Esc>:wincmd p<CR>:wincmd t<CR>")
    neovim.until(lambda: neovim.lines[0] == "one = 1", "in the file")
    neovim.lua(CANCEL)
    end(neovim, begun)
    gone(neovim)
    neovim.until(lambda: neovim.lua("return vim.fn.histget('input')") == "left", "kept")
    assert len(neovim.windows) == 1
    neovim.keys(":buffer tark://kept<CR>")
    neovim.until(lambda: neovim.lines == ["half a name", "", "left"], "all that was kept")
    neovim.keys(":buffer #<CR>")


def test_the_float_of_a_dead_server_goes(start: Start, workspace: Path) -> None:
    neovim = opened(start, workspace)
    begin(neovim, "ask for one colour")
    asks(neovim, "Which colour?")
    go(neovim)
    neovim.server_process().kill()
    gone(neovim)
    assert neovim.lines[0] == "one = 1"
    live_again = "local client = require('tark.server.clients').for_buffer() return client and client.initialized"
    neovim.until(lambda: neovim.lua(live_again), "the server is started again")
    begun = begin(neovim, "ask for one colour")
    asks(neovim, "Which colour?")
    go(neovim)
    neovim.keys("1")
    assert said(end(neovim, begun)) == "Chosen: red"
