"""The chat's two windows in a real Neovim: they open and close together, whatever the user does."""

from pathlib import Path

import pytest

from tests.editors.neovim.plugin.chat import SHAPES, Chat, open_shapes
from tests.editors.neovim.plugin.conftest import Start
from tests.editors.neovim.plugin.turns import unhurt

pytestmark = pytest.mark.editor

BOTH = ["shapes.py", "transcript", "prompt"]


def until(chat: Chat, parts: list[str]) -> None:
    chat.neovim.until(lambda: chat.parts() == parts, f"the windows {parts}")


def test_one_unit(chat: Chat) -> None:
    neovim = chat.neovim
    chat.open()
    neovim.keys("isay one<C-s>unsent")
    chat.until_over()
    for keys in (":q<CR>", "<C-w>k:close<CR>", ":bdelete<CR>", "<C-w>k:bdelete<CR>", "<C-w>kq"):
        neovim.keys(f"<Esc>{keys}")
        until(chat, ["shapes.py"])
        assert neovim.lines == SHAPES.splitlines()
        chat.open()
        until(chat, BOTH)
        assert (chat.prompt, chat.last.endswith("tokens")) == ("unsent", True)
    for keys in (":only<CR>", "<C-w>k<C-w>o"):
        neovim.keys(f"<Esc>{keys}")
        until(chat, ["transcript", "prompt"])
        neovim.keys(":vsplit shapes.py<CR>")
        neovim.until(lambda: "shapes.py" in chat.parts(), "a file again")
    unhurt(neovim)


def test_what_is_opened_in_it_goes_beside_it_in_every_tabpage(chat: Chat) -> None:
    neovim = chat.neovim
    (Path(neovim.lua("return vim.fn.getcwd()")) / "other.py").write_text("1\n2\n3\n")
    chat.open()
    neovim.keys(":edit other.py<CR>")
    until(chat, ["other.py", "transcript", "prompt"])
    assert chat.current == "other.py"
    neovim.keys(":sil! b shapes.py<CR><C-w>l<C-w>k:b other.py<CR>")
    until(chat, ["other.py", "transcript", "prompt"])
    neovim.keys("<C-w>l:help options<CR>")
    neovim.until(lambda: "options.txt" in chat.parts(), "help has its own window")
    assert len(chat.parts()) == 4
    # In every tab page.
    neovim.keys(":tabedit shapes.py<CR>")
    until(chat, ["shapes.py"])
    chat.open()
    neovim.keys("isay one<C-s>")
    chat.until_over()
    neovim.keys("<Esc>:tabprevious<CR>")
    neovim.until(lambda: "other.py" in chat.parts() and "The word is one." in chat.shown, "the first tabpage")
    neovim.lua("vim.api.nvim_set_current_win(...)", chat.window("prompt")["window"])
    neovim.keys(":q<CR>:tabnext<CR>")
    until(chat, BOTH)
    unhurt(neovim)


def test_positions(chat: Chat) -> None:
    neovim = chat.neovim
    for position, wanted in (("left", ["transcript", "prompt", "shapes.py"]), ("bottom", BOTH), ("float", BOTH)):
        neovim.lua("require('tark.config').get().chat.position = ...", position)
        chat.open()
        assert chat.parts() == wanted or (position == "float" and sorted(chat.parts()) == sorted(wanted))
        neovim.keys(f"isay {position}<C-s>")
        chat.until_shown(f"The word is {position}.")
        neovim.keys("1<CR>2<CR>3<CR>4<CR>5<Esc>")
        neovim.until(lambda: chat.window("prompt")["height"] >= 4, "it grows")
        neovim.lua("vim.o.columns, vim.o.lines = 80, 24")
        neovim.keys("Sunsent<Esc>:q<CR>")
        until(chat, ["shapes.py"])
        neovim.lua("vim.o.columns, vim.o.lines = 120, 40")
        chat.open()
        assert chat.prompt.endswith("unsent")
        neovim.keys("ggdG:q<CR>")
        until(chat, ["shapes.py"])
    unhurt(neovim)


def test_neovim_can_be_left_from_it(start: Start, workspace: Path) -> None:
    neovim = open_shapes(start, workspace)
    chat = Chat(neovim)
    chat.open()
    neovim.keys("<C-w>h:q<CR>")
    until(chat, ["transcript", "prompt"])
    process = neovim.server_process()
    neovim.keys(":q<CR>")
    assert neovim.until(lambda: not process.is_running() or process.status() == "zombie", "Neovim and its server ended")


def test_it_takes_no_focus_and_lists_its_keys(chat: Chat) -> None:
    neovim = chat.neovim
    neovim.keys("Gonew")
    neovim.lua("require('tark.chat').show({ focus = false })")
    neovim.keys(" line")
    neovim.until(lambda: neovim.lines[-1] == "new line", "typing goes on where it was")
    until(chat, BOTH)
    assert neovim.lua("return vim.fn.mode()") == "i", "and is not interrupted"
    neovim.keys("<Esc>u")
    chat.open()
    neovim.keys("g?")
    neovim.until(lambda: any("edit it and send it" in line for line in neovim.lines), "the keys")
    neovim.keys("q")
    until(chat, BOTH)
    unhurt(neovim)


def test_an_empty_prompt_is_opened_in_insert_mode(chat: Chat) -> None:
    neovim = chat.neovim
    neovim.keys(":TarkChat<CR>not sent<Esc>:TarkChat<CR>:TarkChat<CR>")
    neovim.until(lambda: chat.prompt == "not sent", "it was typed at once")
    assert chat.mode == "n", "it is not empty any more"
    neovim.lua("require('tark.config').get().chat.start_insert = false")
    neovim.keys("S<Esc>:TarkChat<CR>:TarkChat<CR>")
    neovim.until(lambda: chat.current == "prompt" and chat.prompt == "", "it is open again")
    assert chat.mode == "n"
    neovim.lua("require('tark.config').get().chat.start_insert = true")
