"""Waiting requests in a real Neovim with the plugin: turns that ask, the float, and its keys."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.editors.neovim.driver import Neovim

Start = Callable[..., Neovim]
SCENARIO = Path(__file__).with_name("permission.toml")
TEXT = "one = 1\ntwo = 2\nthree = 3\nfour = 4\nfive = 5\nsix = 6\nseven = 7\neight = 8\nnine = 9\n"
BEGIN = """
    local prompt, session = ...
    local clients, requests = require('tark.server.clients'), require('tark.server.requests')
    local argument = { prompt = prompt, sessionId = session }
    requests.send_command(clients.for_buffer(), 'tark.turn.start', argument, function(problem, answer)
      vim.g.tark_test_turn = answer or { problem = problem }
    end)
"""
CANCEL = """
    local clients, requests = require('tark.server.clients'), require('tark.server.requests')
    requests.send_command(clients.for_buffer(), 'tark.turn.cancel', vim.empty_dict())
"""
ANEW = """
    vim.cmd('silent! only | edit! a.py | messages clear')
    vim.api.nvim_win_set_cursor(0, { 1, 0 })
"""
TURNS = """
    local turns = {}
    for _, known in ipairs(require('tark.state').all()) do
      for _, transcript in pairs(known.transcripts) do
        vim.list_extend(turns, transcript.turns)
      end
    end
    return turns
"""
FLOAT = """
    local id = require('tark.waiting.window').id()
    if not id then
      return vim.NIL
    end
    local function text(pieces)
      return table.concat(vim.tbl_map(function(piece) return piece[1] end, pieces or {}))
    end
    local config = vim.api.nvim_win_get_config(id)
    return {
      lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(id), 0, -1, false),
      title = text(config.title),
      footer = text(config.footer),
      focused = vim.api.nvim_get_current_win() == id,
      here = require('tark.waiting.window').is_here(),
      listens = require('tark.waiting.card').accepts_keys(),
      above = config.anchor == 'NE',
      height = config.height,
      row = config.row,
      column = config.col,
      width = config.width,
    }
"""


@dataclass(frozen=True, slots=True)
class Float:
    lines: list[str]
    title: str
    footer: str
    focused: bool
    here: bool
    listens: bool
    above: bool
    height: int
    row: int
    column: int
    width: int

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def opened(start: Start, workspace: Path) -> Neovim:
    """Neovim with a.py, and a model that asks many questions."""
    (workspace / "a.py").write_text(TEXT)
    neovim = start(SCENARIO)
    neovim.open(workspace / "a.py")
    return neovim


def open_anew(neovim: Neovim, workspace: Path) -> None:
    """Restores the first state: nothing is left of typed text and created files."""
    neovim.until(lambda: waiting(neovim) == 0 and shown(neovim) is None, "nothing waits")
    for path in workspace.glob("*.txt"):
        path.unlink()
    (workspace / "a.py").write_text(TEXT)
    neovim.lua(ANEW)


def begin(neovim: Neovim, prompt: str, session: str | None = None) -> dict[str, Any]:
    """Starts a turn, in a new session if none is given. Returns its ids."""
    neovim.lua("vim.g.tark_test_turn = nil")
    neovim.lua(BEGIN, prompt, session)
    answer: dict[str, Any] = neovim.until(lambda: neovim.lua("return vim.g.tark_test_turn"), "the turn began")
    assert "problem" not in answer, answer
    return answer


def turn(neovim: Neovim, turn_id: str) -> dict[str, Any]:
    return next((turn for turn in neovim.lua(TURNS) if turn["turnId"] == turn_id), {})


def end(neovim: Neovim, begun: dict[str, Any]) -> dict[str, Any]:
    """Waits until it has ended."""
    neovim.until(lambda: turn(neovim, begun["turnId"]).get("state") == "ended", "the end of the turn")
    return turn(neovim, begun["turnId"])


def said(ended: dict[str, Any]) -> str:
    """The text of the answer."""
    return "".join(block["text"] for block in ended["blocks"] if block["kind"] == "text")


def shown(neovim: Neovim) -> Float | None:
    found = neovim.lua(FLOAT)
    return None if found is None else Float(**found)


def asks(neovim: Neovim, words: str) -> Float:
    """Waits until the float is open and shows this."""

    def found() -> Float | None:
        there = shown(neovim)
        return there if there is not None and words in there.text else None

    there = neovim.until(found, f"the float says {words!r}")
    assert there is not None
    return there


def go(neovim: Neovim) -> Float:
    """Goes to the float by the user's command, and waits until its keys are enabled."""
    neovim.keys("<Esc>:TarkPermission<CR>")
    return live(neovim)


def live(neovim: Neovim) -> Float:
    def listens() -> Float | None:
        there = shown(neovim)
        return there if there is not None and there.listens else None

    there = neovim.until(listens, "the keys of the float live")
    assert there is not None
    return there


def gone(neovim: Neovim) -> None:
    neovim.until(lambda: shown(neovim) is None, "the float is gone")


def waiting(neovim: Neovim) -> int:
    return int(neovim.lua("return #require('tark.state.waiting').all()"))


def mode(neovim: Neovim) -> str:
    return str(neovim.lua("return vim.api.nvim_get_mode().mode"))
