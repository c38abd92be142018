"""Which runner is chosen for a target, and what its command line is."""

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from tark_lsp.commands.shell_text import read_command
from tark_lsp.errors import FailureForModel
from tark_lsp.tools.danger import danger_of
from tark_lsp.tools.runners.choice import choose
from tark_lsp.tools.runners.runner import Purpose
from tark_lsp.tools.runners.table import RUNNERS
from tark_lsp.workspace.files import Workspace
from tests.cases import cases
from tests.tools.conftest import Bench

PYTEST, CARGO = "pytest --tb=short -rfE --color=no", "cargo test --no-fail-fast --message-format json"
VITEST = "node_modules/.bin/vitest run --reporter=json"
PROGRAMS = ("pytest", "python", "python3", "npm", "cargo", "go", "make", "ruff", "mypy")
NODE = dict.fromkeys(("node_modules/.bin/vitest", "node_modules/.bin/jest", "node_modules/.bin/tsc"), "#!/bin/sh\n")
TEST_A = {"tests/test_a.py": "def test_a(): pass\n"}
WITH_PYTEST = {"pytest.ini": "[pytest]\n", **TEST_A}
USES_VITEST = {"package.json": json.dumps({"devDependencies": {"vitest": "3"}}), **NODE}
MAKEFILE = {"Makefile": "CC := gcc\n.PHONY: test\ntest: all\n\techo\nall:\nlint:\n"}
USES_UNITTEST = {"test_b.py": "import unittest\nclass T(unittest.TestCase):\n    def test_x(self): pass\n"}

Files = Mapping[str, str]
TESTS: dict[str, tuple[Files, str | None, str]] = {
    "pytest.ini": (WITH_PYTEST, None, PYTEST),
    "pyproject": ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, None, PYTEST),
    "a dependency": ({"pyproject.toml": '[dependency-groups]\ndev = ["pytest>=8"]\n'}, None, PYTEST),
    "setup.cfg": ({"setup.cfg": "[tool:pytest]\n"}, None, PYTEST),
    "requirements": ({"requirements-dev.txt": "pytest==8\n"}, None, PYTEST),
    "tests that look like it": (TEST_A, None, PYTEST),
    "a file": (WITH_PYTEST, "tests/test_a.py", f"{PYTEST} tests/test_a.py"),
    "a folder": (WITH_PYTEST, "tests", f"{PYTEST} tests"),
    "a test": (WITH_PYTEST, "tests/test_a.py::test_a", f"{PYTEST} tests/test_a.py::test_a"),
    "a case": (WITH_PYTEST, "tests/test_a.py::test_a[x y]", f"{PYTEST} 'tests/test_a.py::test_a[x y]'"),
    "a name": (WITH_PYTEST, "test_a", f"{PYTEST} -k test_a"),
    "a name in a folder": (WITH_PYTEST, "tests::test_a", f"{PYTEST} tests -k test_a"),
    "a shell's words": (WITH_PYTEST, "a; rm x", f"{PYTEST} -k 'a; rm x'"),
    "its own program": ({**WITH_PYTEST, ".venv/bin/pytest": ""}, None, f".venv/bin/{PYTEST}"),
    "unittest": (USES_UNITTEST, None, "python -m unittest discover"),
    "unittest in tests": (
        {f"tests/{name}": text for name, text in USES_UNITTEST.items()},
        None,
        "python -m unittest discover -s tests",
    ),
    "unittest, a file": (USES_UNITTEST, "test_b.py", "python -m unittest test_b.py"),
    "unittest, a name": (USES_UNITTEST, "test_x", "python -m unittest discover -k test_x"),
    "vitest": (USES_VITEST, None, VITEST),
    "vitest, a test": ({**USES_VITEST, "a.test.ts": ""}, "a.test.ts::adds one", f"{VITEST} a.test.ts -t 'adds one'"),
    "jest, a file": (
        {"package.json": '{"jest": {}}', "a.test.js": "", **NODE},
        "a.test.js",
        "node_modules/.bin/jest --json --runTestsByPath a.test.js",
    ),
    "a script": ({"package.json": '{"scripts": {"test": "node --test"}}'}, None, "npm test"),
    "a script, a file": (
        {"package.json": '{"scripts": {"test": "node --test"}}', "a.js": ""},
        "a.js",
        "npm test -- a.js",
    ),
    "cargo": ({"Cargo.toml": "", "src/lib.rs": ""}, "src/lib.rs", CARGO),
    "cargo, a test": ({"Cargo.toml": ""}, "tests::good", f"{CARGO} tests::good"),
    "go": ({"go.mod": ""}, None, "go test -json ./..."),
    "go, a file": ({"go.mod": "", "a/b_test.go": ""}, "a/b_test.go", "go test -json ./a"),
    "go, a folder": ({"go.mod": "", "a/b_test.go": ""}, "a", "go test -json ./a/..."),
    "go, a test": ({"go.mod": "", "a/b_test.go": ""}, "a::TestX", "go test -json -run TestX ./a"),
    "make": (MAKEFILE, None, "make test"),
    "make, a target": (MAKEFILE, "lint", "make lint"),
    "several, python first": ({**WITH_PYTEST, **USES_VITEST, **MAKEFILE}, None, PYTEST),
    "several, by the file": (
        {**WITH_PYTEST, **USES_VITEST, "web/a.test.ts": ""},
        "web/a.test.ts",
        f"{VITEST} web/a.test.ts",
    ),
    "the nearest": (
        {**WITH_PYTEST, "web/package.json": USES_VITEST["package.json"], "web/src/a.test.ts": "", **NODE},
        "web/src",
        f"../{VITEST} src",
    ),
    "a file like an option": ({**WITH_PYTEST, "tests/-x.py": ""}, "tests/-x.py", f"{PYTEST} tests/-x.py"),
    "a file like a list of options": ({**WITH_PYTEST, "@x.py": ""}, "@x.py", f"{PYTEST} ./@x.py"),
}
CHECKS: dict[str, tuple[Files, str | None, str]] = {
    "ruff": ({"ruff.toml": "", "a.py": ""}, "a.py", "ruff check --output-format json a.py"),
    "mypy": ({"mypy.ini": "[mypy]\nfiles = a\n"}, None, "mypy --output json"),
    "mypy without files": ({"mypy.ini": "[mypy]\n"}, None, "mypy --output json ."),
    "tsc": (
        {"tsconfig.json": "{}", "a.ts": "", **NODE},
        "a.ts",
        "node_modules/.bin/tsc --noEmit --pretty false -p .",
    ),
    "cargo check": ({"Cargo.toml": ""}, None, "cargo check --all-targets --message-format json"),
    "go vet": ({"go.mod": "", "a/b.go": ""}, "a/b.go", "go vet ./a"),
    "make": (MAKEFILE, None, "make lint"),
}


