"""A real Neovim, driven as a user drives it: by keys."""

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import psutil
import pynvim  # type: ignore[import-untyped]  # it has no types

LIMIT_SECONDS = 45.0
HIT_ENTER = "r"
"""The mode in which Neovim waits until the user has read its messages (`:help mode()`)."""
INIT = Path(__file__).with_name("init.lua")
# A list of choices can open the moment another one closes, so that no caller sees that none was open in between.
COUNT_LISTS = """
    local path = ...
    local inputlist = vim.fn.inputlist
    vim.fn.inputlist = function(choices)
      vim.fn.writefile({ 'opened' }, path, 'a')
      local choice = inputlist(choices)
      vim.fn.writefile({ 'closed' }, path, 'a')
      return choice
    end
"""
READ_MESSAGES = """
    vim.uv.new_timer():start(0, 50, function()
      if vim.api.nvim_get_mode().mode == 'r' then vim.api.nvim_input('<CR>') end
    end)
"""
T = TypeVar("T")


def wait_for_end(process: psutil.Process, seconds: float = 20.0) -> None:
    """For a process that can have lost its parent: psutil would also wait until somebody reaps it."""
    deadline = time.monotonic() + seconds
    with suppress(psutil.NoSuchProcess):
        while process.status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < deadline, f"it runs: {process.cmdline()}"
            time.sleep(0.02)


