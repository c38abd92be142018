"""run_tests and run_check with real programs: what a model reads of runs that fail, pass, crash, or have no tests."""

import asyncio
import json
import os
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.context.result_handles import HANDLE
from tark_lsp.errors import ToolError
from tark_lsp.sandbox.sandbox import Sandbox
from tark_lsp.tools import run_command
from tark_lsp.tools.command_execution import execute
from tark_lsp.tools.runners import reading, running
from tark_lsp.tools.runners.choice import Choice, choose
from tark_lsp.tools.runners.parsers import any_text, cargo_json
from tark_lsp.tools.runners.report import Parser, Report
from tark_lsp.tools.sandbox_access import SandboxAccess
from tark_lsp.tools.tool import Counted, Location
from tests.npm import installed
from tests.patience import AT_ONCE
from tests.sandbox.conftest import MISSING, make_sandbox
from tests.secrets.keys import github_token
from tests.tools.conftest import Bench

FAILING = """\
import pytest

def test_good(): assert True

def test_bad():
    print("noise")
    a = [1, 2]
    assert a == [1, 3], "they differ"

@pytest.mark.skip
def test_later(): pass
"""
UNITTEST = """\
import unittest
class T(unittest.TestCase):
    def test_good(self): pass
    def test_bad(self): self.assertEqual(1, 2)
"""
NODE = """\
const test = require('node:test'); const assert = require('node:assert');
test('adds', () => assert.equal(1 + 1, 2));
test('breaks', () => assert.equal(1 + 1, 3));
"""
SCRIPT = json.dumps({"scripts": {"test": "node --test"}})
RUST = """\
pub fn add(a: i32, b: i32) -> i32 { a + b }
#[test]
fn good() { assert_eq!(add(1, 1), 2); }
#[test]
fn bad() { assert_eq!(add(1, 1), 3); }
"""


