"""The chat's prompt in a real Neovim: nothing typed is lost, and prompts go to the right session."""

from pathlib import Path

import pytest

from tests.context.test_images import png
from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.chat import Chat, open_shapes
from tests.editors.neovim.plugin.conftest import Start
from tests.editors.neovim.plugin.test_server import write_init
from tests.editors.neovim.plugin.turns import told, turns, unhurt

pytestmark = pytest.mark.editor


def menu(neovim: Neovim) -> list[str]:
    """The items of the open completion menu."""
    code = "local i = vim.fn.complete_info(); return vim.fn.pumvisible() == 1 and i.items or {}"
    return [item["word"] for item in neovim.lua(code)]


def test_typing_and_completing_while_an_answer_streams(chat: Chat) -> None:
    neovim = chat.neovim
    chat.open()
    chat.say("talk for ever")
    chat.until_shown("This answer goes on.")
    neovim.keys("i")
    typed = ""
    for letter in "Every key of this is there, as it was typed. ":
        before = len("".join(chat.shown))
        neovim.keys("<lt>" if letter == "<" else letter)
        typed += letter
        if len(typed) % 5 == 0:
            neovim.until(lambda before=before: len("".join(chat.shown)) > before, "more text")  # type: ignore[misc]
    assert (chat.prompt, chat.mode) == (typed, "i")
    neovim.keys("<Esc>oand more<Esc>")
    neovim.until(lambda: chat.prompt == typed + "\nand more", "a second line")
    neovim.keys("u")
    neovim.until(lambda: chat.prompt == typed, "the second line is taken back")
    neovim.keys("u")
    neovim.until(lambda: chat.prompt == "", "the first line is taken back")
    neovim.keys("<C-r>")
    neovim.until(lambda: chat.prompt == typed, "and is there again")
    neovim.keys("A@")
    neovim.until(lambda: "@selection" in menu(neovim), "the menu opens by itself")
    before = len("".join(chat.shown))
    neovim.until(lambda: len("".join(chat.shown)) > before + 10, "more text")
    assert "@selection" in menu(neovim)
    neovim.keys("fil")
    neovim.until(lambda: menu(neovim)[:1] == ["@file:"], "the kind of mention")
    neovim.keys("<C-y>")
    neovim.until(lambda: "@file:shapes.py" in menu(neovim), "the menu goes on with files")
    neovim.keys("ape")
    neovim.until(lambda: menu(neovim) == ["@file:shapes.py"], "the file, found by a part of its name")
    neovim.keys("<C-y>")
    neovim.until(lambda: chat.prompt == typed + "@file:shapes.py", "it is completed by the first entry")
    neovim.keys("<Esc>cc/ex")
    neovim.until(lambda: menu(neovim) == ["/explain"], "names of prompts")
    neovim.keys("<C-e>")
    neovim.until(lambda: menu(neovim) == [], "the menu is closed")
    neovim.keys("<C-x><C-o>")  # Neovim ignores it if the menu opens at that moment
    neovim.until(lambda: menu(neovim) == ["/explain"], "the menu opens again")
    neovim.keys("<C-e><Esc>")
    neovim.until(lambda: menu(neovim) == [], "the menu is closed")
    neovim.keys("S<Esc><C-c>")
    neovim.until(lambda: "cancelled" in chat.last, "the turn is cancelled")
    unhurt(neovim)


