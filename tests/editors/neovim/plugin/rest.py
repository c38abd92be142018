"""A Neovim that tests share, between two of them: nothing of the previous test runs, waits or is shown."""

from tests.editors.neovim.driver import Neovim

CANCEL = """
    local clients, requests = require('tark.server.clients'), require('tark.server.requests')
    for _, known in ipairs(require('tark.state').all()) do
      local client = clients.by_id(known.client_id)
      if client then
        requests.send_command(client, 'tark.turn.cancel', vim.empty_dict())
      end
    end
"""
REJECT = """
    local clients, requests = require('tark.server.clients'), require('tark.server.requests')
    for _, entry in ipairs(require('tark.review.hunks').undecided()) do
      local client = clients.by_id(entry.server_state.client_id)
      if client then
        requests.send_command(client, 'tark.hunk.reject', { hunkIds = { entry.hunk.hunkId } })
      end
    end
"""
BUSY = """
    local busy = {}
    for _, client in ipairs(vim.lsp.get_clients({ name = 'tark' })) do
      for _, request in pairs(client.requests) do
        if request.type == 'pending' then
          table.insert(busy, 'unanswered: ' .. request.method)
        end
      end
    end
    for _, known in ipairs(require('tark.state').all()) do
      for _, transcript in pairs(known.transcripts) do
        for _, turn in ipairs(transcript.turns) do
          if turn.state ~= 'ended' then
            table.insert(busy, turn.state .. ': ' .. tostring(turn.prompt))
          end
        end
      end
      for _ = 1, #known.permissions + #known.inputs do
        table.insert(busy, 'a question')
      end
    end
    return busy
"""
UNDECIDED = "return #require('tark.review.hunks').undecided()"
# The plugin shows the same message once within a second: the next test can wait for one that this test has seen.
FORGET = """
    local state = require('tark.state')
    for _, known in ipairs(state.all()) do
      known.transcripts, known.hunks = {}, {}
      require('tark.state.sessions').select_session(known, nil)
    end
    for number = 1, 9 do
      local name, value = debug.getupvalue(require('tark.notify').info, number)
      if name == 'shown_at' then
        for text in pairs(value) do
          value[text] = nil
        end
      end
    end
    vim.cmd('messages clear')
"""
# What tests change in Neovim. Their autocommands are in the group `of_a_test`.
CLOSE = """
    vim.o.columns, vim.o.lines = 120, 40
    vim.cmd('set confirm& selection& autoread& laststatus& statusline&')
    vim.api.nvim_create_augroup('of_a_test', {})
    vim.cmd('silent! tabonly! | silent! only! | silent! %bwipeout!')
    vim.fn.setqflist({}, 'f')
"""


def come_to_rest(neovim: Neovim) -> None:
    """Leaves the windows, the buffers and the session as they are."""
    neovim.live_on()
    type_all(neovim)
    neovim.lua(CANCEL)
    quiet(neovim)
    neovim.lua(REJECT)
    neovim.until(lambda: neovim.lua(UNDECIDED) == 0, "nothing is to be decided")
    quiet(neovim)


def clear(neovim: Neovim) -> None:
    """After `come_to_rest`: closes every window and buffer, and forgets what was. Its working folder stays."""
    neovim.lua(CLOSE)
    forget(neovim)


def forget(neovim: Neovim) -> None:
    """No turn, no hunk and no message is known any more; the next turn starts a new session."""
    neovim.lua(FORGET)


def type_all(neovim: Neovim) -> None:
    """Neovim has read all keys, and is in normal mode."""
    neovim.lua("vim.g.tark_test_typed = nil")
    neovim.keys("<C-\\><C-n>:let g:tark_test_typed = 1<CR>")
    neovim.until(lambda: not neovim.asks and neovim.lua("return vim.g.tark_test_typed"), "all keys are read")


def quiet(neovim: Neovim) -> None:
    neovim.until(lambda: neovim.lua(BUSY) == [], f"every turn has ended, not {neovim.lua(BUSY)}")
