"""Which tools each kind of turn offers in each mode, and that each kind has its prompt."""

from itertools import product

import pytest

from tark_lsp.agent.kinds import KINDS, offered_tools, read_prompt
from tark_lsp.messages import Mode
from tark_lsp.tools import load_tools
from tark_lsp.tools.tool import Risk

TOOLS = load_tools()
READING = {
    *("read_file", "read_files", "list_directory", "find_files", "search_text", "read_diagnostics"),
    *("ask_user", "update_plan", "read_skill", "search_memory"),
}
EDITING = {"edit_file", "write_file", "replace_selection", "apply_patch", "move_file", "delete_file"}
AGENT_BUILD = READING | EDITING | {"run_command", "read_changes", "fetch", "save_memory", "switch_mode"}
AGENT_READS = READING | {"propose_edit", "switch_mode"}

LISTED = AGENT_BUILD | AGENT_READS | {"report_problem"}
"""Of a tool that is added, docs/tools.md and tests/tools/test_contract.py say where it is offered."""

# protocol.md, "Kinds": what is offered with a selection, in build and in ask or plan
OFFERED: dict[str, tuple[set[str], set[str]]] = {
    "agent": (AGENT_BUILD, AGENT_READS),
    "ask": (READING, READING),
    "explain": (READING, READING),
    "edit": (READING | {"replace_selection", "edit_file"}, READING | {"propose_edit"}),
    "fix": (AGENT_BUILD, AGENT_READS),
    "test": (AGENT_BUILD, AGENT_READS),
    "document": (AGENT_BUILD, AGENT_READS),
    "init": (AGENT_BUILD, AGENT_READS),
    "review": (AGENT_BUILD | {"report_problem"}, AGENT_READS | {"report_problem"}),
}


def test_the_kinds_are_those_of_the_contract() -> None:
    assert set(KINDS) == set(OFFERED)


@pytest.mark.parametrize(("kind", "mode", "selection"), list(product(OFFERED, Mode, [True, False])))
def test_offered(kind: str, mode: Mode, selection: bool) -> None:
    build, reads = OFFERED[kind]
    expected = (build if mode is Mode.BUILD else reads) - (set() if selection else {"replace_selection"})
    offered = offered_tools(TOOLS, KINDS[kind], mode, selection=selection)
    assert set(offered) & LISTED == expected
    assert list(offered) == sorted(offered)  # a stable prefix is a cached prefix


@pytest.mark.parametrize(("kind", "mode"), list(product(OFFERED, [Mode.ASK, Mode.PLAN])))
def test_modes_ask_and_plan_offer_nothing_that_changes_anything(kind: str, mode: Mode) -> None:
    offered = offered_tools(TOOLS, KINDS[kind], mode, selection=True)
    assert {tool.risk for tool in offered.values()} == {Risk.READ_ONLY}


def test_what_a_request_must_have() -> None:
    assert {name for name, kind in KINDS.items() if kind.needs_prompt} == {"agent", "ask", "edit"}
    assert {name for name, kind in KINDS.items() if kind.needs_range} == {"edit"}
    assert {name for name, kind in KINDS.items() if kind.selection_only} == {"edit"}


@pytest.mark.parametrize("name", ["system", *KINDS, *(f"mode_{mode}" for mode in Mode)])
def test_each_has_its_prompt(name: str) -> None:
    text = read_prompt(name)
    assert len(text) > 40
    assert text == text.strip()


@pytest.mark.parametrize("name", [*KINDS, "system", *(f"mode_{mode}" for mode in Mode)])
def test_prompts_name_no_tool_there_is_not(name: str) -> None:
    words = read_prompt(name).split("`")[1::2]
    assert {word for word in words if word.isidentifier()} <= set(TOOLS)
