"""The six real MCP servers in the terminal: approved with `tark-lsp mcp`, and used in one turn of the chat."""

from pathlib import Path

import pytest

from tests.cli.chat_terminal import chats
from tests.cli.terminal import Terminal, environment, without_terminal
from tests.mcp.real_servers import DONE, PROMPT, SERVERS, make_repository, scenario, server_tables

pytestmark = [pytest.mark.exhaustive, pytest.mark.slow]


def test_one_tool_of_each_in_one_turn(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    make_repository(folder)
    (tmp_path / "model.toml").write_text(scenario(folder))
    env = environment(tmp_path)
    with chats(tmp_path, folder, tmp_path / "model.toml", env) as start:
        with (tmp_path / "config" / "tark" / "config.toml").open("a") as config:
            config.write(server_tables(folder))
        without_terminal(["permissions", "trust"], folder, env)
        for name in SERVERS:
            approve(name, folder, env)
        chat = start(size=(120, 60))
        chat.say(PROMPT)
        for number in range(1, len(SERVERS) + 1):
            chat.answer("Allow? [y]es", "y", times=number)
        chat.expect(DONE)
        chat.expect(f"fetch said: {SERVERS['fetch'].said}")
        assert "failed: the MCP server fetch: Error" in " ".join(chat.shown.split())
        for name, real in SERVERS.items():
            assert f"mcp__{name}__{real.tool}" in chat.shown
            assert f"{name} said: {real.said}" in chat.shown


def approve(name: str, folder: Path, env: dict[str, str]) -> None:
    terminal = Terminal(("mcp", "approve", name), folder, env)
    for question in (
        "Start it, to see its tools? [y]es, [n]o, then Enter: ",
        " shown? [y]es, [n]o, then Enter: ",
    ):
        terminal.see(question)
        terminal.type("y")
    assert terminal.end() == 0