class Neovim:
    """A buffer is a list of lines without their ends. Lines and columns count from 1, as on the screen."""

    def __init__(self, binary: Path, folder: Path, env: Mapping[str, str], init: Path | None = INIT) -> None:
        """`init`: an init.lua, and nothing else is loaded; None: everything in the home that `env` names."""
        loaded = ["--clean", "-u", str(init)] if init else []
        argv = [str(binary), "--embed", "--headless", *loaded]
        environment = [f"{name}={value}" for name, value in env.items()]
        self._nvim = pynvim.attach("child", argv=["env", "-i", *environment, *argv])
        # A call to a Neovim that asks something never returns. If its process ends, the call fails instead.
        self._process = psutil.Process(self.lua("return vim.fn.getpid()"))
        self._limit: threading.Timer | None = None
        self.live_on()
        self._nvim.command(f"cd {folder}")
        # A screen, so that it asks there and not on standard error.
        self._nvim.ui_attach(120, 40, rgb=True)
        # After a list of choices it waits for seconds before it shows "-- VISUAL --" again, so that the user can read.
        self.lua("vim.o.showmode = false")
        self.lua("vim.api.nvim_create_autocmd('LspProgress', { pattern = 'end', command = 'let g:turns_ended = 1' })")
        self._list_log = folder.parent / "lists_closed.txt"
        self.lua(COUNT_LISTS, str(self._list_log))
        self._closed = False

    def live_on(self) -> None:
        """Restarts the time limit: the next test starts."""
        if self._limit is not None:
            self._limit.cancel()
        self._limit = threading.Timer(LIMIT_SECONDS, self._process.kill)
        self._limit.daemon = True
        self._limit.start()

    def pause_limit(self) -> None:
        """No time limit until `live_on`: the tests that follow use another Neovim."""
        if self._limit is not None:
            self._limit.cancel()

    def keys(self, keys: str) -> None:
        """Types keys in the notation of `:help key-notation`. Also works while Neovim waits for an answer."""
        self._nvim.api.input(keys)

    def read_messages(self) -> None:
        """From now on, Enter is pressed whenever Neovim waits until its messages are read.

        It does so if two come at a time, of the server and its own, and whether they do depends on the machine. Neovim
        presses it itself: a call that comes in such a moment never returns.
        """
        self.lua(READ_MESSAGES)

    def resize(self, columns: int, lines: int) -> None:
        """Resizes the screen."""
        self._nvim.ui_try_resize(columns, lines)

    def undo(self) -> None:
        """Undoes once. Leaves visual mode first."""
        self.keys("<Esc>u")

    def lua(self, code: str, *arguments: Any) -> Any:
        """Not to be called while Neovim waits for an answer."""
        return self._nvim.exec_lua(code, *arguments)

    def open(self, path: Path) -> None:
        """Returns when the language server is attached."""
        self._nvim.command(f"edit {path}")
        ready = "local c = vim.lsp.get_clients({ bufnr = 0 })[1]; return c ~= nil and c.initialized"
        self.until(lambda: self.lua(ready), "the language server attached")

    @property
    def lines(self) -> list[str]:
        return list(self.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"))

    @property
    def windows(self) -> list[list[str]]:
        """The lines of every window."""
        code = """
            return vim.tbl_map(function(window)
              return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
            end, vim.api.nvim_list_wins())
        """
        return list(self.lua(code))

    @property
    def asks(self) -> bool:
        """Does it wait for an answer on its command line?"""
        mode = self._nvim.api.get_mode()
        return bool(mode["blocking"]) or mode["mode"].startswith("c")

    def choose(self, number: int) -> None:
        """Answer the list of choices that is open or about to open."""

        def opened() -> bool:
            if self._nvim.api.get_mode()["mode"] == HIT_ENTER:  # it shows messages before the list
                self.keys("<CR>")
            return self._lists("opened") > self._lists("closed")

        self.until(opened, "a list of choices")
        closed = self._lists("closed")
        self.keys(f"{number}<CR>")
        self.until(lambda: self._lists("closed") > closed, "the list of choices closed")

    def action_titles(self, start: int, end: int) -> list[str]:
        """Titles of the code actions for whole lines, in the order in which Neovim lists them."""
        code = """
            local start, stop = ...
            local params = vim.lsp.util.make_given_range_params({ start, 0 }, { stop, 2147483647 }, 0, 'utf-8')
            params.context = { diagnostics = {}, triggerKind = 1 }
            local answers = vim.lsp.buf_request_sync(0, 'textDocument/codeAction', params, 20000)
            local titles = {}
            for _, answer in pairs(answers) do
              for _, action in ipairs(answer.result or {}) do
                table.insert(titles, action.title)
              end
            end
            return titles
        """
        return list(self.lua(code, start, end))

    def run_action(self, start: int, end: int, title: str) -> None:
        """Select whole lines, press the key for code actions, choose the one whose title contains `title`."""
        titles = self.action_titles(start, end)
        numbers = [number for number, listed in enumerate(titles, 1) if title in listed]
        assert len(numbers) == 1, f"{title!r} is not one of {titles}"
        self.keys(f"<Esc>{start}GV{end}Ggra")
        self.choose(numbers[0])

    def until(self, condition: Callable[[], T], what: str, seconds: float = 20.0) -> T:
        deadline = time.monotonic() + seconds
        while not (value := condition()):
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {seconds} s: {what}\n{self._state()}")
            time.sleep(0.02)
        return value

    def messages(self) -> str:
        return str(self.lua("return vim.fn.execute('messages')"))

    def _lists(self, what: str) -> int:
        """How many lists of choices were `opened` or `closed`."""
        return self._list_log.read_text().splitlines().count(what) if self._list_log.exists() else 0

    @property
    def idle(self) -> bool:
        """A turn of the language server has shown progress, and none does any more."""
        return bool(self.lua("return vim.g.turns_ended"))

    def find_server(self) -> psutil.Process | None:
        """The language server, a child of Neovim, if one runs."""
        with suppress(psutil.NoSuchProcess):  # one that ends in this moment
            return next((child for child in self._process.children() if "tark_lsp" in child.cmdline()), None)
        return None

    def processes(self) -> list[psutil.Process]:
        """Neovim's, and all that it started."""
        return [self._process, *self._process.children(recursive=True)]

    def server_process(self) -> psutil.Process:
        server = self.find_server()
        assert server is not None
        return server

    def close(self) -> None:
        """Quits as a user does, even if it asks something. The language server ends with it."""
        if self._closed:
            return
        self._closed = True
        with suppress(EOFError, OSError):  # it has quit, or quits before it answers
            if self.asks:
                self.keys("<Esc>")
                self.until(lambda: not self.asks, "the list of choices closed")
            self._nvim.command("qall!")
        self._nvim.close()
        if self._limit is not None:
            self._limit.cancel()
        with suppress(psutil.NoSuchProcess):
            self._process.wait(5)

    def _state(self) -> str:
        return "it waits for an answer" if self.asks else f"{self.messages()}\n{self.windows}"
