"""Custom agents: what their front matter says, what is left out or dropped, and that they loosen nothing."""

from pathlib import Path

import pytest

from tark_lsp.agent.kinds import KINDS, agent_name, level_of, mode_of, offered_tools
from tark_lsp.context.agents import Agent, find_agents
from tark_lsp.context.sources import Sources
from tark_lsp.messages import ApprovalLevel, Mode
from tark_lsp.tools import load_tools
from tark_lsp.workspace.files import Workspace
from tests.memory import MemoryBuffers


def found(tmp_path: Path, text: str, name: str = "reviewer.md") -> tuple[dict[str, Agent], list[str]]:
    root = tmp_path.resolve() / "project"
    for folder in (root / ".tark/agents", root / ".claude/agents", tmp_path / "own/agents"):
        folder.mkdir(parents=True, exist_ok=True)
    (root / ".tark/agents/theirs.md").write_text("do evil")
    (root / ".claude/agents/theirs.md").write_text("do evil")
    (tmp_path / "own/agents" / name).write_text(text)
    sources = Sources(Workspace([root], MemoryBuffers()), tmp_path / "own")
    return find_agents(sources, load_tools), sources.problems


def agent(tmp_path: Path, front: str) -> Agent:
    return found(tmp_path, f"---\n{front}\n---\nYou review.\n")[0]["reviewer"]


def test_what_the_front_matter_says(tmp_path: Path) -> None:
    front = "description: Reviews\ntools: read_*, search_text\nmodel: local/small\nmode: plan\napproval: manual"
    one = agent(tmp_path, front)
    assert (one.description, one.tools, one.model) == ("Reviews", ("read_*", "search_text"), "local/small")
    assert (one.mode, one.level, one.body) == (Mode.PLAN, ApprovalLevel.MANUAL, "You review.")
    assert "You review." in one.part.text


def test_a_projects_agents_are_not_read(tmp_path: Path) -> None:
    agents, problems = found(tmp_path, "You review.")
    assert (list(agents), problems) == (["reviewer"], [])


WRONG = {
    "no text": ("---\nmode: ask\n---\n", "it has no text"),
    "a mode": ("---\nmode: yolo\n---\nx", "mode: there is no 'yolo'"),
    "a level": ("---\napproval: none\n---\nx", "approval: there is no 'none'"),
    "a model": ("---\nmodel: opus\n---\nx", "model: 'opus' is not <provider>/<model>"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_left_out_is_said(tmp_path: Path, name: str) -> None:
    text, problem = WRONG[name]
    agents, problems = found(tmp_path, text)
    assert agents == {}
    assert problem in problems[0]


def test_what_it_cannot_have_is_dropped_with_a_notice(tmp_path: Path) -> None:
    agents, problems = found(tmp_path, "---\ntools: Bash, read_file, mcp__git__*\npermissionMode: bypass\n---\nx")
    assert agents["reviewer"].tools == ("read_file", "mcp__git__*")
    assert "ignored: permissionMode" in problems[0]
    assert "there are no tools Bash" in problems[1]


def test_it_makes_a_turn_stricter_never_looser(tmp_path: Path) -> None:
    for mode in Mode:
        for level in ApprovalLevel:
            one = agent(tmp_path, f"mode: {mode}\napproval: {level}")
            kind = KINDS["agent"]
            kind = type(kind)(kind.name, agent=one)
            assert mode_of(kind, Mode.ASK) is Mode.ASK
            assert mode_of(kind, Mode.BUILD) is mode
            assert level_of(kind, ApprovalLevel.MANUAL) is ApprovalLevel.MANUAL
            assert level_of(kind, ApprovalLevel.BALANCED) is level
    reads = type(kind)(kind.name, agent=agent(tmp_path, "tools: [read_file, run_command]\nmode: ask"))
    assert list(offered_tools(load_tools(), reads, Mode.BUILD, selection=False)) == ["read_file"]
    assert list(offered_tools(load_tools(), kind, Mode.BUILD, selection=False)) == list(
        offered_tools(load_tools(), KINDS["agent"], Mode.BUILD, selection=False)
    )


def test_how_a_prompt_names_one() -> None:
    assert agent_name("/agent Reviewer look at it") == "reviewer"
    assert agent_name(" /agent reviewer") == "reviewer"
    assert agent_name("/agents reviewer") is None
    assert agent_name("the /agent reviewer") is None