def touch(root: Path, files: Files) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if "bin/" in name:
            path.chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """PATH is a folder with programs that do nothing."""
    folder = tmp_path / "bin"
    touch(folder, {f"bin/{name}": "#!/bin/sh\n" for name in PROGRAMS})
    monkeypatch.setenv("PATH", str(folder / "bin"))
    return folder / "bin"


Place = Callable[[str, Files], Bench]


@pytest.fixture
def place(bench: Bench) -> Place:
    """A workspace of its own for each row."""

    def place(name: str, files: Files) -> Bench:
        root = bench.root / name.replace(" ", "_").replace(",", "")
        root.mkdir()
        touch(root, files)
        bench.ctx.workspace = Workspace([root], bench.buffers)
        return bench

    return place


@pytest.mark.usefixtures("programs")
def test_the_command_lines(place: Place) -> None:
    with cases() as case:
        for purpose, rows in ((Purpose.TEST, TESTS), (Purpose.CHECK, CHECKS)):
            for name, (files, target, line) in rows.items():
                with case(f"{purpose}: {name}"):
                    ctx = place(f"{purpose} {name}", files).ctx
                    chosen = choose(purpose, target, None, ctx)
                    assert chosen.text == line
                    words = read_command(chosen.text)
                    assert words.parts == (chosen.argv,), words.why  # what bash reads is what was meant
                    assert danger_of(chosen.text) is None


@pytest.mark.usefixtures("programs")
def test_the_mark_the_folder_and_the_others_are_said(place: Place) -> None:
    ctx = place("all", {**WITH_PYTEST, **USES_VITEST, **MAKEFILE}).ctx
    chosen = choose(Purpose.TEST, None, None, ctx)
    assert (str(chosen.mark), chosen.also, chosen.cwd) == ("pytest.ini", ("vitest", "make"), ctx.workspace.folders[0])
    assert choose(Purpose.TEST, None, "make", ctx).text == "make test"
    assert choose(Purpose.TEST, "all", "make", ctx).text == "make all"


@pytest.mark.usefixtures("programs")
def test_several_workspace_folders(bench: Bench) -> None:
    for name in ("one", "two"):
        touch(bench.root / name, {"pytest.ini": "", "tests/test_a.py": ""} if name == "two" else MAKEFILE)
    bench.ctx.workspace = Workspace([bench.root / "one", bench.root / "two"], bench.buffers)
    chosen = choose(Purpose.TEST, "two:tests", None, bench.ctx)
    assert (chosen.text, chosen.cwd) == (f"{PYTEST} tests", bench.root / "two")
    assert choose(Purpose.TEST, None, None, bench.ctx).text == "make test"


