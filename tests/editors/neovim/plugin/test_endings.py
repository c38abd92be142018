"""What a turn ends with is seen: in the chat, or if its end is not on the screen, in a message."""

from pathlib import Path

import pytest

from tests.editors.neovim.plugin.chat import Chat, open_shapes
from tests.editors.neovim.plugin.conftest import Start
from tests.editors.neovim.plugin.turns import told

pytestmark = pytest.mark.editor


def test_what_nobody_sees_is_told(start: Start, workspace: Path) -> None:
    neovim = open_shapes(start, workspace)
    neovim.keys(":TarkEdit fail<CR>")
    told(neovim, "no such model")
    neovim.keys(":messages clear<CR>:TarkEdit say nothing<CR>")
    told(neovim, "answered without a change (:TarkChat)")
    neovim.keys(":messages clear<CR>")
    chat = Chat(neovim)
    chat.open()
    chat.say("say all")
    chat.until_shown("The word is all.")
    neovim.until(lambda: len(chat.endings) == 2, "all is drawn")
    assert "without a change" not in neovim.messages()


def test_a_failure_below_what_is_shown_is_told(chat: Chat) -> None:
    neovim = chat.neovim
    neovim.lua("vim.o.lines = 20")
    chat.open()
    chat.say("count to sixty")
    chat.until_over()
    transcript = chat.window("transcript")["window"]
    to_the_top = f"vim.api.nvim_win_set_cursor({transcript}, {{ 1, 0 }})"
    end = f"return vim.fn.line('w$', {transcript}) == vim.fn.line('$', {transcript})"
    neovim.lua(to_the_top)
    neovim.until(lambda: not neovim.lua(end), "scrolled up")
    neovim.keys("<Esc><C-w>t:TarkAsk look and fail<CR>")
    chat.until_shown("look and fail")
    neovim.until(lambda: neovim.lua(end), "what is sent scrolls the chat to its end")
    neovim.lua(to_the_top)
    told(neovim, "no such model")
    assert not neovim.lua(end), "the view stays"

    neovim.keys(":messages clear<CR>:TarkAsk fail<CR>")
    neovim.until(lambda: any("no such model" in line for line in chat.answer), "its error")
    neovim.until(lambda: neovim.lua(end), "it is at the end")
    assert "no such model" not in neovim.messages(), "it is shown in the chat"
