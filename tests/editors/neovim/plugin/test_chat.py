"""The chat in a real Neovim: its content, and that a reader's view stays while text arrives."""

from pathlib import Path
from typing import Any

import pytest

from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.chat import Chat, open_shapes
from tests.editors.neovim.plugin.conftest import Start
from tests.editors.neovim.plugin.turns import told, unhurt
from tests.editors.neovim.plugin.waiting import live

pytestmark = pytest.mark.editor


def view(neovim: Neovim) -> dict[str, Any]:
    """The line of the cursor, and the first visible line of the window."""
    return dict(neovim.lua("return vim.fn.winsaveview()"))


def length(neovim: Neovim) -> int:
    return int(neovim.lua("return vim.api.nvim_buf_line_count(require('tark.chat.buffers').transcript())"))


def test_a_turn_is_shown_with_what_it_took(chat: Chat) -> None:
    neovim = chat.neovim
    chat.open()
    assert chat.parts() == ["shapes.py", "transcript", "prompt"]
    chat.say("where is the area")
    chat.until_over()
    assert chat.answer[:7] == [
        "## Tark",
        "… thinking (2 lines)",
        "I look.",
        "✓ read_file shapes.py",
        "The area is here:",
        "[shapes.py:4-5](shapes.py#L4-L5)",
        "````python",
    ]
    assert chat.prompt == ""
    bar = chat.window("transcript")["bar"]
    assert "where is the area" in bar
    assert "scripted/editors · build" in bar
    neovim.keys("<C-w>k/thinking<CR>za")
    chat.until_shown("> First I look.")
    neovim.keys("/read_file<CR>zo")
    neovim.until(lambda: any(line.startswith("> ") and "radius" in line for line in chat.shown), "what was read")
    neovim.keys("zM")
    neovim.until(lambda: not any(line.startswith("> ") for line in chat.shown), "all is closed")
    neovim.keys("i")
    neovim.until(lambda: (chat.current, chat.mode) == ("prompt", "i"), "typing goes on in the prompt")
    neovim.keys("open a fence<C-s><Esc>")
    chat.until_over(2)
    assert chat.answer[1:5] == ["```python", "x = 1", "<!-- ## You", "```"]
    chat.say("fail")
    chat.until_shown("## You", "fail")
    refused = ("✗", "no such model")
    neovim.until(lambda: any(all(part in line for part in refused) for line in chat.answer), "the error")
    unhurt(neovim)


def test_a_reader_is_left_in_peace_and_who_is_at_the_end_follows(chat: Chat) -> None:
    neovim = chat.neovim
    chat.open()
    chat.say("count to sixty")
    chat.until_over()
    chat.say("talk for ever")
    chat.until_shown("This answer goes on.")
    # In another window, at the end.
    before = length(neovim)
    neovim.until(lambda: length(neovim) > before + 3, "more lines")
    last = chat.window("transcript")
    assert last["last"] >= before + 3, "the end is in view"
    # A reader in the window itself, then one who went back to the prompt.
    neovim.keys("<C-w>kgg20jzt5l")
    for keys in ("", "<C-w>j", "i"):
        neovim.keys(keys)
        code = "return vim.api.nvim_win_call(..., vim.fn.winsaveview)"
        window = chat.window("transcript")["window"]
        seen, before = neovim.lua(code, window), length(neovim)
        neovim.until(lambda before=before: length(neovim) > before + 3, "more lines")  # type: ignore[misc]
        assert neovim.lua(code, window) == seen
        assert seen["lnum"] == 21
    neovim.keys("<Esc><C-w>kG")
    before = length(neovim)
    neovim.until(lambda: length(neovim) > before + 3, "more lines")
    assert neovim.lua("return vim.fn.line('.')") > before
    neovim.keys("<C-c>")
    neovim.until(lambda: chat.last.startswith("cancelled"), "it is cancelled")
    unhurt(neovim)


def test_a_hidden_chat_costs_nothing_and_is_whole_when_it_is_shown(chat: Chat) -> None:
    neovim = chat.neovim
    chat.open()
    chat.say("talk for ever")
    chat.until_shown("This answer goes on.")
    neovim.keys("<Esc>:TarkChat<CR>")
    neovim.until(lambda: chat.parts() == ["shapes.py"], "it is closed")
    heard = """
        local known = require('tark.chat.shown_session').state()
        return #known.transcripts[known.session_id].turns[1].blocks[1].text
    """
    tick = "return vim.api.nvim_buf_get_changedtick(require('tark.chat.buffers').transcript())"
    before, ticks = neovim.lua(heard), neovim.lua(tick)
    neovim.until(lambda: neovim.lua(heard) > before + 20, "more of the answer")
    assert neovim.lua(tick) == ticks
    chat.open()
    assert len("\n".join(chat.answer)) > before + 20, "it is there at once"
    unhurt(neovim)


def test_what_waits_is_answered_from_the_chat(chat: Chat) -> None:
    neovim = chat.neovim
    chat.open()
    chat.say("rewrite the area")
    chat.until_shown("? edit_file shapes.py  <CR> answers")
    assert "waits for you" in chat.window("transcript")["bar"]
    neovim.keys("<C-w>kG?edit_file<CR><CR>")
    neovim.until(lambda: chat.current not in ("transcript", "prompt", "shapes.py"), "the question has the cursor")
    live(neovim)
    neovim.keys("a")
    chat.until_over()
    assert "✓ edit_file shapes.py" in chat.shown
    neovim.lua("vim.api.nvim_set_current_win(...)", chat.window("transcript")["window"])
    neovim.keys("G?edit_file<CR>za")
    chat.until_shown("```diff", "-    return math.pi * radius**2", "+    return math.tau / 2 * radius**2")
    unhurt(neovim)


def test_the_server_dies_and_nothing_is_lost(start: Start, workspace: Path) -> None:
    neovim = open_shapes(start, workspace)
    chat = Chat(neovim)
    chat.open()
    chat.say("talk for ever")
    chat.until_shown("This answer goes on.")
    neovim.keys("inot sent yet")
    neovim.until(lambda: chat.prompt == "not sent yet", "what is typed")
    neovim.server_process().kill()
    neovim.until(lambda: any("the server ended" in line for line in chat.shown), "the chat says so")
    assert (chat.prompt, chat.mode) == ("not sent yet", "i")
    told(neovim, "restarting it")
    ready = """
        local shown_session = require('tark.chat.shown_session')
        return shown_session.state().alive and shown_session.client() ~= nil
    """
    neovim.until(lambda: neovim.lua(ready), "the next server")
    neovim.keys("<Esc>ccsay again<C-s>")
    chat.until_shown("The word is again.")
    assert "talk for ever" in chat.shown
    unhurt(neovim)
