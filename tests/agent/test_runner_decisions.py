"""run_tests and run_check are decided as run_command is for the same command line: every row, rule, grant and level."""

import shlex
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from tark_lsp.agent.approval import Allow, Ask, Decision, Deny, Policy, decide_call
from tark_lsp.agent.events import CallChanged
from tark_lsp.agent.grants import grants_for
from tark_lsp.agent.rules import Rule
from tark_lsp.agent.user_interface import Permitted, Rejected
from tark_lsp.messages import ApprovalLevel
from tark_lsp.tools import load_tools
from tark_lsp.tools.runners.runner import Purpose
from tark_lsp.tools.runners.table import RUNNERS
from tark_lsp.tools.tool import Preview
from tests.agent.bench import Bench
from tests.agent.script import answer, call
from tests.cases import cases

PACKAGE = '{"devDependencies": {"vitest": "", "jest": "", "eslint": ""}, "scripts": {"test": "rm -rf /"}}'
FILES = {
    "pytest.ini": "",
    "pyproject.toml": "[tool.ruff]\n[tool.mypy]\n",
    "test_a.py": "import unittest\n",
    "package.json": PACKAGE,
    "tsconfig.json": "{}",
    "Cargo.toml": "",
    "go.mod": "",
    "Makefile": "test:\n\trm -rf /\nlint:\n\trm -rf /\n",
}
PROGRAMS = ("pytest", "python", "npm", "cargo", "go", "make", "ruff", "mypy", "vitest", "jest", "tsc", "eslint")


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    bench = Bench(tmp_path / "project")
    for name, text in FILES.items():
        bench.write(name, text)
    for name in PROGRAMS:
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\necho 1 failed in 0.1s\nexit 1\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return bench


async def previews(bench: Bench) -> dict[str, tuple[str, Preview, Preview]]:
    """By row: its tool, what that shows, and what run_command shows for the same command line."""
    tools, found = load_tools(), {}
    for row in RUNNERS:
        tool = tools[row.purpose.value]
        own = await tool.preview(tool.arguments(runner=row.name), bench.context)
        assert own.command is not None
        arguments = tools["run_command"].arguments(command=own.command.text, timeout_seconds=600)
        found[f"{row.purpose} {row.name}"] = (
            tool.name,
            own,
            await tools["run_command"].preview(arguments, bench.context),
        )
    return found


def policies(preview: Preview) -> list[Policy]:
    assert preview.command is not None
    program = shlex.split(preview.command.text)[0]
    patterns = (None, "*", f"{program} *", preview.command.text, f"{program} nothing", "somethingelse *")
    rules = [Rule.parse("run_command" if one is None else f"run_command({one})") for one in patterns]
    rules += [Rule.parse("read_file(secret/**)"), Rule.parse("edit_file"), Rule.parse("read_changes")]
    made = []
    for level, trusted, confined in product(ApprovalLevel, (True, False), (True, False)):
        plain = Policy(level, trusted=trusted, no_commands="" if confined else "a sandbox is required")
        made += [plain, replace(plain, tainted_by="a page")]
        for rule in rules:
            made += [replace(plain, allow=(rule,)), replace(plain, ask=(rule,)), replace(plain, deny=(rule,))]
    return made


@pytest.mark.property
async def test_each_row_is_decided_as_its_command_line_is(bench: Bench) -> None:
    kinds: set[type[Decision]] = set()
    with cases() as case:
        for name, (tool, own, other) in (await previews(bench)).items():
            with case(name):
                title = f"{tool} {other.title.removeprefix('run_command ')}"
                assert own == replace(other, title=title)  # so confined, unsaved documents and the rest are equal, too
                assert own.command is not None
                assert own.command.parts, own.command.unclear
                for confined, policy in product((True, False), policies(own)):
                    one, two = (
                        replace(shown, command=replace(own.command, confined=confined)) for shown in (own, other)
                    )
                    decided = decide_call(tool, one, policy, bench.workspace)
                    assert decided == decide_call("run_command", two, policy, bench.workspace), policy
                    kinds.add(type(decided))
    assert kinds == {Allow, Ask, Deny}


