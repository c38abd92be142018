"""A custom agent as a user has it: its text, tools and model in a real turn."""

from pathlib import Path

import pytest

from tests.cli.terminal import configure, environment, without_terminal

pytestmark = pytest.mark.slow  # each test starts programs

REPLY = """\
wire = "openai-chat"
[[reply]]
tool = "write_file"
text = "It may not."
[[reply]]
calls = [{ name = "write_file", arguments = { path = "a.txt", text = "x" } }]
"""


def test_an_agent_has_its_tools_and_its_model(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (tmp_path / "model.toml").write_text(REPLY)
    configure(tmp_path, f'model = "none/m"\n[providers.scripted]\nscenario = "{tmp_path / "model.toml"}"\n')
    agents = tmp_path / "config" / "tark" / "agents"
    agents.mkdir(parents=True)
    (agents / "reviewer.md").write_text("---\ntools: read_*\nmodel: scripted/small\n---\nYou only review.\n")
    env = environment(tmp_path)
    done = without_terminal(["run", "--yes", "--agent", "reviewer", "look"], folder, env)
    assert "It may not." in done.stdout
    assert not (folder / "a.txt").exists()
    done = without_terminal(["run", "--agent", "nobody", "look"], folder, env)
    assert "there is no agent 'nobody' (your agents are: reviewer)" in done.stderr
    assert without_terminal(["run", "--agent", "a b", "look"], folder, env).returncode == 2
