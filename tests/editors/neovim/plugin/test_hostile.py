"""What a repository, a model or a page can contain, and what it must not do to the user's Neovim."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.editors.neovim.plugin.chat import Chat, open_shapes
from tests.editors.neovim.plugin.conftest import Start
from tests.editors.neovim.plugin.test_server import COMMAND, FAKE, told, write_init

pytestmark = pytest.mark.editor

TURN = """
    local id = require('tark.server.clients').for_buffer().id
    for seq, update in ipairs(...) do
      local params = { sessionId = 'hostile', turnId = 'turn', seq = seq, update = update }
      require('tark.state.updates').update_received(params, id)
    end
    require('tark.state.sessions').select_session(require('tark.state').of_client(id), 'hostile')
"""
WAITS = """
    local id, question = ...
    local request = { requestId = id, question = question, options = {}, multiple = false, freeText = true }
    request.sessionId, request.turnId = 'hostile', 'turn'
    local client = require('tark.server.clients').for_buffer()
    require('tark.state.waiting').add_request(require('tark.state').of_client(client.id), 'inputs', request)
"""
STATE_HAS_COME = """
    local client = require('tark.server.clients').for_buffer()
    return next(require('tark.state').of_client(client.id).settings) ~= nil
"""


def test_lua_of_a_repository_is_not_run(start: Start, workspace: Path, tmp_path: Path) -> None:
    """Neovim also looks for Lua modules in the working directory, if they are nowhere else."""
    ran = tmp_path / "ran.txt"
    (workspace / "tark").mkdir()
    evil = f"vim.fn.writefile({{ 'evil' }}, '{ran}')\nreturn {{ cmd = {{ 'touch', '{ran}' }} }}\n"
    for name in ("installed", "utils", "local"):
        (workspace / "tark" / f"{name}.lua").write_text(evil)
    (workspace / "a.py").write_text("a = 1\n")
    neovim = start(init=write_init(tmp_path, None, "vim.env.PATH = '/usr/bin:/bin'"))
    neovim.lua("vim.cmd.edit('a.py')")
    neovim.keys(":Tark hello<CR>")
    neovim.until(lambda: "no tark-lsp was found" in neovim.messages(), "the plugin looked for its server")
    neovim.lua("vim.cmd('checkhealth tark')")
    assert not ran.exists()


def framed(body: str) -> str:
    return f"Content-Length: {len(body.encode())}\r\n\r\n{body}"


def test_a_server_that_says_what_is_no_lsp(start: Start, workspace: Path, tmp_path: Path) -> None:
    """Each leads to a message that waits for no key. A server that sends no header is restarted."""
    (workspace / "a.py").write_text("a = 1\n")
    neovim = start(init=write_init(tmp_path, [sys.executable, str(FAKE), "1"]))
    neovim.open(workspace / "a.py")

    def write(text: str) -> None:
        neovim.lua("vim.cmd('messages clear'); vim.g.answer = nil")
        neovim.lua(COMMAND, "tark.turn.start", {"prompt": f"write {text}"})

    for late in (framed('{"jsonrpc": "2.0", "id": 99999, "result": null}') * 2, framed('{"id": 5, "result": 5}')):
        write(late)
        neovim.until(lambda: neovim.lua("return vim.g.answer ~= nil"), "it goes on")
        assert (neovim.messages(), neovim.asks) == ("", False)
    write("".join(framed(body) for body in ("{not json", '"words"', "{}")))
    told(neovim, "the server sent something that is not LSP")
    assert (neovim.messages().count("Tark:"), neovim.asks) == (1, False)
    before = neovim.lua("return require('tark.server.clients').for_buffer().id")
    write("a print of a library\r\n\r\n")
    told(neovim, "sent something that is not LSP); restarting it")
    assert not neovim.asks
    running = "return (require('tark.server.clients').for_buffer() or { id = 0 }).id > ..."
    neovim.until(lambda: neovim.lua(running, before), "another one")


DEEP = {
    "quotes": "> " * 400 + "x",
    "lists in a line": "- " * 400 + "x",
    "lists": "\n".join("  " * depth + "- x" for depth in range(400)),
    "numbers": "1. " * 400 + "x",
    "tabs": "-\t" * 400 + "x",
    "in a fence": f"```markdown\n{'> ' * 400}x\n```\n<div>\n```\n{'>' * 400}x\n",
    "behind a citation": f'<code="a.py" #1>\n{"> " * 400}x</code>{"> " * 400}x',
    "behind the cut of a long line": "x" * 2000 + "> " * 400 + "x",
}


def test_no_text_ends_neovim(start: Start, workspace: Path) -> None:
    """Neovim's parser of Markdown crashes where quotes and lists are too deep: in what a model says, what its tools
    found, what it thinks, what the person pastes.
    """
    neovim = open_shapes(start, workspace)
    chat = Chat(neovim)
    chat.open()
    updates: list[dict[str, Any]] = [{"kind": "start", "prompt": "\n\n".join(DEEP.values()), "turnKind": "agent"}]
    for number, (what, text) in enumerate(DEEP.items()):
        call = {"kind": "toolCall", "toolCallId": f"call{number}", "title": what, "status": "completed"}
        updates += [
            {"kind": "text", "delta": f"{text}\n\n{what} is shown\n\n"},
            {"kind": "thinking", "delta": text},
            {**call, "content": [{"type": "text", "text": text}]},
            {"kind": "notice", "level": "info", "message": text},
        ]
    neovim.lua(TURN, updates)
    neovim.lua("require('tark.chat.view').toggle_all(true)")
    chat.until_shown(*(f"{what} is shown" for what in DEEP))
    parse = """
        local bufnr = vim.fn.bufnr('tark://chat/transcript')
        vim.treesitter.get_parser(bufnr, 'markdown'):parse(true)
        return vim.treesitter.highlighter.active[bufnr] ~= nil
    """
    assert neovim.lua(parse), "all of it was parsed"
    neovim.lua("vim.fn.setreg('z', ...)", DEEP["quotes"] + "\n" + DEEP["lists"])
    neovim.keys('<Esc>"zp')
    neovim.until(lambda: len(chat.prompt) > 1000, "it is pasted")
    assert chat.prompt.strip() == (DEEP["quotes"] + "\n" + DEEP["lists"]).strip(), "nothing in it is changed"
    neovim.keys("<C-w>kgg<C-f>G<C-w>jix<Esc>")
    neovim.until(lambda: "x" in chat.prompt[-5:], "it lives")
    neovim.keys(":windo edit<CR>")  # which empties what is in no file
    chat.until_shown(*(f"{what} is shown" for what in DEEP))
    assert neovim.lua(parse), "it is parsed again"
    guess = "return vim.treesitter.language.get_lang('tark_prompt') == 'markdown'"
    assert not neovim.lua(guess), "nor does what the person's own configuration starts for all buffers parse the prompt"


def test_blanks_hold_nobody_up(start: Start, workspace: Path) -> None:
    """Patterns with quadratic time would take minutes. The driver ends Neovim before that."""
    neovim = open_shapes(start, workspace)
    # Its first answer would replace the question.
    neovim.until(lambda: neovim.lua(STATE_HAS_COME), "the state of the server")
    chat = Chat(neovim)
    chat.open()
    blanks = " " * 200_000
    call = {"kind": "toolCall", "toolCallId": "call", "title": blanks, "status": "failed"}
    updates = [
        {"kind": "start", "prompt": blanks, "turnKind": "agent"},
        {"kind": "thinking", "delta": blanks + "x"},
        {"kind": "thinking", "delta": blanks},
        {**call, "content": [{"type": "text", "text": blanks + "\n" + blanks}]},
        {"kind": "notice", "level": "info", "message": blanks},
        {"kind": "text", "delta": f"{blanks}\n{blanks}x{blanks}\n\nthe end"},
    ]
    neovim.lua(TURN, updates)
    neovim.lua("require('tark.chat.view').toggle_all(true)")
    chat.until_shown("the end")
    neovim.lua(WAITS, "blank", blanks)
    assert neovim.until(lambda: neovim.lua("return require('tark.waiting.window').id()"), "the question")