async def test_grants_of_one_count_for_the_other(bench: Bench) -> None:
    """Those for a turn, a session and always; exactly this command, and the program with any arguments."""
    policy = Policy(ApprovalLevel.CAREFUL)
    counted = 0
    for tool, own, other in (await previews(bench)).values():
        assert own.command is not None
        one, two = (replace(shown, command=replace(own.command, confined=True)) for shown in (own, other))
        for given, (asking, name) in product((one, two), ((one, tool), (two, "run_command"))):
            for grant in grants_for(given, bench.workspace, "x"):
                counted += 1
                decision = decide_call(name, asking, replace(policy, grants=(grant,)), bench.workspace)
                assert decision == Allow(), (grant.covers, name)
    assert counted > 100


@pytest.mark.parametrize("rule", ["run_tests", "run_tests(pytest *)"])
async def test_an_allow_rule_for_run_tests_allows_no_other_command(bench: Bench, rule: str) -> None:
    tool, own, other = (await previews(bench))["run_tests pytest"]
    assert own.command is not None
    policy = Policy(ApprovalLevel.CAREFUL, trusted=True, allow=(Rule.parse(rule),))
    one, two = (replace(shown, command=replace(own.command, confined=True)) for shown in (own, other))
    assert decide_call(tool, one, policy, bench.workspace) == Allow()
    for name in ("run_command", "run_check", "read_changes"):
        assert isinstance(decide_call(name, two, policy, bench.workspace), Ask)


@pytest.mark.parametrize("rule", ["run_command(pytest *)", "run_command", "run_tests", "run_check"])
async def test_a_deny_rule_for_one_stops_all(bench: Bench, rule: str) -> None:
    """Otherwise the model would take another one."""
    bench.rules = Policy(ApprovalLevel.BALANCED, trusted=True, deny=(Rule.parse(rule),))
    await bench.run(answer(call("run_tests")), answer("ok"))
    assert bench.errors() == ["denied"]


async def test_a_turn_asks_runs_and_gives_the_user_links(bench: Bench) -> None:
    bench.write("sub/test_b.py", "def test_b():\n    assert 0\n")
    (bench.root.parent / "bin" / "pytest").write_text(
        "#!/bin/sh\ncat <<'E'\n=== FAILURES ===\n___ test_b ___\nsub/test_b.py:2: in test_b\nE   assert 0\n"
        "=== short test summary info ===\nFAILED sub/test_b.py::test_b - assert 0\n=== 1 failed in 0.10s ===\nE\n"
        "exit 1\n"
    )
    await bench.run(answer(call("run_tests")), answer("ok"), decisions=[Permitted()])
    (asked,) = bench.user.asked
    assert asked.command is not None
    assert asked.command.text == "pytest --tb=short -rfE --color=no"
    assert asked.title == f"run_tests {asked.command.text}"
    (result,) = bench.results()
    assert result.split(": ", 1)[1].startswith("it failed: 1 failed\n")
    assert "\nsub/test_b.py:2 test_b: assert 0\n" in result
    (last,) = [event for event in bench.heard if isinstance(event, CallChanged) and event.status.over]
    assert last.facts is not None
    assert last.facts.exit_code == 1
    assert [(place.path.name, place.start_line, place.end_line) for place in last.locations or ()] == [
        ("test_b.py", 1, 2)
    ]


async def test_unsaved_documents_are_asked_about_as_for_any_command(bench: Bench) -> None:
    """Also if a grant covers the command line."""
    bench.buffers.open(bench.write("a.txt", "disk\n"), "typed\n")
    (bench.root.parent / "bin" / "pytest").write_text("#!/bin/sh\ncat a.txt\n")
    tool, preview, _ = (await previews(bench))["run_tests pytest"]
    assert preview.unsaved == (bench.root / "a.txt",)
    bench.session.grants += grants_for(preview, bench.workspace, "x")
    await bench.run(answer(call(tool)), answer("ok"), decisions=[Permitted(save=True)])
    (asked,) = bench.user.asked
    assert (asked.why, asked.grants) == ("a.txt is not saved", ())
    (result,) = bench.results()
    assert "\ntyped" in result
    assert "its output is not understood" in result


async def test_what_is_rejected_does_not_run(bench: Bench) -> None:
    await bench.run(answer(call("run_tests", runner="make")), answer("ok"), decisions=[Rejected("no")])
    assert bench.errors() == ["denied"]


def test_each_purpose_is_a_tool_with_the_facts_of_run_command() -> None:
    tools = load_tools()
    for purpose in Purpose:
        facts = tools[purpose.value].facts
        assert replace(facts, allowed_as="") == tools["run_command"].facts
        assert facts.allowed_as == "run_command"
