"""Everyday commands work in the sandbox at `balanced` with the real toolchains, and nobody is asked.

`uv` and npm install pytest, ruff, mypy, typescript, eslint and prettier from their registries. Ecosystems whose
programs are not installed are left out; Python, Node, Rust or Go, and Make must be there.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tark_lsp.agent.approval import Allow, Policy, decide_call
from tark_lsp.errors import FailureForModel
from tark_lsp.messages import ApprovalLevel
from tark_lsp.sandbox.planning import Places
from tark_lsp.sandbox.sandbox import Sandbox
from tark_lsp.tools.checkpoint_access import CheckpointAccess
from tark_lsp.tools.sandbox_access import SandboxAccess
from tark_lsp.tools.tool import ToolContext
from tark_lsp.trust_report.everyday import EVERYDAY
from tark_lsp.workspace.files import Workspace
from tests.memory import MemoryBuffers, MemoryEditor
from tests.sandbox.conftest import MISSING
from tests.tools.conftest import Bench
from tests.workspace.command_bench import TURN, CommandBench

pytestmark = [pytest.mark.exhaustive, pytest.mark.slow, pytest.mark.skipif(bool(MISSING), reason=MISSING)]

FILES: Mapping[str, Mapping[str, str]] = {
    "Python": {
        "src/a.py": "def one() -> int:\n    return 1\n",
        "tests/test_a.py": "def test_name() -> None:\n    assert 1 + 1 == 2\n",
    },
    "Node": {
        "package.json": '{"name": "a", "version": "1.0.0", "type": "module", '
        '"scripts": {"test": "node --test", "build": "tsc"}}\n',
        "tsconfig.json": '{ "compilerOptions": { "outDir": "out", "types": [] }, "include": ["src"] }\n',
        "eslint.config.js": "export default [{ rules: {} }];\n",
        "src/a.ts": "export const one: number = 1;\n",
        "src/b.js": "export const two = 2;\n",
        "test/a.test.js": 'import test from "node:test";\n\ntest("one", () => {});\n',
        ".prettierignore": "node_modules\nout\npackage*.json\n",
    },
    "Rust": {
        "Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n',
        "Cargo.lock": 'version = 3\n\n[[package]]\nname = "a"\nversion = "0.1.0"\n',
        "src/main.rs": 'fn main() {\n    println!("one");\n}\n\n#[test]\nfn one() {\n    assert_eq!(1, 1);\n}\n',
    },
    "Go": {
        "go.mod": "module a\n\ngo 1.19\n",
        "pkg/a.go": "package pkg\n\nfunc One() int { return 1 }\n",
        "pkg/a_test.go": 'package pkg\n\nimport "testing"\n\n'
        "func TestA(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Fail()\n\t}\n}\n",
    },
    "Make": {
        "Makefile": "all: out\nout: in\n\tcp in out\ntest: out\n\tcmp in out\nlint:\n\ttest -s in\n",
        "in": "x\n",
        "src/Makefile": "all:\n\ttouch made\n",
    },
    "C and C++": {
        "CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(a C)\nenable_testing()\n"
        "add_executable(a src/a.c)\nadd_test(NAME a COMMAND a)\n",
        "src/a.c": "int main(void) { return 0; }\n",
    },
    "Java": {"src/A.java": "class A {}\n"},
    "Ruby": {"test/a_test.rb": "", "Rakefile": "task(:test) {}\n"},
    "PHP": {
        "src/a.php": "<?php\n",
        "composer.json": '{"name": "a/a", "description": "a", "license": "MIT", "require": {}}\n',
    },
    ".NET": {},
    "git": {"README.md": "".join(f"line {number}\n" for number in range(30)), "src/a": "x\n"},
}
NOT_SET_UP = {
    "mvn -q -o test": "its plugins are not in the registries of the tests",
    "mvn -q -o package": "its plugins are not in the registries of the tests",
}
MUST_WORK = 30


def install(ecosystem: str, folder: Path) -> None:
    """Before the sandbox, as a developer has done."""
    steps: Mapping[str, list[list[str]]] = {
        "Python": [
            ["uv", "venv", "--quiet", ".venv"],
            ["uv", "pip", "install", "--quiet", "--python", ".venv/bin/python", "pytest", "ruff", "mypy"],
        ],
        "Node": [["npm", "install", "--silent", "--ignore-scripts", "typescript@5", "eslint@9", "prettier@3"]],
        "git": [
            ["git", "init", "--quiet", "--initial-branch=main"],
            ["git", "add", "."],
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message=one"],
        ],
    }
    for step in steps.get(ecosystem, []):
        subprocess.run(step, cwd=folder, check=True, capture_output=True)


def program_of(command: str, folder: Path) -> str | None:
    places = f"{folder}/.venv/bin:{folder}/node_modules/.bin:{os.environ['PATH']}"
    word = command.split()[2] if command.startswith("python -m") else command.split()[0]
    if word == "npx":
        word = command.split()[1]
    if word == "compileall":
        word = "python"
    return shutil.which(word, path=places) or (str(folder / word) if (folder / word).exists() else None)


async def open_project(root: Path, ecosystem: str) -> Bench:
    folder = root / ecosystem.replace(" ", "-")
    for name, text in FILES[ecosystem].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    folder.mkdir(exist_ok=True)
    install(ecosystem, folder)
    sandbox = Sandbox(Places(Path.home(), root / "caches", root / "state"), [folder])
    assert await sandbox.check(), sandbox.why_not
    buffers = MemoryBuffers()
    editor = MemoryEditor(buffers)
    context = ToolContext(Workspace([folder], buffers), editor, sandbox=SandboxAccess(lambda: sandbox))
    context.checkpoint = CheckpointAccess(CommandBench(folder, root / f"{folder.name}-checkpoints").commands, TURN)
    return Bench(folder, buffers, editor, context)


async def run_unasked(bench: Bench, command: str) -> str:
    preview = await bench.preview("run_command", command=command)
    policy = Policy(ApprovalLevel.BALANCED, trusted=True)
    decision = decide_call("run_command", preview, policy, bench.ctx.workspace)
    assert isinstance(decision, Allow), (command, decision)
    assert preview.command is not None
    assert preview.command.confined
    try:
        return await bench.call("run_command", command=command, timeout_seconds=300)
    except FailureForModel as error:
        return str(error)


async def test_everyday_commands_work_with_real_toolchains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worked: list[str] = []
    failed: list[str] = []
    left_out: list[str] = []
    path = os.environ["PATH"]
    for ecosystem, commands in EVERYDAY.items():
        bench = await open_project(tmp_path, ecosystem)
        monkeypatch.setenv("PATH", f"{bench.root}/.venv/bin:{path}")
        for command in commands:
            if command in NOT_SET_UP or program_of(command, bench.root) is None:
                left_out.append(command)
                continue
            told = await run_unasked(bench, command)
            (worked if told.startswith("exit code 0") else failed).append(f"--- {command}\n{told[:1500]}")
    print(f"{len(worked)} worked; left out: {left_out}")
    assert not failed, "\n".join(failed)
    assert len(worked) >= MUST_WORK
