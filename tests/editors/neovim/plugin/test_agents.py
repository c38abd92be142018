"""A custom agent and a hook that formats: chosen, shown, approved and left by `:TarkAgents`."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.conftest import Start, make_workspace, starting
from tests.editors.neovim.plugin.turns import ended, told, unhurt
from tests.editors.pool import write_settings
from tests.editors.reviewer import SCENARIO, write_reviewer

pytestmark = pytest.mark.editor

INIT = """
vim.opt.runtimepath:prepend(vim.env.PLUGIN)
require('tark').setup({{
  cmd = {{ {python}, '-m', 'tark_lsp' }},
  root_markers = {{ '.project' }},
  settings = {{ workspaceTrusted = true, editReview = 'after' }},
}})
"""


LAST_MODEL = """
    local known = require('tark.state').all()[1]
    local turns = known.transcripts[known.session_id].turns
    return turns[#turns].model
"""


@pytest.fixture
def started(tmp_path: Path) -> Iterator[tuple[Neovim, Path]]:
    workspace = make_workspace(tmp_path)
    scenario, init = tmp_path / "scenario.toml", tmp_path / "init.lua"
    scenario.write_text(SCENARIO)
    init.write_text(INIT.format(python=json.dumps(sys.executable)))
    write_settings(tmp_path / "home", scenario, review="after")
    write_reviewer(tmp_path / "home" / "config" / "tark", workspace)
    starts = starting(tmp_path)
    start: Start = next(starts)
    neovim = start(scenario, init)
    neovim.open(workspace / "a.py")
    yield neovim, workspace
    next(starts, None)


def status(neovim: Neovim) -> dict[str, Any]:
    data = neovim.lua("local d = require('tark').status_data() return { d.agent or '', d.model or '', d.mode or '' }")
    return dict(zip(("agent", "model", "mode"), data, strict=True))


def test_an_agent_that_reads_and_a_hook_that_formats(started: tuple[Neovim, Path]) -> None:
    neovim, workspace = started
    neovim.keys(":Tark hello<CR>")
    ended(neovim, 1)
    neovim.keys("<Esc>:TarkAgents<CR>")
    neovim.choose(2)
    told(neovim, "agent of this session is reviewer")
    shown = {"agent": "reviewer", "model": "scripted/small", "mode": "ask"}
    neovim.until(lambda: status(neovim) == shown, "the agent is shown")
    neovim.keys(":Tark look<CR>")
    ended(neovim, 2)
    assert neovim.lua(LAST_MODEL) == "scripted/small"
    assert not (workspace / "b.py").exists()

    neovim.keys("<Esc>:TarkAgents the<Tab><CR>")
    neovim.until(lambda: "You are theirs." in "\n".join(neovim.lines), "its whole file")
    assert status(neovim)["agent"] == "reviewer"
    neovim.keys("y")
    told(neovim, "agent of this session is theirs")

    neovim.keys(":TarkAgents<CR>")
    neovim.choose(1)
    told(neovim, "agent of this session is none")
    neovim.until(lambda: status(neovim)["agent"] == "" and status(neovim)["mode"] == "build", "no agent is shown")
    neovim.keys(":Tark edit<CR>")
    ended(neovim, 3)
    neovim.until(lambda: neovim.lua("return vim.fn.getbufline('a.py', 1, '$')") == ["x = 2"], "what the hook formatted")
    unhurt(neovim)
