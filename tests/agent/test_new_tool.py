"""The facts that a dropped-in tool declares decide which rules bind it and which turns offer it."""

from pathlib import Path

import pytest

import tark_lsp.tools
from tark_lsp.agent.approval import Policy, is_read_denied
from tark_lsp.agent.kinds import KINDS, offered_tools
from tark_lsp.agent.rules import Rule
from tark_lsp.messages import ApprovalLevel, Mode
from tark_lsp.tools import load_tools
from tests.agent.bench import Bench
from tests.agent.script import answer, call

HEAD = """\
from tark_lsp.tools.edit_file import TOOL as EDIT_FILE
from tark_lsp.tools.facts import ToolFacts
from tark_lsp.tools.tool import Tool

"""
TOOL = """\
TOOL = Tool({name!r}, EDIT_FILE.description, EDIT_FILE.arguments, EDIT_FILE.risk, EDIT_FILE.preview, None{facts})
"""
FILES = {
    "dropped_edit": ", facts=ToolFacts(reads=False, edits=True, runs=False)",
    "dropped_undeclared": "",
    "dropped_harmless": ", facts=ToolFacts(reads=False, edits=False, runs=False)",
}
ARGUMENTS = {"path": "src/a.py", "old_text": "one\n", "new_text": "two\n"}

# a deny rule, and the dropped-in tools that it denies
DENIED = {
    "edit_file(src/**)": {"dropped_edit", "dropped_undeclared"},
    "write_file": {"dropped_edit", "dropped_undeclared"},
    "read_file(src/**)": set(FILES),  # the preview of edit_file, which all of them use, looks for such rules itself
    "run_command": {"dropped_undeclared"},
    "edit_file(docs/**)": set(),
    "delete_file": set(),
    "move_file(src/**)": set(),
    "read_skill": set(),
    "read_changes": set(),
    "dropped_*(src/**)": set(FILES),
}


@pytest.fixture(autouse=True)
def dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "tools"
    folder.mkdir()
    for name, facts in FILES.items():
        (folder / f"{name}.py").write_text(HEAD + TOOL.format(name=name, facts=facts), encoding="utf-8")
    monkeypatch.setattr(tark_lsp.tools, "__path__", [*tark_lsp.tools.__path__, str(folder)])


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    root = tmp_path / "project"
    root.mkdir()
    bench = Bench(root.resolve())
    bench.write("src/a.py", "one\n")
    return bench


@pytest.mark.parametrize("rule", DENIED)
async def test_a_deny_rule_binds_it_by_its_facts(bench: Bench, rule: str) -> None:
    bench.rules = Policy(ApprovalLevel.CAREFUL, deny=(Rule.parse(rule),))
    denied = set()
    for name in FILES:
        bench.write("src/a.py", "one\n")
        bench.session.seen.clear()
        await bench.run(answer(call(name, **ARGUMENTS)), answer("done"))
        if bench.errors()[-1] == "denied":
            denied.add(name)
        assert (bench.text("src/a.py") == "one\n") == (name in denied)
    assert denied == DENIED[rule]


@pytest.mark.parametrize("name", FILES)
def test_it_is_offered_where_the_workspace_can_change_and_nowhere_else(name: str) -> None:
    tools = load_tools()
    offered = {
        (kind, mode)
        for kind in KINDS
        for mode in Mode
        if name in offered_tools(tools, KINDS[kind], mode, selection=True)
    }
    assert offered == {(kind, Mode.BUILD) for kind in ("agent", "fix", "test", "document", "init", "review")}


def test_a_deny_rule_for_an_undeclared_tool_is_one_for_all_that_it_might_do(bench: Bench) -> None:
    rule = Rule.parse("dropped_undeclared(src/**)")
    assert is_read_denied(bench.root / "src/a.py", Policy(ApprovalLevel.CAREFUL, deny=(rule,)), bench.workspace)
    assert all(rule.is_about(name) for name in ("edit_file", "delete_file", "read_file", "run_command", "read_changes"))
    assert not rule.is_about("list_directory")
