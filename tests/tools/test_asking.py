"""ask_user, switch_mode, update_plan and read_diagnostics: what goes to the person and what comes back."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tark_lsp.messages import Mode
from tark_lsp.tools.editor import Diagnostic
from tests.tools.conftest import Bench


@pytest.mark.parametrize(
    ("arguments", "answer", "expected"),
    [
        ({}, "do as you like", "Answer: do as you like"),
        ({"options": ["a", "b"]}, ["b"], "Chosen: b"),
        ({"options": ["a", "b"]}, "neither", "Answer: neither"),
        ({"options": ["a", "b"], "multiple": True}, ["a", "b"], "Chosen: a, b"),
        ({"options": ["a", "b"], "multiple": True}, [], "Chosen: none of them"),
    ],
)
async def test_ask_user(bench: Bench, arguments: dict[str, Any], answer: str | list[str], expected: str) -> None:
    bench.editor.answers = [answer]
    said: list[str] = []
    bench.ctx.report_progress = said.append
    assert await bench.call("ask_user", question="Which?", **arguments) == expected
    assert said == ["waiting for you: Which?"]
    assert [option.label for option in bench.editor.asked[0][1]] == arguments.get("options", [])


async def test_ask_user_without_an_answer(bench: Bench) -> None:
    bench.editor.answers = [None]
    assert (await bench.failure("ask_user", question="Which?")).code == "unanswered"
    assert (await bench.failure("ask_user", question="Which?")).code == "unsupported"
    assert (await bench.failure("ask_user", question="Which?", options=["a", "a"])).code == "invalid_arguments"


@pytest.mark.parametrize("name", ["ask_user", "switch_mode", "run_command"])
def test_waiting_for_the_person_is_not_tool_time(bench: Bench, name: str) -> None:
    assert bench.tools[name].seconds == float("inf")


@pytest.mark.parametrize(
    ("answer", "code", "modes"),
    [
        ("switch", None, [Mode.BUILD]),
        (["switch"], None, [Mode.BUILD]),
        ("stay", "denied", []),
        (["stay"], "denied", []),
        ([], "denied", []),
        (None, "unanswered", []),
    ],
)
async def test_switch_mode(bench: Bench, answer: str | list[str] | None, code: str | None, modes: list[Mode]) -> None:
    switched: list[Mode] = []
    bench.ctx.mode, bench.ctx.set_mode = Mode.PLAN, switched.append
    bench.editor.answers = [answer] if answer != [] else ["stay"]
    if code is None:
        assert await bench.call("switch_mode", mode="build", reason="to do it") == "The mode is now build."
    else:
        assert (await bench.failure("switch_mode", mode="build", reason="to do it")).code == code
    assert switched == modes
    assert "to do it" in bench.editor.asked[0][0]


async def test_switch_to_the_same_mode_asks_nobody(bench: Bench) -> None:
    assert await bench.call("switch_mode", mode="build", reason="x") == "The mode is already build."
    assert not bench.editor.asked


async def test_update_plan(bench: Bench) -> None:
    plans: list[Sequence[Mapping[str, str]]] = []
    bench.ctx.set_plan = plans.append
    entries = [{"content": "look", "status": "completed"}, {"content": "do", "status": "in_progress"}]
    assert await bench.call("update_plan", entries=entries) == "The plan is shown: 1 of 2 steps completed."
    assert await bench.call("update_plan", entries=[]) == "The plan is cleared."
    assert plans == [entries, []]
    with pytest.raises(ValueError, match="status"):
        await bench.call("update_plan", entries=[{"content": "x", "status": "done"}])


async def test_read_diagnostics(bench: Bench) -> None:
    a, b = bench.write("a.py", "x\n"), bench.write("sub/b.py", "x\n")
    bench.editor.problems = [
        Diagnostic(b, 0, 0, 2, "unused\n  name", "ruff", "F841"),
        Diagnostic(a, 4, 2, 1, "undefined", "pyright"),
        Diagnostic(a, 1, 0, 4, "a hint"),
        Diagnostic(a, 1, 0, 3, "a word"),
        Diagnostic(bench.ctx.workspace.folders[0].parent / "beside.py", 0, 0, 1, "of a file nobody asked about"),
    ]
    assert (await bench.call("read_diagnostics")).split("\n") == [
        "a.py:2:1: information: a word",
        "a.py:2:1: hint: a hint",
        "a.py:5:3: error: undefined (pyright)",
        "sub/b.py:1:1: warning: unused name (ruff F841)",
    ]
    assert await bench.call("read_diagnostics", path="sub/b.py") == "sub/b.py:1:1: warning: unused name (ruff F841)"
    bench.write("c.py", "")
    assert await bench.call("read_diagnostics", path="c.py") == "The editor shows no diagnostics for c.py."
    bench.editor.problems.clear()
    assert await bench.call("read_diagnostics") == "The editor shows no diagnostics."