def test_it_grows_has_a_history_and_gets_back_what_is_not_taken(start: Start, workspace: Path) -> None:
    neovim = open_shapes(start, workspace)
    chat = Chat(neovim)
    chat.open()
    neovim.keys("isay one<C-s>")
    chat.until_shown("say one")
    assert (chat.prompt, chat.mode) == ("", "i")
    height = chat.window("prompt")["height"]
    neovim.keys("1<CR>2<CR>3<CR>4<CR>5<Esc>")
    neovim.until(lambda: chat.window("prompt")["height"] == 5, "five lines high")
    neovim.keys("o" + "<CR>" * 40 + "<Esc>")
    neovim.until(lambda: chat.window("prompt")["height"] == 37 // 3, "a third of the chat at most")
    neovim.keys("ggdGisay two<Esc><CR>")
    chat.until_shown("The word is two.")
    assert chat.window("prompt")["height"] == height
    neovim.keys("ithree")
    for keys, wanted in (
        ("<Esc><C-p>", "say two"),
        ("<C-p>", "say one"),
        ("<C-p>", "say one"),
        ("<C-n><C-n>", "three"),
    ):
        neovim.keys(keys)
        neovim.until(lambda wanted=wanted: chat.prompt == wanted, wanted)  # type: ignore[misc]
    # A prompt that is not accepted comes back.
    neovim.lua("require('tark.chat.shown_session').state().session_id = 'no such session'")
    neovim.keys("Slost?<C-s>meanwhile")
    neovim.until(lambda: chat.prompt == "lost?\n\nmeanwhile", "what was sent, above what was typed since")
    told(neovim, "Your text is in the prompt")
    neovim.until(lambda: "lost?" not in chat.shown, "it does not show as sent")
    assert chat.mode == "i"


def test_it_is_completed_after_edit_and_restart(start: Start, workspace: Path) -> None:
    neovim = open_shapes(start, workspace)
    chat = Chat(neovim)
    chat.open()
    neovim.live_on()
    neovim.keys("inot yet<CR>sent<Esc>:edit<CR>")
    neovim.until(lambda: chat.prompt == "not yet\nsent", "the text")
    listens = "return vim.fn.exists('#nvim.lsp.completion_' .. vim.fn.bufnr() .. '#InsertCharPre') == 1"
    neovim.until(lambda: neovim.lua(listens), "it is completed again")
    neovim.keys("o@")
    neovim.until(lambda: "@selection" in menu(neovim), "the menu")
    neovim.live_on()
    neovim.keys("<C-e><Esc>dd:TarkRestart<CR>")
    told(neovim, "the server was restarted")
    neovim.keys("o@")
    neovim.until(lambda: "@selection" in menu(neovim), "the menu of the new server")
    neovim.live_on()
    neovim.keys("<C-e><Esc>dd<C-p>Sown words<Esc><C-p><C-n>")
    assert neovim.until(lambda: "own words" in chat.prompt, "what was typed over an earlier prompt")
    assert "@" not in chat.prompt, "the completed lines were deleted"
    unhurt(neovim)


def test_what_is_not_sent_is_there_in_the_next_neovim(start: Start, workspace: Path) -> None:
    (workspace / "a.py").write_text("a = 1\n")
    neovim = start(init=write_init(workspace.parent, ["/nowhere"]))
    for keys, found, left in (
        ("inot yet<CR>sent<Esc>", "", "not yet\nsent"),
        ("ggdG", "not yet\nsent", ""),
        ("", "", ""),
    ):
        neovim.lua("vim.cmd.edit('a.py')")
        chat = Chat(neovim)
        chat.open()
        assert chat.prompt == found
        neovim.keys(keys)
        neovim.until(lambda chat=chat, left=left: chat.prompt == left, "typed")  # type: ignore[misc]
        neovim.close()
        neovim = start(init=write_init(workspace.parent, ["/nowhere"]))


def test_a_command_and_the_chat_go_on_with_one_session(chat: Chat) -> None:
    """The second prompt does not wait until the first is answered."""
    neovim = chat.neovim
    chat.open()
    neovim.keys("isay two<Esc>:Tark say one<CR><CR>")
    neovim.until(lambda: len(turns(neovim)) == 2, "two turns")
    assert len({turn["session"] for turn in turns(neovim)}) == 1


def test_a_busy_session_queues_is_steered_and_cancelled(chat: Chat) -> None:
    neovim = chat.neovim
    chat.open()
    chat.say("look slowly")
    neovim.until(lambda: "I look" in chat.last, "it runs")
    chat.say("say queued")
    chat.until_shown("waits for the turn before it")
    assert "1 queued" in chat.window("transcript")["bar"]
    neovim.keys("iin one word<Esc>gs")
    neovim.until(lambda: chat.prompt == "" and "in one word" in chat.shown, "what was said to the turn that runs")
    chat.until_shown("Round.", "The word is queued.")
    order = [chat.shown.index(line) for line in ("in one word", "Round.", "say queued")]
    assert order == sorted(order)
    chat.say("talk for ever")
    chat.until_shown("talk for ever", "This answer goes on.")
    neovim.keys("<C-w>k<C-c>")
    neovim.until(lambda: "cancelled" in chat.last, "it is cancelled")
    neovim.keys("<C-w>j<C-c>")
    told(neovim, "nothing is running")


def test_an_earlier_prompt_is_edited_and_sent_in_a_session_of_its_own(chat: Chat) -> None:
    neovim = chat.neovim
    chat.open()
    for number, word in enumerate(("one", "two", "three"), 1):
        chat.say(f"say {word}")
        chat.until_over(number)
    first = neovim.lua("return require('tark.chat.shown_session').state().session_id")
    neovim.keys("iunsent<Esc><C-w>kgg/say two<CR>e")
    neovim.until(lambda: (chat.current, chat.prompt) == ("prompt", "say two"), "it is in the prompt")
    assert "Edits an earlier prompt" in chat.window("prompt")["bar"]
    neovim.keys("$ciwzwei<Esc><CR>")
    chat.until_shown("The word is zwei.")
    chat.until_over(2)
    assert [line for line in chat.shown if line.startswith("The word")] == ["The word is one.", "The word is zwei."]
    assert chat.window("prompt")["bar"] == ""
    neovim.keys("<C-p><C-p>")
    neovim.until(lambda: chat.prompt == "unsent", "what was there before is in the history")
    neovim.keys("S<Esc><C-w>kgg/say one<CR>e")
    neovim.until(lambda: chat.prompt == "say one", "the very first one")
    neovim.keys("S<Esc>")
    neovim.until(lambda: chat.window("prompt")["bar"] == "", "emptied, it is given up")
    neovim.lua("require('tark.state.sessions').select_session(require('tark.chat.shown_session').state(), ...)", first)
    chat.until_shown("The word is two.", "The word is three.")
    # A long session shows its last messages, and earlier ones on demand.
    state = "require('tark.chat.shown_session').state()"
    neovim.lua(f"require('tark.state.session_loader').load_session({state}, ..., 2, function() end)", first)
    neovim.until(lambda: "The word is two." not in chat.shown, "the end of it")
    chat.until_shown("say three", "The word is three.")
    neovim.keys("<C-w>kgg<CR>")
    chat.until_shown("The word is one.", "The word is two.", "The word is three.")
    unhurt(neovim)


def test_images_go_with_the_next_prompt(chat: Chat, chatting: tuple[Neovim, Path]) -> None:
    """Pasted ones until they are dropped or sent; and you are told before if the model does not see them."""
    neovim, workspace = chatting
    programs = workspace.parent / "programs"
    chat.open()
    chat.say("say one")
    chat.until_shown("The word is one.")
    neovim.keys(":TarkPaste<CR>")
    told(neovim, "install wl-paste (Wayland), xclip (X11) or pngpaste (macOS)")
    programs.mkdir()
    (workspace / "shot.png").write_bytes(png())
    for name, line in (("wl-paste", "exit 1"), ("xclip", f"cat {workspace}/shot.png")):
        (programs / name).write_text(f"#!/bin/sh\n{line}\n")
        (programs / name).chmod(0o700)
    neovim.keys(":TarkPaste<CR>:TarkPaste<CR>")
    told(neovim, "the image from the clipboard goes with the next prompt that you write in the chat")
    neovim.until(lambda: "+ 2 images with the next prompt" in chat.window("prompt")["bar"], "the prompt says so")
    neovim.keys(":TarkPaste!<CR>")
    neovim.until(lambda: chat.window("prompt")["bar"] == "", "they are dropped")
    neovim.keys(":TarkPaste<CR>")
    neovim.until(lambda: "+ 1 image with" in chat.window("prompt")["bar"], "it is attached")
    neovim.keys(":TarkModel own/blind<CR>")
    told(neovim, "own/blind does not see images. Choose another model (:TarkModel), or the images are left out")
    neovim.until(lambda: "own/blind does not see images" in chat.window("prompt")["bar"], "the prompt says so")
    chat.say("what is it?")
    chat.until_shown("I see nothing.")
    chat.until_shown("! own/blind does not accept images; 1 left out")
    neovim.until(lambda: chat.window("prompt")["bar"] == "", "it is sent")
    neovim.keys("isee @file:shot.png")
    neovim.until(lambda: "does not see images" in chat.window("prompt")["bar"], "a mention, too")
    neovim.keys("<BS>")
    neovim.until(lambda: chat.window("prompt")["bar"] == "", "it is no image any more")
    unhurt(neovim)
