"""`tark-lsp mcp import`: what it adds, and what it says about each server that it leaves out."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests import forked
from tests.cli.terminal import configure, environment

pytestmark = pytest.mark.slow  # each test starts programs

UVX = {"command": "uvx", "args": ["a"], "env": {"K": "${K}"}}


def bring(home: Path, *arguments: str, folder: Path | None = None) -> tuple[int, str]:
    done = forked.run(["mcp", "import", *arguments], folder or home, environment(home))
    return done.returncode, (done.stdout + done.stderr).decode()


def config_of(home: Path) -> str:
    return (home / "config" / "tark" / "config.toml").read_text()


def write(file: Path, value: Any) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(value))


def test_servers_of_other_programs_are_imported(tmp_path: Path) -> None:
    write(tmp_path / ".cursor" / "mcp.json", {"mcpServers": {"One": UVX, "two": UVX}})
    code, shown = bring(tmp_path, "cursor", "One")
    assert code == 0
    assert "1 server was added" in shown
    assert "one: if the program has to download the server, write network = true in its table" in shown
    assert config_of(tmp_path) == '[mcp.servers.one]\ncommand = "uvx"\nargs = ["a"]\nenv = { "K" = "${K}" }\n'
    code, shown = bring(tmp_path, "cursor", "two", "--network")
    assert code == 0
    assert "download" not in shown
    assert config_of(tmp_path).endswith('env = { "K" = "${K}" }\nnetwork = true\n')
    assert "no file of opencode" in bring(tmp_path, "opencode")[1]


def test_each_server_that_is_left_out_is_named_with_the_reason(tmp_path: Path) -> None:
    configure(tmp_path, '[mcp.servers.one]\ncommand = "x"\n')
    file = tmp_path / ".cursor" / "mcp.json"
    write(file, {"mcpServers": {"one": UVX, "two": {"type": "sse"}, "three": UVX}})
    code, shown = bring(tmp_path, "cursor", "one", "two", "nope")
    assert code == 1
    assert f"one of {file} is left out: you have a server of this name" in shown
    assert f"{file}: two: it uses the old transport HTTP+SSE" in shown
    assert f"there is no server 'nope' that can be used in {file}" in shown
    assert "three" not in shown
    assert "0 servers were added" in shown
    write(file, {"mcpServers": {}})
    assert f"{file} has no MCP servers" in bring(tmp_path, "cursor")[1]


def test_servers_that_claude_code_has_for_this_folder_only_are_imported(tmp_path: Path) -> None:
    here = (tmp_path / "here").resolve()
    here.mkdir()
    local = {"mcpServers": {"notes": {"command": "local-notes"}}}
    elsewhere = {"mcpServers": {"other": UVX, "more": UVX}}
    projects = {str(here): local, "/elsewhere": elsewhere, "/none": {}}
    write(tmp_path / ".claude.json", {"mcpServers": {"notes": UVX, "time": UVX}, "projects": projects})
    code, shown = bring(tmp_path, "claude-code", folder=here)
    assert code == 0
    assert config_of(tmp_path).startswith('[mcp.servers.notes]\ncommand = "local-notes"\n\n[mcp.servers.time]\n')
    assert "'notes' is left out: another server has the name notes" in shown
    assert "other, more of /elsewhere left out: to import them, run this command in that folder" in shown
