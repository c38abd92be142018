"""Kills the language server of a Neovim, as a crash does. The plugin starts another one, but not too often."""

from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.turns import told

ENDED = "the server ended (killed by signal 9)"
ENDED_TOO_OFTEN = "the server ended 3 times within a minute (killed by signal 9) and stays down"


def kill(neovim: Neovim) -> None:
    """And waits for the next server."""
    server = neovim.server_process()
    server.kill()
    server.wait(20)
    neovim.until(lambda: (other := neovim.find_server()) is not None and other.pid != server.pid, "another server")
    attached(neovim)


def kill_for_good(neovim: Neovim) -> None:
    """Until no other server is started: what a user sees without a server stays long enough to be seen."""
    for _ in range(2):
        kill(neovim)
    neovim.server_process().kill()
    told(neovim, ENDED_TOO_OFTEN)


def attached(neovim: Neovim) -> None:
    """Waits until a server knows the document."""
    code = """
        local client = require('tark.server.clients').for_buffer()
        return client ~= nil and client.initialized and vim.lsp.buf_is_attached(0, client.id)
    """
    neovim.until(lambda: neovim.lua(code), "the server knows the document")
