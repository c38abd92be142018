"""Keys that were meant for something else allow nothing, and what is shown is what runs."""

from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil
import pytest

from tests.editors.hostile_text import deceptive, exact, worst
from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.conftest import Start
from tests.editors.neovim.plugin.waiting import (
    TEXT,
    asks,
    begin,
    end,
    go,
    live,
    mode,
    opened,
    said,
    shown,
    waiting,
)

pytestmark = pytest.mark.editor

# Waits, with hostile text in all fields, and the title of the session above the chat.
HOSTILE = """
    local text, session_id = ...
    local state = require('tark.state')
    local known = state.all()[1]
    local start = { line = 0, character = 0 }
    local hunk = { hunkId = 'h', turnId = 't', state = 'pending', applied = false, oldText = '' }
    hunk.newText = text .. '\\n'
    hunk.range = { start = start, ['end'] = start }
    local uri = vim.uri_from_fname('/w/' .. (text:gsub('[/%z]', '_')))
    local request = { requestId = 'hostile', digest = 'd', title = text, why = text, risk = 'risky', grants = {} }
    request.sessionId, request.turnId, request.edits = session_id, 't', { { uri = uri, version = 1, hunks = { hunk } } }
    request.command = { argv = { 'sh', '-c', text }, text = text, cwd = '/w', env = vim.empty_dict() }
    local sessions = require('tark.state.sessions')
    sessions.session_received({ session = { sessionId = session_id, title = text } }, known.client_id)
    sessions.select_session(known, session_id)
    require('tark.chat').show({ focus = false })
    require('tark.state.waiting').add_request(known, 'permissions', request)
    vim.wait(2000, function() return require('tark.waiting.window').id() ~= nil end)
    require('tark.waiting.focus').focus_request('hostile')
    vim.cmd('redraw!')
    local rows = {}
    for row = 1, vim.o.lines do
      local cells = {}
      for column = 1, vim.o.columns do
        table.insert(cells, vim.fn.screenstring(row, column))
      end
      table.insert(rows, table.concat(cells))
    end
    known.permissions = {}
    state.emit('permission', known)
    sessions.select_session(known, nil)
    vim.cmd('silent! only')
    return table.concat(rows, '\\n')
"""


def typed(neovim: Neovim, keys: str, expected: str) -> None:
    """Waits until the line of the cursor is this."""
    neovim.keys(keys)
    line = partial(neovim.lua, "return vim.api.nvim_get_current_line()")
    neovim.until(lambda: line() == expected, f"the line {expected!r}")


def untouched(neovim: Neovim, workspace: Path, count: int) -> None:
    assert waiting(neovim) == count, "nothing was answered"
    assert not list(workspace.glob("*.txt"))
    there = shown(neovim)
    assert there is not None
    assert not there.focused


