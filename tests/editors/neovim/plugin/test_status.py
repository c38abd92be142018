"""The status: in the statusline, in `:TarkStatus`, and for the user's own autocommands."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.conftest import Start, sharing
from tests.editors.neovim.plugin.killing import kill_for_good
from tests.editors.neovim.plugin.pictures import init
from tests.editors.neovim.plugin.rest import clear
from tests.editors.neovim.plugin.test_commands import SCENARIO, SHAPES
from tests.editors.neovim.plugin.turns import ended, told, unhurt

pytestmark = pytest.mark.editor

STATUSLINE = """
    vim.o.laststatus = 2
    vim.o.statusline = "%{v:lua.require'tark'.status()}"
"""
SHOWN = """
    local row = vim.o.lines - vim.o.cmdheight
    local text = {}
    for column = 1, vim.o.columns do
      table.insert(text, vim.fn.screenstring(row, column))
    end
    return vim.trim(table.concat(text))
"""
RECORD = """
    vim.g.heard = {}
    for _, pattern in ipairs({ 'TarkTurnStart', 'TarkTurnEnd', 'TarkHunks', 'TarkPermission' }) do
      vim.api.nvim_create_autocmd('User', {
        group = 'of_a_test',
        pattern = pattern,
        callback = function(event)
          vim.g.heard = vim.list_extend(vim.g.heard, { { event.match, event.data } })
        end,
      })
    end
    vim.api.nvim_create_autocmd('User', {
      group = 'of_a_test',
      pattern = 'TarkTurnStart',
      callback = function()
        error('of their own')
      end,
    })
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Neovim, Path]]:
    folder = tmp_path_factory.mktemp("status")
    yield from sharing(folder, SCENARIO, init(folder))


@pytest.fixture
def neovim(resting: tuple[Neovim, Path]) -> Neovim:
    neovim, folder = resting
    clear(neovim)
    (folder / "shapes.py").write_text(SHAPES)
    neovim.open(folder / "shapes.py")
    return neovim


def shown(neovim: Neovim) -> str:
    return str(neovim.lua(SHOWN))


def data(neovim: Neovim) -> dict[str, Any]:
    return dict(neovim.lua("return require('tark').status_data()"))


def test_the_statusline_follows(start: Start, workspace: Path, tmp_path: Path) -> None:
    """From no server to one that is killed. One window, so one statusline."""
    (workspace / "shapes.py").write_text(SHAPES)
    neovim = start(SCENARIO, init(tmp_path))
    assert neovim.lua("return require('tark').status()") == ""
    assert data(neovim)["state"] == "idle"
    neovim.keys(":TarkStatus<CR>")
    neovim.until(lambda: "No server runs" in str(neovim.windows), "it says that none runs")
    neovim.lua("vim.cmd('only')")
    neovim.lua(STATUSLINE)
    neovim.open(workspace / "shapes.py")
    neovim.keys(":Tark talk for ever<CR>")
    neovim.until(lambda: shown(neovim).startswith("tark ⠋"), "the spinner came by")
    neovim.until(lambda: shown(neovim).startswith("tark ⠹"), "it turned")
    assert data(neovim)["state"] == "working"
    assert data(neovim)["turns"] == 1
    neovim.keys(":TarkStop<CR>")
    neovim.until(lambda: shown(neovim) == "", "it says nothing")

    neovim.keys(":Tark rewrite the area in shapes.py<CR>")
    neovim.until(lambda: shown(neovim) == "tark ? 1 waiting, 1 hunk", "it says that something waits")
    neovim.keys(":TarkReject!<CR>")
    ended(neovim, 2)
    neovim.keys(":TarkMode plan<CR>")
    told(neovim, "mode of this session is plan")
    neovim.keys(":Tark propose an area<CR>")
    ended(neovim, 3)
    neovim.until(lambda: shown(neovim) == "tark 1 hunk", "it counts the hunks")
    assert {key: data(neovim)[key] for key in ("state", "hunks", "waiting", "turns", "model", "mode")} == {
        "state": "idle",
        "hunks": 1,
        "waiting": 0,
        "turns": 0,
        "model": "scripted/editors",
        "mode": "plan",
    }
    assert data(neovim)["contextUsed"] > 0
    neovim.keys(":TarkReject!<CR>")
    neovim.until(lambda: shown(neovim) == "", "it says nothing again")
    kill_for_good(neovim)
    neovim.until(lambda: shown(neovim) == "tark: no server", "the server is missed")
    assert data(neovim)["state"] == "dead"
    neovim.keys(":TarkRestart<CR>")
    neovim.until(lambda: shown(neovim) == "", "another one is there")
    assert data(neovim)["state"] == "idle"
    unhurt(neovim)


