"""The six real MCP servers in Neovim: approved in `:TarkMcp`, and used in one turn of the chat."""

from pathlib import Path

import pytest

from tests.editors.neovim.plugin.chat import Chat
from tests.editors.neovim.plugin.conftest import Start
from tests.editors.neovim.plugin.test_mcp import Desk
from tests.editors.neovim.plugin.turns import unhurt
from tests.editors.neovim.plugin.waiting import asks, go, gone
from tests.editors.pool import write_settings
from tests.mcp.real_servers import DONE, PROMPT, SERVERS, make_repository, scenario, server_tables

pytestmark = [pytest.mark.editor, pytest.mark.exhaustive]


def test_one_tool_of_each_in_one_turn(start: Start, workspace: Path, tmp_path: Path) -> None:
    make_repository(workspace)
    model, home = tmp_path / "model.toml", tmp_path / "home"
    model.write_text(scenario(workspace))
    write_settings(home, model, review="ask")
    with (home / "config" / "tark" / "config.toml").open("a") as config:
        config.write(server_tables(workspace))
    neovim = start(model)
    neovim.open(workspace / "a.txt")
    desk = Desk(neovim, workspace)
    desk.list()
    neovim.keys("t")
    neovim.choose(1)
    for name, real in SERVERS.items():
        neovim.live_on()
        desk.row(name, "waits for your approval")
        desk.list()
        desk.on(name, "<CR>")
        desk.offer(f"runs: {real.settings(workspace)['command']}")
        neovim.keys("y")
        desk.offer("it calls itself", f"tool {real.tool}")
        neovim.keys("y")
        desk.row(name, f"✓ {name} · running")
    neovim.live_on()
    chat = Chat(neovim)
    chat.open()
    chat.say(PROMPT)
    for name, real in SERVERS.items():
        neovim.live_on()
        asks(neovim, f"mcp__{name}__{real.tool}")
        go(neovim)
        neovim.keys("a")
    gone(neovim)
    chat.until_shown(DONE, f"- fetch said: {SERVERS['fetch'].said}")
    for name, real in SERVERS.items():
        assert any(f"mcp__{name}__{real.tool}" in line for line in chat.shown)
        assert f"- {name} said: {real.said}" in chat.shown
    assert any("✗ mcp__fetch__fetch" in line and "the MCP server fetch: Error" in line for line in chat.shown)
    unhurt(neovim)
