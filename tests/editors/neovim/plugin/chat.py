"""The chat of the plugin as a user sees it: its two windows, for any position of the cursor."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.rest import forget
from tests.editors.neovim.plugin.waiting import Start

SCENARIO = Path(__file__).with_name("chat.toml")
SHAPES = """import math


def area(radius):
    return math.pi * radius**2


def volume(radius):
    return 4 / 3 * math.pi * radius**3
"""
WINDOWS = """
    local found = {}
    for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
      local bufnr = vim.api.nvim_win_get_buf(window)
      table.insert(found, {
        window = window,
        part = vim.w[window].tark_chat or 'other',
        name = vim.fs.basename(vim.api.nvim_buf_get_name(bufnr)),
        lines = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false),
        height = vim.api.nvim_win_get_height(window),
        bar = vim.wo[window].winbar,
        current = window == vim.api.nvim_get_current_win(),
        first = vim.fn.line('w0', window),
        last = vim.fn.line('w$', window),
      })
    end
    return found
"""


# Everything that a test of the chat changes in Neovim: windows, buffers, the prompt.
RESET = """
    require('tark.config').get().chat.position = 'right'
    vim.o.columns, vim.o.lines = 120, 40
    vim.cmd('silent! tabonly')
    require('tark.chat').show({ focus = false })
    require('tark.chat.panel').hide()
    vim.cmd('silent! only')
    vim.cmd('silent! edit! shapes.py')
    for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
      if bufnr ~= vim.api.nvim_get_current_buf() and vim.bo[bufnr].buftype ~= 'nofile' then
        vim.api.nvim_buf_delete(bufnr, { force = true })
      end
    end
    vim.api.nvim_buf_set_lines(require('tark.chat.buffers').prompt(), 0, -1, false, {})
"""


def start_again(neovim: Neovim, workspace: Path) -> None:
    """Restores the first state of `open_shapes`: the file alone, no chat, and no session."""
    (workspace / "shapes.py").write_text(SHAPES)
    neovim.lua(RESET)
    forget(neovim)
    neovim.until(lambda: neovim.lines == SHAPES.splitlines(), "the file")


def open_shapes(start: Start, workspace: Path, **more: Any) -> Neovim:
    """A Neovim with a Python file and its server."""
    (workspace / "shapes.py").write_text(SHAPES)
    neovim = start(SCENARIO, **more)
    neovim.open(workspace / "shapes.py")
    return neovim


@dataclass
class Chat:
    neovim: Neovim

    def windows(self) -> list[dict[str, Any]]:
        """The windows of the current tab page."""
        return list(self.neovim.lua(WINDOWS))

    def parts(self) -> list[str]:
        """The windows in order: `transcript`, `prompt`, or the name of a file."""
        return [window["name"] if window["part"] == "other" else window["part"] for window in self.windows()]

    def window(self, part: str) -> dict[str, Any]:
        (found,) = (window for window in self.windows() if window["part"] == part)
        return found

    @property
    def shown(self) -> list[str]:
        """The lines of the transcript, without blank lines and the first line."""
        return [line for line in self.window("transcript")["lines"][1:] if line]

    @property
    def last(self) -> str:
        """The last line that is shown."""
        return (self.shown or [""])[-1]

    @property
    def endings(self) -> list[str]:
        """The usage of turns, which is shown at their ends."""
        return [line for line in self.shown if line.endswith(" tokens")]

    @property
    def answer(self) -> list[str]:
        """What is shown below the last prompt."""
        lines = self.shown
        return lines[len(lines) - lines[::-1].index("## You") + 1 :]

    @property
    def prompt(self) -> str:
        return "\n".join(self.window("prompt")["lines"])

    @property
    def current(self) -> str:
        (part,) = (
            window["name"] if window["part"] == "other" else window["part"]
            for window in self.windows()
            if window["current"]
        )
        return str(part)

    @property
    def mode(self) -> str:
        return str(self.neovim.lua("return vim.fn.mode()"))

    def open(self) -> None:
        """Leaves the insert mode that it starts in an empty prompt."""
        self.neovim.keys("<Esc>:TarkChat<CR>")
        self.neovim.until(lambda: self.current == "prompt", "the chat")
        self.neovim.keys("<Esc>")
        self.neovim.until(lambda: self.mode == "n", "normal mode")

    def say(self, words: str) -> None:
        """Types into the prompt, which has the focus, and sends. In normal mode before and after."""
        self.neovim.keys(f"i{words}<Esc><CR>")

    def until_shown(self, *lines: str) -> None:
        self.neovim.until(lambda: all(line in self.shown for line in lines), f"the chat shows {lines}")

    def until_over(self, prompts: int = 1) -> None:
        """Waits until this number of prompts was sent, and none runs or waits any more."""
        states = """
            local known = require('tark.chat.shown_session').state()
            local talk = known and known.transcripts[known.session_id or false]
            return vim.tbl_map(function(turn) return turn.state end, talk and talk.turns or {})
        """
        self.neovim.until(lambda: self.neovim.lua(states) == ["ended"] * prompts, f"{prompts} turns ended")
        self.neovim.until(lambda: len(self.endings) == prompts, "all is drawn")
