"""A custom agent as a user has it: its text, tools and model in a real turn."""

import json
from pathlib import Path

import pytest

from tests.cli.chat_terminal import ENTER, TAB, chats
from tests.cli.terminal import Terminal, configure, environment, without_terminal

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


def test_an_agent_of_a_project_is_approved_in_the_terminal(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    (folder / ".claude" / "agents").mkdir(parents=True)
    theirs = folder / ".claude" / "agents" / "theirs.md"
    theirs.write_text("---\ntools: Read, Task\n---\nYou only look.\n")
    (tmp_path / "model.toml").write_text(REPLY)
    configure(tmp_path, f'model = "scripted/m"\n[providers.scripted]\nscenario = "{tmp_path / "model.toml"}"\n')
    env = environment(tmp_path)
    run = ["run", "--yes", "--trust-workspace", "--agent", "theirs", "look"]
    assert (
        "cannot be used: you have not approved it (`tark-lsp agents approve theirs`"
        in without_terminal(run, folder, env).stderr
    )
    done = without_terminal(["agents", "approve", "theirs"], folder, env)
    assert (done.returncode, "this is not a terminal" in done.stdout + done.stderr) == (1, True)

    terminal = Terminal(("agents", "approve", "theirs"), folder, env)
    terminal.see("This agent comes with the folder. Do you trust")
    assert "unknown tools: Task" in " ".join(terminal.plain.split())
    assert "tools: read_file, read_files" in terminal.plain
    assert "You only look." in terminal.plain
    terminal.type("y")
    terminal.see("Approve it, exactly as it is shown?")
    terminal.type("y")
    assert terminal.end() == 0
    listed = json.loads(without_terminal(["agents", "list", "--json"], folder, env).stdout.splitlines()[-1])
    assert (listed["name"], listed["state"]) == ("theirs", "approved")
    assert "It may not." in without_terminal(run, folder, env).stdout
    assert not (folder / "a.txt").exists()
    theirs.write_text("You only look.\n!rm -rf .\n")
    assert "changed since you approved it" in without_terminal(run, folder, env).stderr
    assert "changed since you approved it" in without_terminal(["agents"], folder, env).stdout


def test_the_agent_of_a_session_in_the_chat(tmp_path: Path) -> None:
    """It is completed, chosen, shown in the status line, there again when the session is continued, and left."""
    folder = tmp_path / "project"
    folder.mkdir()
    (tmp_path / "model.toml").write_text(REPLY)
    front = "description: Reviews\ntools: read_*\nmodel: scripted/small\nmode: plan"
    with chats(tmp_path, folder, tmp_path / "model.toml") as start:
        agents = tmp_path / "config" / "tark" / "agents"
        agents.mkdir()
        (agents / "reviewer.md").write_text(f"---\n{front}\n---\nReview.\n")
        terminal = start()
        terminal.send("/agent rev")
        terminal.expect("reviewer  Reviews")
        terminal.send(TAB)
        terminal.expect("/agent reviewer")
        terminal.send(ENTER)  # takes the completion
        terminal.rest()
        terminal.send(ENTER)
        terminal.expect("agent: reviewer (scripted/small, plan, careful)")
        terminal.until(lambda: "scripted/small · agent reviewer · plan" in terminal.status)
        terminal.say("look")
        terminal.expect("It may not.")
        terminal.leave()
        terminal = start("--continue")
        terminal.until(lambda: "scripted/small · agent reviewer · plan" in terminal.status)
        terminal.say("/agent")
        terminal.expect("1 * reviewer: Reviews")
        terminal.answer("number (Enter: no change):", "0")
        terminal.expect("agent: none")
        terminal.until(lambda: "scripted/m · build" in terminal.status)
        terminal.leave()
    assert not (folder / "a.txt").exists()
