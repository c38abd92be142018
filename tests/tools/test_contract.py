"""The tools are those of docs/tools.md, by names, arguments, defaults and risks; each argument says what it is."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import tark_lsp.tools
from tark_lsp.tools import load_tools
from tark_lsp.tools.tool import Risk, Tool

DOCS = Path(__file__).parents[2] / "docs" / "tools.md"
TOOLS = load_tools()

OF_THE_ISSUES = """read_file read_files list_directory find_files search_text edit_file replace_selection write_file
run_command ask_user switch_mode update_plan read_diagnostics propose_edit
apply_patch move_file delete_file read_changes fetch
read_skill save_memory search_memory""".split()  # noqa: SIM905  # as the issues list them


def documented() -> dict[str, tuple[str, str]]:
    """Arguments and risk as the table has them, by tool."""
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (\w+) \|", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    return {name: (arguments, risk) for name, arguments, risk in rows}


def as_documented(tool: Tool[Any]) -> tuple[str, str]:
    shown = []
    for name, field in tool.arguments.model_fields.items():
        default = "*" if field.is_required() else "" if field.default in (None, []) else json.dumps(field.default)
        shown.append(f"{name} = {default}" if default.strip("*") else name + default)
    return ", ".join(shown), tool.risk.name.lower()


def test_the_tools_are_those_of_the_issues() -> None:
    assert sorted(TOOLS) == sorted(OF_THE_ISSUES)


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


def test_only_tools_without_run_or_with_edits_write() -> None:
    assert {name for name, tool in TOOLS.items() if tool.run is None} == {
        "apply_patch",
        "delete_file",
        "edit_file",
        "move_file",
        "propose_edit",
        "replace_selection",
        "write_file",
    }
    assert {name for name, tool in TOOLS.items() if tool.risk >= Risk.RISKY} == {
        "delete_file",
        "fetch",
        "read_changes",
        "run_command",
    }


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
