"""The tools are those of docs/tools.md, with their arguments, risks and facts; each argument says what it is."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tark_lsp.tools
from tark_lsp.messages import Mode
from tark_lsp.tools import load_tools
from tark_lsp.tools.facts import ALL_MODES, ALL_SCOPES, ToolFacts, TurnScope
from tark_lsp.tools.tool import Risk, Tool

DOCS = Path(__file__).parents[2] / "docs" / "tools.md"
TOOLS = load_tools()

OF_THE_ISSUES = """read_file read_files list_directory find_files search_text edit_file replace_selection write_file
run_command ask_user switch_mode update_plan read_diagnostics propose_edit
apply_patch move_file delete_file read_changes fetch
read_skill save_memory search_memory""".split()  # noqa: SIM905  # as the issues list them


def documented() -> dict[str, tuple[str, ...]]:
    """By tool: arguments and risk of the first table, and the cells of the table of facts."""
    text = DOCS.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (read_only|write|risky|dangerous) \| .*\|$", text, re.MULTILINE)
    facts = re.findall(
        r"^\| `(\w+)` \| (.*?) \| (.*?) \| (.*?) \| (trusted|workspace|untrusted) \|$", text, re.MULTILINE
    )
    return {
        name: (arguments, risk, *cells) for name, arguments, risk in rows for other, *cells in facts if other == name
    }


def as_documented(tool: Tool[Any]) -> tuple[str, ...]:
    shown = []
    for name, field in tool.arguments.model_fields.items():
        default = "*" if field.is_required() else "" if field.default in (None, []) else json.dumps(field.default)
        shown.append(f"{name} = {default}" if default.strip("*") else name + default)
    facts = tool.facts
    access = ", ".join(name for name in ("reads", "edits", "runs") if getattr(facts, name)) or "-"
    if facts.rule_subject != "siblings":
        access += f"; rules: {facts.rule_subject}"
    modes = "all" if facts.modes == ALL_MODES else ", ".join(mode for mode in Mode if mode in facts.modes)
    scopes = "all" if facts.scopes == ALL_SCOPES else ", ".join(scope for scope in TurnScope if scope in facts.scopes)
    if facts.needs_selection:
        scopes += "; with a selection"
    if facts.kind:
        scopes += f"; kind {facts.kind}"
    return ", ".join(shown), tool.risk.name.lower(), access, modes, scopes, trust(facts)


def trust(facts: ToolFacts) -> str:
    if not facts.untrusted_output:
        return "trusted"
    return "workspace" if facts.of_workspace else "untrusted"


def test_the_tools_of_the_issues_are_there() -> None:
    assert set(OF_THE_ISSUES) <= set(TOOLS)


@pytest.mark.parametrize("name", sorted({*TOOLS, *documented()}))
def test_the_docs_list_what_the_code_has(name: str) -> None:
    assert documented()[name] == as_documented(TOOLS[name])


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_tool_is_described_to_the_model(name: str) -> None:
    definition = TOOLS[name].definition
    assert definition.name == name
    assert 40 < len(definition.description) < 700
    assert "\n" not in definition.description
    assert definition.parameters["type"] == "object"
    assert definition.parameters["additionalProperties"] is False
    for field in definition.parameters["properties"].values():
        assert len(field["description"]) > 10


def test_a_tool_without_run_is_one_that_edits() -> None:
    assert {name for name, tool in TOOLS.items() if tool.run is None} == {
        name for name, tool in TOOLS.items() if tool.facts.edits
    }


def test_a_tool_that_changes_something_is_not_offered_to_turns_that_read() -> None:
    for name, tool in TOOLS.items():
        if tool.risk is not Risk.READ_ONLY:
            assert tool.facts.modes == {Mode.BUILD}, name
            assert TurnScope.ANSWER not in tool.facts.scopes, name
    for facts in (ToolFacts(modes=ALL_MODES), ToolFacts(scopes=ALL_SCOPES)):
        with pytest.raises(ValueError, match="edit_file is not read-only"):
            replace(TOOLS["edit_file"], facts=facts)


def test_a_tool_that_runs_something_is_risky() -> None:
    assert all(tool.risk >= Risk.RISKY for tool in TOOLS.values() if tool.facts.runs)


def test_a_tool_in_a_file_of_another_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dropped.py").write_text("from tark_lsp.tools.read_file import TOOL\n", encoding="utf-8")
    monkeypatch.setattr(tark_lsp.tools, "__path__", [*tark_lsp.tools.__path__, str(tmp_path)])
    with pytest.raises(ValueError, match=r"'read_file' is in dropped\.py"):
        load_tools()


def test_a_file_dropped_in_is_a_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dropped_in.py").write_text(
        "from dataclasses import replace\n"
        "from tark_lsp.tools.read_file import TOOL as OTHER\n"
        "TOOL = replace(OTHER, name='dropped_in')\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(tark_lsp.tools, "__path__", [*tark_lsp.tools.__path__, str(tmp_path)])
    assert "dropped_in" in load_tools()