def test_a_program_that_path_finds_in_the_project_has_its_plain_name(
    place: Place, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As you would type it with an activated environment, so that a grant for `pytest ...` is about both."""
    ctx = place("venv", {**WITH_PYTEST, ".venv/bin/pytest": ""}).ctx
    venv = ctx.workspace.folders[0] / ".venv" / "bin"
    monkeypatch.setenv("PATH", f"{venv}{os.pathsep}{programs}")
    assert choose(Purpose.TEST, None, None, ctx).argv[0] == "pytest"


ERRORS: dict[str, tuple[Files, dict[str, str | None], str, str]] = {
    "nothing": ({"README.md": ""}, {}, "unsupported", "nothing that run_tests knows is used for the workspace"),
    "below": ({"api/pytest.ini": ""}, {}, "unsupported", "it is in: api (pytest)"),
    "no program": (
        {"package.json": USES_VITEST["package.json"]},
        {},
        "unsupported",
        "vitest is used here (package.json (devDependencies.vitest)), but vitest is not in node_modules/.bin, PATH",
    ),
    "an option": (WITH_PYTEST, {"target": "--pdb"}, "invalid_arguments", "is not a target"),
    "a name like an option": (WITH_PYTEST, {"target": "tests::-x"}, "invalid_arguments", "is not a target"),
    "two lines": (WITH_PYTEST, {"target": "a\nb"}, "invalid_arguments", "is not a target"),
    "a missing file": (WITH_PYTEST, {"target": "tests/none.py"}, "not_found", "tests/none.py does not exist"),
    "outside": (WITH_PYTEST, {"target": "../x"}, "outside_workspace", "outside"),
    "no such runner": (WITH_PYTEST, {"runner": "nose"}, "invalid_arguments", "there is no runner 'nose'"),
    "no such target": (MAKEFILE, {"target": "deploy"}, "unsupported", "is used for deploy"),
    "an assignment": (MAKEFILE, {"target": "SHELL=/bin/x"}, "not_found", "does not exist"),
    "the script of npm init": (
        {"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'},
        {},
        "unsupported",
        "nothing that run_tests knows",
    ),
}


@pytest.mark.usefixtures("programs")
def test_errors_say_what_is_missing(place: Place) -> None:
    with cases() as case:
        for name, (files, arguments, code, says) in ERRORS.items():
            with case(name):
                ctx = place(name, files).ctx
                with pytest.raises(FailureForModel) as caught:
                    choose(Purpose.TEST, arguments.get("target"), arguments.get("runner"), ctx)
                assert (caught.value.code, says in caught.value.message) == (code, True), caught.value.message


@pytest.mark.usefixtures("programs")
def test_files_of_one_piece_are_compared_in_no_time(place: Place) -> None:
    """They are read in the event loop, before anything is asked."""
    pieces = ("\n", " ", "test", "test:", "import ", "a\n", "[", '{"a":', "a=", "\t\n")
    began = time.process_time()
    for number, piece in enumerate(pieces):
        names = ("test_a.py", "Makefile", "setup.py", "tox.ini", "requirements.txt", "pyproject.toml", "package.json")
        ctx = place(f"piece{number}", dict.fromkeys(names, piece * 50_000)).ctx
        with suppress(FailureForModel):
            choose(Purpose.TEST, None, None, ctx)
    assert time.process_time() - began < 3


@pytest.mark.usefixtures("programs")
def test_what_a_rule_hides_or_leads_outside_is_not_read(place: Place, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    ctx = place("linked", {}).ctx
    (ctx.workspace.folders[0] / "pytest.ini").symlink_to(tmp_path / "pytest.ini")
    with pytest.raises(FailureForModel):
        choose(Purpose.TEST, None, None, ctx)
    hidden = place("hidden", {"package.json": USES_VITEST["package.json"], **NODE}).ctx
    for rule in ("is_read_denied", "is_read_asked"):
        setattr(hidden, rule, lambda path: path.name == "package.json")
        with pytest.raises(FailureForModel):
            choose(Purpose.TEST, None, None, hidden)
        setattr(hidden, rule, lambda _: False)
    assert choose(Purpose.TEST, None, None, hidden).runner.name == "vitest"


@pytest.mark.usefixtures("programs")
def test_broken_and_hostile_project_files_are_no_error_of_ours(place: Place) -> None:
    texts = ("{", "[]", "null", '"x"', '{"scripts": []}', '{"devDependencies": {"vitest"', "[" * 100_000, "\udcff")
    with cases() as case:
        for number, text in enumerate(texts):
            with case(text[:20]):
                ctx = place(f"broken {number}", {}).ctx
                data = text.encode("utf-8", "surrogateescape")
                for name in ("package.json", "pyproject.toml", "Makefile", "setup.cfg"):
                    (ctx.workspace.folders[0] / name).write_bytes(data)
                with pytest.raises(FailureForModel, match="nothing that run_tests knows"):
                    choose(Purpose.TEST, None, None, ctx)


def test_names_are_unique_and_rows_are_complete() -> None:
    for purpose in Purpose:
        names = [row.name for row in RUNNERS if row.purpose is purpose]
        assert len({*names}) == len(names)
    assert all(row.marks or row.guesses for row in RUNNERS)
