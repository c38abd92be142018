"""Custom agents: what their front matter says, what is left out or dropped, and that they loosen nothing."""

import re
from pathlib import Path

import pytest

from tark_lsp.agent.kinds import KINDS, agent_name, level_of, mode_of, offered_tools
from tark_lsp.agent_offers import shown_agent
from tark_lsp.context.agents import Agent, find_agents
from tark_lsp.context.claude_tools import CLAUDE_TOOLS, our_tools
from tark_lsp.context.sources import Sources
from tark_lsp.messages import ApprovalLevel, Mode
from tark_lsp.tools import load_tools
from tark_lsp.workspace.files import Workspace
from tests.memory import MemoryBuffers

DOC = Path(__file__).parents[2] / "docs" / "agents.md"
READS = {"read_file": True, "search_text": True, "write_file": False, "run_command": False, "run_tests": False}


def tools() -> dict[str, bool]:
    return READS


def found(tmp_path: Path, text: str, name: str = "reviewer.md") -> tuple[dict[str, Agent], list[str]]:
    """Without those of the project."""
    root = tmp_path.resolve() / "project"
    for folder in (root / ".tark/agents", root / ".claude/agents", tmp_path / "own/agents"):
        folder.mkdir(parents=True, exist_ok=True)
    (root / ".tark/agents/theirs.md").write_text("do evil")
    (root / ".claude/agents/theirs.md").write_text("do evil")
    (tmp_path / "own/agents" / name).write_text(text)
    sources = Sources(Workspace([root], MemoryBuffers()), tmp_path / "own")
    return find_agents(sources, tools, offers=False), sources.problems


def offered(tmp_path: Path, text: str, name: str = ".claude/agents/theirs.md") -> tuple[dict[str, Agent], list[str]]:
    file = tmp_path.resolve() / "project" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    sources = Sources(Workspace([tmp_path.resolve() / "project"], MemoryBuffers()), tmp_path / "own")
    return find_agents(sources, tools, offers=True), sources.problems


def agent(tmp_path: Path, front: str) -> Agent:
    return found(tmp_path, f"---\n{front}\n---\nYou review.\n")[0]["reviewer"]


def test_what_the_front_matter_says(tmp_path: Path) -> None:
    front = "description: Reviews\ntools: read_*, search_text\nmodel: local/small\nmode: plan\napproval: manual"
    one = agent(tmp_path, front)
    assert (one.description, one.tools, one.model) == ("Reviews", ("read_*", "search_text"), "local/small")
    assert (one.mode, one.level, one.body) == (Mode.PLAN, ApprovalLevel.MANUAL, "You review.")
    assert "You review." in one.part.text


def test_a_projects_agents_are_not_read_unless_asked_for(tmp_path: Path) -> None:
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
    front = "tools: Read, Bash, Task, Bash(git *), mcp__git\npermissionMode: bypassPermissions\nhooks:\n  Stop: evil"
    agents, problems = found(tmp_path, f"---\n{front}\n---\nx")
    assert agents["reviewer"].tools == ("read_file", "run_command", "run_tests", "mcp__git__*")
    assert "ignored: permissionMode, hooks" in problems[0]
    assert "unknown tools: Task, Bash(git *)" in problems[1]


REMARKS = {
    "tools:": ["tools is empty, so the agent has no tools"],
    "tools: []": [],
    "name: reviewer": [],
    "name: Other": ["its name is that of the file, reviewer; the key name (Other) is ignored"],
}


@pytest.mark.parametrize("front", REMARKS)
def test_what_has_no_effect_is_said(tmp_path: Path, front: str) -> None:
    remarks = agent(tmp_path, front).remarks
    assert [remark.partition(" (to")[0] for remark in remarks] == REMARKS[front]


def test_an_offer_without_tools_only_reads(tmp_path: Path) -> None:
    theirs = offered(tmp_path, "You review.\n!rm -rf /\n")[0]["theirs"]
    assert (theirs.is_offer, theirs.tools) == (True, ("read_file", "search_text"))
    assert "!rm -rf /" in theirs.part.text, "it is text, and never runs"
    assert 'from="project"' in theirs.part.text


def test_an_offer_as_claude_code_has_it(tmp_path: Path) -> None:
    front = "name: theirs\ndescription: Use it.\ntools: Read, Edit, Write\ndisallowedTools: Write\nmodel: sonnet\n"
    agents, problems = offered(tmp_path, f"---\n{front}color: red\n---\nYou review.")
    theirs = agents["theirs"]
    assert theirs.has_tool("read_file")
    assert not theirs.has_tool("write_file")
    assert theirs.model == ""
    assert problems == [], "nobody has asked for it yet"
    assert {remark.partition(" (")[0].partition(" is ")[0] for remark in theirs.remarks} >= {
        "ignored: color",
        "its model sonnet",
    }
    assert set(shown_agent(theirs)) >= {f"  {remark}" for remark in theirs.remarks}
    assert offered(tmp_path, "---\nmodel: inherit\n---\nx")[0]["theirs"].model == ""


def test_yours_wins_and_a_change_of_the_file_is_another_digest(tmp_path: Path) -> None:
    found(tmp_path, "Mine.", "theirs.md")
    agents, problems = offered(tmp_path, "x")
    assert agents["theirs"].body == "Mine."
    assert len(problems) == 2, "those of .tark and .claude are left out, and that is said"
    (tmp_path / "own/agents/theirs.md").unlink()
    first = offered(tmp_path, "One.\n", ".tark/agents/theirs.md")[0]["theirs"].digest
    assert offered(tmp_path, "One.\r\n", ".tark/agents/theirs.md")[0]["theirs"].digest == first
    assert offered(tmp_path, "One!\n", ".tark/agents/theirs.md")[0]["theirs"].digest != first


def test_an_offer_that_is_too_long_to_be_whole_is_left_out(tmp_path: Path) -> None:
    agents, problems = offered(tmp_path, "x" * 40_000)
    assert agents == {}
    assert "longer than 32,768 characters" in problems[0]


def test_the_names_of_claude_code_are_the_table_of_the_docs() -> None:
    table = DOC.read_text(encoding="utf-8").split("| Claude Code | here |\n|---|---|\n")[1].split("\n\n")[0]
    rows = [re.findall(r"`([^`]+)`", line) for line in table.splitlines()]
    written = {theirs: tuple(ours) for theirs, *ours in rows}
    assert written == {**CLAUDE_TOOLS, "mcp__SERVER": our_tools("mcp__SERVER")}
    ours = set(load_tools())
    assert all(name in ours for names in CLAUDE_TOOLS.values() for name in names)


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