@pytest.fixture
def bench(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """With the programs of the environment of the tests."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return bench


def without_times(text: str) -> str:
    text = re.sub(r"after \d+\.\d s", "after 0.0 s", text)
    return re.sub(r'"result:[0-9a-f]{16}"', '"result:X"', text)


def needs(*programs: str) -> None:
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not installed")


async def result_of(bench: Bench, tool: str, **arguments: str) -> Counted:
    called = bench.tools[tool]
    valid = called.arguments(**arguments)
    assert called.run is not None
    result = await called.run(valid, bench.ctx, await called.preview(valid, bench.ctx))
    assert isinstance(result, Counted)
    return result


def fake(bench: Bench, program: str, output: str, code: int = 1) -> None:
    """A program of the project that writes this output of a run."""
    bench.write("output.txt", output)
    path = bench.write(f".venv/bin/{program}", f"#!/bin/sh\ncat output.txt\nexit {code}\n")
    path.chmod(0o755)


FAST = "[pytest]\naddopts = --disable-plugin-autoload -p no:cacheprovider\n"


async def test_pytest(bench: Bench) -> None:
    bench.write("pytest.ini", FAST)
    file = bench.write("tests/test_a.py", FAILING)
    result = await result_of(bench, "run_tests")
    assert re.sub(r"\d+ lines", "N lines", without_times(result.text)).split("\n[created")[0] == (
        "exit code 1 after 0.0 s: it failed: 1 failed, 1 passed, 1 skipped\n"
        "[pytest, because of pytest.ini; it ran `pytest --tb=short -rfE --color=no` in .]\n"
        "tests/test_a.py:8 test_bad:\n"
        "    AssertionError: they differ\n"
        "    assert [1, 2] == [1, 3]\n"
        "\n"
        "      At index 1 diff: 2 != 3\n"
        "      Use -v to get more diff\n"
        '[the output, N lines: read_file(path="result:X", start_line=1)]'
    )
    assert result.locations == (Location(file, 7, 8),)
    assert (result.facts.exit_code, result.facts.counts) == (1, "1 failed, 1 passed, 1 skipped")
    passed = await bench.call("run_tests", target="tests/test_a.py::test_good")
    assert passed.split(": ", 1)[1].startswith("all tests that ran passed: 1 passed\n")
    nothing = await bench.call("run_tests", target="no_such_test")
    assert nothing.startswith("exit code 5")
    assert "it failed: no tests ran (3 deselected)" in nothing


async def test_a_run_that_crashes_never_passes(bench: Bench) -> None:
    bench.write("pytest.ini", FAST)
    bench.write("test_c.py", "import os\ndef test_a(): pass\ndef test_b(): os._exit(0)\ndef test_c(): pass\n")
    shown = await bench.call("run_tests")
    assert shown.startswith("exit code 0")
    assert "its output is not understood, so it is not known which tests ran" in shown
    assert "collected 3 items" in shown


@pytest.mark.parametrize(
    ("output", "code", "says"),
    [
        ("== 3 passed in 0.1s ==\n", 0, "all tests that ran passed: 3 passed"),
        ("== 3 passed in 0.1s ==\n", 1, "it failed; no failed test is recognised in its output: 3 passed"),
        ("== 1 failed, 3 passed in 0.1s ==\n", 0, "succeeded by its exit code, but its output tells of failures"),
        ("== 3 skipped in 0.1s ==\n", 0, "no tests ran (3 skipped)"),
        ("== no tests ran in 0.1s ==\n", 5, "it failed: no tests ran"),
        ("all tests passed\n", 0, "it is not known which tests ran"),
        ("all tests passed\n", 3, "it failed; no failed test is recognised in its output\n"),
        ("", 0, "it is not known which tests ran"),
    ],
)
async def test_the_exit_code_decides(bench: Bench, output: str, code: int, says: str) -> None:
    bench.write("pytest.ini", "")
    fake(bench, "pytest", output, code)
    shown = await bench.call("run_tests")
    assert shown.startswith(f"exit code {code} ")
    assert says in shown
    assert ("tests that ran passed" in shown) == (code == 0 and "3 passed" in output and "failed" not in output)


async def test_unittest_fails_and_passes(bench: Bench) -> None:
    bench.write("test_u.py", UNITTEST)
    shown = await bench.call("run_tests")
    assert (
        "it failed: 1 passed, 1 failed\n[unittest, because of test_*.py; it ran `python -m unittest discover`" in shown
    )
    assert "\ntest_u.py:4 test_u.T.test_bad: AssertionError: 1 != 2\n" in shown
    assert "all tests that ran passed: 1 passed" in await bench.call("run_tests", target="test_good")
    bench.write("test_u.py", "import unittest\n")
    assert re.search(r"no tests ran\n", await bench.call("run_tests"))


async def test_the_script_of_node_fails_and_passes(bench: Bench) -> None:
    needs("node", "npm")
    bench.write("package.json", SCRIPT)
    bench.write("a.test.js", NODE)
    bench.write("b.test.js", "require('node:test')('fine', () => {});\n")
    shown = await bench.call("run_tests")
    assert "it failed: 2 passed, 1 failed" in shown
    assert "\na.test.js:3 breaks: " in shown
    assert "2 == 3" in shown
    passed = await bench.call("run_tests", target="b.test.js")
    assert "all tests that ran passed: 1 passed" in passed
    assert "it ran `npm test -- b.test.js`" in passed


async def test_make_runs_what_it_runs(bench: Bench) -> None:
    needs("make")
    bench.write("Makefile", "test:\n\t@python -m unittest -q test_u\nlint:\n\t@echo 'a.c:3:5: error: odd'; exit 1\n")
    bench.write("test_u.py", UNITTEST)
    shown = await bench.call("run_tests", runner="make")
    assert "it failed: 1 passed, 1 failed" in shown
    assert "\ntest_u.py:4 test_u.T.test_bad: AssertionError: 1 != 2\n" in shown
    bench.write("a.c", "\n\n\n")
    checked = await bench.call("run_check")
    assert "problems were found: 1 error" in checked
    assert "\na.c:3:5: odd\n" in checked
    bench.write("Makefile", "test:\n\t@echo all 100 tests passed\n")
    assert "its output is not understood, so it is not known" in await bench.call("run_tests", runner="make")


async def test_a_target_of_make_that_fails_has_its_place_and_the_end_of_its_output(bench: Bench) -> None:
    needs("make")
    bench.write("Makefile", "test:\n\t@echo table 3 is odd\n\t@false\nbroken:\n\t$(MAKE) -C sub\n")
    bench.write("sub/Makefile", "all:\n\t@echo 'b.c:2:7: error: odd'; exit 1\n")
    bench.write("sub/b.c", "\n\n")
    shown = await bench.call("run_tests")
    assert "it failed" in shown
    assert "\nMakefile:3 test: recipe: Error 1\n" in shown
    assert "table 3 is odd\n" in shown
    shown = await bench.call("run_tests", target="broken")
    assert "\nsub/b.c:2:7: odd\n" in shown
    assert "recipe" not in shown


async def test_cargo(bench: Bench) -> None:
    needs("cargo")
    bench.write("Cargo.toml", '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n[lib]\ndoctest = false\n')
    bench.write("src/lib.rs", RUST)
    shown = await bench.call("run_tests")
    assert "it failed: 1 passed, 1 failed" in shown
    assert "\nsrc/lib.rs:5:12 bad:\n    assertion `left == right` failed\n" in shown
    assert "all tests that ran passed: 1 passed" in await bench.call("run_tests", target="good")
    bench.write("src/lib.rs", 'pub fn add() -> i32 { "x" }\n')
    assert "\nsrc/lib.rs:1:23 E0308:\n    mismatched types\n" in await bench.call("run_check")


async def test_ruff_and_mypy(bench: Bench) -> None:
    bench.write("pyproject.toml", "[tool.ruff]\n[tool.mypy]\n")
    bench.write("a.py", "import os\n\n\ndef f(x: int) -> str:\n    return x\n")
    shown = await bench.call("run_check")
    assert "[ruff, because of pyproject.toml (tool.ruff); also used here: mypy; it ran" in shown
    assert "\na.py:1:8 F401: `os` imported but unused\n" in shown
    assert "\na.py:5:12 return-value: Incompatible return value" in await bench.call("run_check", runner="mypy")
    bench.write("a.py", "X = 1\n")
    assert "exit code 0" in (clean := await bench.call("run_check", path="a.py"))
    assert "no problems were found" in clean


@pytest.mark.exhaustive
async def test_vitest_jest_tsc_and_eslint(bench: Bench) -> None:
    """Installed once from npm into the user's cache folder."""
    modules = installed("vitest@3", "jest@29", "typescript@5", "eslint@9")
    (bench.root / "node_modules").symlink_to(modules)
    test = (
        "const { expect, it } = require('X');\nit('adds', () => {});\nit('breaks', () => {\n  expect(2).toBe(3);\n});\n"
    )
    bench.write("vitest.config.mjs", "export default { test: { globals: true } };\n")
    bench.write("a.test.js", test.partition("\n")[2])
    shown = await bench.call("run_tests", runner="vitest")
    assert "it failed: 1 passed, 1 failed" in shown
    assert "\na.test.js:3 breaks: AssertionError: expected 2 to be 3" in shown
    bench.write("package.json", '{"jest": {}}')
    jest = await bench.call("run_tests", runner="jest", target="a.test.js")
    assert "it failed: 1 passed, 1 failed" in jest
    assert "\na.test.js:3 breaks:\n    Error: expect(received).toBe(expected)" in jest
    named = await bench.call("run_tests", runner="jest", target="a.test.js::adds")
    assert "all tests that ran passed: 1 passed, 1 skipped" in named
    bench.write("tsconfig.json", '{"compilerOptions": {"types": [], "strict": true}}')
    bench.write("a.ts", 'const a: number = "x";\n')
    assert "\na.ts:1:7 TS2322: Type 'string'" in await bench.call("run_check", path="a.ts", runner="tsc")
    bench.write("eslint.config.mjs", "export default [{ rules: { eqeqeq: 'error' } }];\n")
    bench.write("a.js", "if (1 == 2) {}\n")
    assert "\na.js:1:7 eqeqeq: Expected '==='" in await bench.call("run_check", path="a.js", runner="eslint")


async def test_the_rest_of_many_failures_is_read_by_handle(bench: Bench) -> None:
    bench.write("pytest.ini", "")
    bench.write("test_m.py", "\n" * 600)
    sections = "".join(
        f"__ test_x[{n}] __\ntest_m.py:{n + 1}: in test_x\nE   assert {n}\nE   two\n" for n in range(500)
    )
    listed = "".join(f"FAILED test_m.py::test_x[{n}] - assert\n" for n in range(500))
    end = "== 500 failed in 0.10s =="
    fake(bench, "pytest", f"== FAILURES ==\n{sections}== short test summary info ==\n{listed}{end}\n")
    shown = await bench.call("run_tests")
    assert "it failed: 500 failed" in shown
    assert len(shown) < 10_000
    note = re.search(
        r"\[[\d,]+ more lines left out; read on with read_file\(path=\"(.+?)\", start_line=(\d+)\)\]", shown
    )
    assert note is not None
    more = await bench.call("read_file", path=note[1], start_line=int(note[2]))
    assert "test_m.py:500 test_x[499]:" in more
    handles = HANDLE.findall(shown)
    assert len(handles) == 2
    assert end in (bench.ctx.results.find_result(handles[1]) or "")


async def test_secrets_in_the_output_are_masked(bench: Bench) -> None:
    bench.write("pytest.ini", "")
    section = f"== FAILURES ==\n__ test_x __\na.py:1: in test_x\nE   assert '{github_token()}' == ''\n"
    fake(bench, "pytest", f"{section}== short test summary info ==\nFAILED a.py::test_x - no\n== 1 failed in 0.1s ==\n")
    shown = await bench.call("run_tests")
    kept = [bench.ctx.results.find_result(handle) for handle in HANDLE.findall(shown)]
    assert "masked-secret:github-token" in shown
    assert kept
    assert github_token() not in f"{shown}{kept}"


async def test_it_ends_after_its_time_and_says_what_failed_until_then(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "SECONDS", 1.0)
    bench.write("pytest.ini", "")
    bench.write(".venv/bin/pytest", "#!/bin/sh\necho begun\nsleep 60\n").chmod(0o755)
    failure = await bench.failure("run_tests")
    assert failure.code == "timeout"
    assert failure.message.startswith("not finished after 1 s")
    assert "it ran `.venv/bin/pytest" in failure.details["output"]
    assert "begun" in failure.details["output"]


async def test_it_is_cancelled(bench: Bench) -> None:
    begun = bench.root.parent / "begun"
    bench.write("pytest.ini", "")
    bench.write(".venv/bin/pytest", f"#!/bin/sh\ntouch {begun}\nsleep 60\n").chmod(0o755)
    task = asyncio.create_task(bench.call("run_tests"))
    async with asyncio.timeout(AT_ONCE):
        while not begun.exists():  # noqa: ASYNC110  # a program makes it
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_it_runs_in_the_sandbox_and_undo_is_told(bench: Bench, tmp_path: Path) -> None:
    if MISSING:
        pytest.skip(MISSING)
    sandbox: list[Sandbox | None] = [make_sandbox(tmp_path, bench.root)]
    bench.ctx.sandbox = SandboxAccess(lambda: sandbox[0], lambda: sandbox.__setitem__(0, None))
    bench.write("pytest.ini", "")
    writes = "".join(f"echo x >{place}\n" for place in ("inside", f"{tmp_path}/outside", ".git/hooks/new"))
    script = f"#!/bin/sh\n{writes}echo == 1 failed in 0.1s ==\nexit 1\n"
    bench.write(".venv/bin/pytest", script).chmod(0o755)
    bench.write(".git/hooks/old", "")
    preview = await bench.preview("run_tests")
    assert preview.command is not None
    assert preview.command.confined
    shown = await bench.call("run_tests")
    assert (bench.root / "inside").exists()
    assert not (tmp_path / "outside").exists()
    assert not (bench.root / ".git" / "hooks" / "new").exists()
    assert "it failed: 1 failed" in shown
    assert "run the same command line by run_command with network, writable_paths or without_sandbox]" in shown
    assert "[what it changed cannot be undone: nothing records what it changes]" in shown


async def test_what_would_run_now_is_what_was_shown(bench: Bench) -> None:
    bench.write("pytest.ini", "")
    tool = bench.tools["run_tests"]
    preview = await tool.preview(tool.arguments(), bench.ctx)
    (bench.root / "pytest.ini").unlink()
    bench.write("test_u.py", UNITTEST)
    assert tool.run is not None
    with pytest.raises(ToolError) as caught:
        await tool.run(tool.arguments(), bench.ctx, preview)
    assert caught.value.code == "stale"


@pytest.mark.parametrize(
    ("parse", "output"),
    [
        (cargo_json.parse, "---- x stdout ----\n" + "panicked at " * 50_000),
        (any_text.parse, "test a" + " - a" * 50_000),
    ],
)
async def test_output_that_takes_hours_to_read(monkeypatch: pytest.MonkeyPatch, parse: Parser, output: str) -> None:
    """Another thread of the server would not run meanwhile, so no thread reads it."""
    monkeypatch.setattr(reading, "SECONDS", 0.5)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.05)  # the ticks themselves are measured
            ticks += 1

    ticking = asyncio.create_task(tick())
    assert await reading.read_output(parse, output) == Report(False, output)
    ticking.cancel()
    assert ticks >= 2