def ended(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return process.status() == psutil.STATUS_ZOMBIE
    return True


def test_keys_of_insert_mode_are_text(neovim: Neovim, folder: Path) -> None:
    typed(neovim, "Oaaaayyyy", "aaaayyyy")
    begin(neovim, "make one.txt")
    typed(neovim, "<CR>aaaa", "aaaa")
    asks(neovim, "one.txt")
    assert mode(neovim) == "i"
    typed(neovim, "yyyyts<CR>aaaayyyy", "aaaayyyy")
    begin(neovim, "make two.txt")
    typed(neovim, "<CR>aats", "aats")
    neovim.until(lambda: waiting(neovim) == 2, "both wait")
    typed(neovim, "<CR>ssss<CR>", "")
    assert mode(neovim) == "i"
    untouched(neovim, folder, 2)
    assert neovim.lines == ["aaaayyyy", "aaaayyyyts", "aaaayyyy", "aats", "ssss", "", *TEXT.splitlines()]


def test_keys_of_other_modes_do_what_they_do(neovim: Neovim, folder: Path) -> None:
    neovim.keys("d")  # waits for a motion
    neovim.until(lambda: mode(neovim) == "no", "an operator waits")
    begin(neovim, "make one.txt")
    asks(neovim, "one.txt")
    assert mode(neovim).startswith("no")
    typed(neovim, "w", "= 1")
    neovim.keys("jv")
    begin(neovim, "make two.txt")
    neovim.until(lambda: waiting(neovim) == 2, "both wait")
    assert mode(neovim) == "v"
    typed(neovim, "esX<Esc>", "X = 2")
    typed(neovim, "jaa<Esc>", "tahree = 3")
    neovim.keys(":let g:typed = 'a'")
    begin(neovim, "make three.txt")
    neovim.until(lambda: waiting(neovim) == 3, "all wait")
    assert mode(neovim) == "c"
    assert neovim.lua("return vim.fn.getcmdline()") == "let g:typed = 'a'"
    neovim.keys("<CR>")
    neovim.until(lambda: neovim.lua("return vim.g.typed") == "a", "the command line was the person's")
    untouched(neovim, folder, 3)


def test_keys_are_dead_for_a_moment(neovim: Neovim, folder: Path) -> None:
    """Keys typed on the way there, or directly after an answer, decide nothing."""
    first = begin(neovim, "make one.txt")
    asks(neovim, "one.txt")
    neovim.keys(":TarkPermission<CR>atsrc")
    neovim.until(lambda: getattr(shown(neovim), "focused", False), "the focus")
    assert waiting(neovim) == 1
    second = begin(neovim, "make two.txt")
    neovim.until(lambda: waiting(neovim) == 2, "both wait")
    live(neovim)
    neovim.keys("aaaa")  # one for each letter would allow the second, too
    end(neovim, first)
    assert waiting(neovim) == 1
    there = asks(neovim, "two.txt")
    assert there.focused
    live(neovim)
    neovim.keys("<CR><CR>")
    neovim.keys("r")
    assert said(end(neovim, second)) == "It is not run."
    assert [path.name for path in folder.glob("*.txt")] == ["one.txt"]


def test_what_cannot_be_seen_is_shown(neovim: Neovim, folder: Path) -> None:
    begun = begin(neovim, "run what cannot be seen")
    assert not set(asks(neovim, "evil").text) & {"\u202e", "\u202c", "\u200b", "\x1b"}
    there = go(neovim)
    assert r"$ echo \u{202e}evil\u{202c} \u{1b}[2K\u{200b} > seen.txt" in there.lines
    assert "$ echo second line" in there.lines, "each line of a command is one"
    assert not set(there.text) & {"\u202e", "\u202c", "\u200b", "\x1b"}
    neovim.keys("a")
    end(neovim, begun)
    assert (folder / "seen.txt").read_text() == "\u202eevil\u202c \x1b[2K\u200b\n", "byte for byte what was meant"


def test_what_is_on_the_screen_is_what_is(neovim: Neovim) -> None:
    """Of a command, a file, a hunk, and the title of the session."""
    begun = begin(neovim, "make one.txt")
    asks(neovim, "one.txt")
    go(neovim)
    neovim.keys("r")
    end(neovim, begun)
    neovim.resize(240, 40)  # so that the title fits above the chat
    for text in worst():
        screen = neovim.lua(HOSTILE, text, begun["sessionId"])
        assert not deceptive(screen), text
        packed = "".join(screen.replace("│", " ").split())  # lines are wrapped
        lines = [line for line in text.split("\n") if line]
        for line in lines:
            assert "".join(f"$ {exact(line)}".split()) in packed, (text, screen)
            assert "".join(f"+{exact(line)}".split()) in packed, (text, screen)
        name = exact(text.replace("/", "_").replace("\0", "_"))
        assert "".join(f"file /w/{name}".split()) in packed, (text, screen)
        title = exact(text.replace("\r", " ").replace("\n", " "))
        assert "".join(title.split())[:30] in packed, (text, screen)  # a long one is shortened
    neovim.resize(120, 40)


def test_edited_hunks_are_asked_anew(neovim: Neovim) -> None:
    begun = begin(neovim, "change two places")
    asks(neovim, "edit a.py")
    go(neovim)
    neovim.lua(
        """
        local clients, state = require('tark.server.clients'), require('tark.state')
        local hunk = state.all()[1].permissions[1].edits[1].hunks[1]
        local argument = { hunkId = hunk.hunkId, newText = 'one = 111\\n' }
        require('tark.server.requests').send_command(clients.for_buffer(), 'tark.hunk.edit', argument)
        """
    )
    there = asks(neovim, "+one = 111")
    assert "+one = 11" not in there.lines
    assert waiting(neovim) == 1
    live(neovim)
    neovim.keys("a")
    assert said(end(neovim, begun)) == "The edit is in place."
    neovim.keys("<Esc>")
    neovim.until(lambda: neovim.lines[0] == "one = 111", "what was shown")


def test_quitting_grants_nothing(start: Start, workspace: Path) -> None:
    neovim = opened(start, workspace)
    begin(neovim, "make one.txt")
    asks(neovim, "one.txt")
    server = neovim.server_process()
    go(neovim)
    neovim.keys(":q<CR>")
    neovim.until(lambda: shown(neovim) is None, "closed")
    assert waiting(neovim) == 1, "and still waiting"
    neovim.keys(":qa<CR>")
    neovim.until(lambda: ended(server), "Neovim quits with no prompt, and the server with it")
    assert not list(workspace.glob("*.txt"))
