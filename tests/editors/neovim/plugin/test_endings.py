"""If the chat is not on the screen, a message says when a turn has failed, or has changed nothing."""

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