def test_the_report(neovim: Neovim, folder: Path) -> None:
    neovim.keys(":Tark rewrite the area in shapes.py<CR>")
    neovim.until(lambda: data(neovim)["waiting"] == 1, "the turn waits")
    neovim.keys(":TarkStatus<CR>")
    neovim.until(lambda: "1 running" in str(neovim.windows), "the report came")
    (report,) = (window for window in neovim.windows if any(line.startswith("server") for line in window))
    rows = {line.split()[0]: line for line in report}
    assert str(folder) in rows["server"]
    assert "rewrite the area" in rows["session"]
    assert "scripted/editors" in rows["model"]
    assert "build · approval careful" in rows["mode"]
    assert "1 permission" in rows["waiting"]
    assert "1 hunk in 1 file" in rows["hunks"]
    assert "1 request" in rows["usage"]
    assert neovim.lua("return vim.bo.buftype") == ""  # the person is where they were

    neovim.keys(":TarkContext<CR>")
    neovim.until(lambda: "tokens in the next prompt" in str(neovim.windows), "the context came")
    (context,) = (window for window in neovim.windows if any("in the next prompt" in line for line in window))
    assert any("system prompt" in line for line in context)
    assert any("message" in line for line in context)


def test_the_context_is_readable_from_the_prompt_of_the_chat(neovim: Neovim) -> None:
    neovim.keys(":Tark rewrite the area in shapes.py<CR>")
    neovim.until(lambda: data(neovim)["waiting"] == 1, "the turn waits")
    neovim.keys(":TarkChat<CR><Esc>:TarkContext<CR>")
    neovim.until(lambda: "tokens in the next prompt" in str(neovim.windows), "the context came")
    seen = neovim.lua(
        "for _, window in ipairs(vim.api.nvim_list_wins()) do\n"
        "  local buffer = vim.api.nvim_win_get_buf(window)\n"
        "  if vim.api.nvim_buf_get_lines(buffer, 0, 1, false)[1]:find('in the next prompt') then\n"
        "    return { vim.api.nvim_win_get_height(window), vim.api.nvim_buf_line_count(buffer) }\n"
        "  end\n"
        "end"
    )
    assert seen[0] >= seen[1] > 3


def test_autocommands(neovim: Neovim, folder: Path) -> None:
    """One that fails has no effect on the plugin."""
    neovim.lua(RECORD)
    neovim.keys(":Tark rewrite the area in shapes.py<CR>")
    neovim.until(lambda: neovim.asks, "Neovim shows their error")
    neovim.keys("<CR>")
    neovim.until(lambda: data(neovim)["waiting"] == 1, "the turn waits")
    neovim.keys(":TarkAccept!<CR>")
    turn = ended(neovim, 1)
    neovim.until(lambda: data(neovim)["waiting"] == 0, "nothing waits")
    neovim.until(lambda: "TarkTurnEnd" in dict(neovim.lua("return vim.g.heard")), "it was told of the end")
    heard: list[tuple[str, Any]] = neovim.lua("return vim.g.heard")
    first = dict(reversed(heard))
    last = dict(heard)
    assert first["TarkTurnStart"]["prompt"] == turn["prompt"]
    assert first["TarkTurnStart"]["sessionId"] == turn["session"]
    assert first["TarkTurnStart"]["turnKind"] == "agent"
    assert first["TarkHunks"]["hunks"][0]["newText"] == "    return math.tau / 2 * radius**2\n"
    assert first["TarkHunks"]["uri"] == (folder / "shapes.py").as_uri()
    assert last["TarkHunks"]["hunks"] == []
    assert [len(one["waiting"]) for name, one in heard if name == "TarkPermission"][-1] == 0
    assert max(len(one["waiting"]) for name, one in heard if name == "TarkPermission") == 1
    assert last["TarkTurnEnd"]["stopReason"] == "end_turn"
    assert [edit["state"] for edit in last["TarkTurnEnd"]["edits"]] == ["applied"]
    assert "of their own" in neovim.messages()