async def test_a_make_that_says_nothing_known_is_not_called_clean(bench: Bench) -> None:
    needs("make")
    bench.write("Makefile", "lint:\n\t-@echo 2 files are bad; exit 1\n")
    assert "it succeeded; no problem is recognised in its output" in await bench.call("run_check")


async def test_a_defect_of_a_parser_shows_the_output(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str) -> Report:
        raise AssertionError(text)

    def choose_broken(*asked: Any) -> Choice:
        chosen = choose(*asked)
        return replace(chosen, runner=replace(chosen.runner, parse=broken))

    monkeypatch.setattr(running, "choose", choose_broken)
    bench.write("pytest.ini", "")
    fake(bench, "pytest", "== 1 passed in 0.1s ==\n", 0)
    shown = await bench.call("run_tests")
    assert "its output is not understood" in shown
    assert "1 passed in" in shown


def test_no_other_way_leads_to_a_process() -> None:
    """The package starts nothing itself: `execute` does, with the command that `run_command` previewed."""
    folder = Path(running.__file__).parent
    for file in folder.rglob("*.py"):
        if file.name == "reading.py":
            continue  # it starts this Python, which reads the output
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"subprocess|run_process|create_subprocess|os\.(?:system|exec|spawn)|Popen", text), file
    assert vars(running)["execute"] is vars(run_command)["execute"] is execute
