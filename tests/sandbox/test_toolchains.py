"""Everyday commands of real toolchains work inside, without the network."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tark_lsp.sandbox.plan import Needs
from tark_lsp.sandbox.planning import Places
from tark_lsp.sandbox.sandbox import Sandbox
from tests.sandbox.conftest import Shell, run_in

pytestmark = pytest.mark.slow


def needs_program(name: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(name) is None, reason=f"{name} is not installed")


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


@needs_program("make")
async def test_make(shell: Shell, root: Path) -> None:
    write(root / "workspace", Makefile="all: out\nout: in\n\tcp in out\n", **{"in": "x"})
    code, output, findings = await shell("make")
    assert code == 0, output
    assert (root / "workspace" / "out").read_text() == "x"
    assert findings.is_clean


def make_repository(folder: Path) -> None:
    """With a changed file, and a monitor and a hook that leave a trace."""
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b"]
    write(folder, file="x\n")
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *arguments], check=True)
    subprocess.run([*git, "config", "core.fsmonitor", f"touch {folder}/monitored #"], check=True)
    hook = folder / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {folder}/hooked\n")
    hook.chmod(0o755)
    write(folder, file="y\n")


@needs_program("git")
async def test_git(shell: Shell, root: Path) -> None:
    """Git can be asked; it changes nothing without a grant; and it executes no monitor, hook or pager."""
    folder = root / "workspace"
    make_repository(folder)
    for line, expected in (("git status --short", "M file"), ("git diff", "+y"), ("git log --oneline", "first")):
        code, output, _ = await shell(line)
        assert code == 0, output
        assert expected in output
    commit = "git -c user.name=a -c user.email=a@b commit -qam second && git log --oneline"
    code, output, _ = await shell(commit)
    assert code != 0
    assert "Read-only file system" in output
    code, output, findings = await shell(commit, Needs(writable=(folder / ".git",)))
    assert code == 0, output
    assert "second" in output
    assert findings.is_clean
    assert not (folder / "monitored").exists()
    assert not (folder / "hooked").exists()


async def test_python_in_a_virtual_environment(root: Path, sandbox: Sandbox) -> None:
    """pytest and ruff of the tests' own environment, which is mounted read-only."""
    folder = root / "workspace"
    write(folder, test_it__py="def test_it(tmp_path):\n    assert tmp_path.exists()\n", pytest__ini="[pytest]\n")
    bin_folder = Path(sys.prefix, "bin")
    lines = f"{bin_folder}/python -m pytest -q -p no:cacheprovider && {bin_folder}/python -m ruff check test_it.py"
    needs = Needs(readable=(Path(sys.prefix), Path(sys.base_prefix)))
    code, output, _ = await run_in(sandbox, ("/bin/bash", "-c", lines), folder, {"PATH": os.environ["PATH"]}, needs)
    assert code == 0, output
    assert "1 passed" in output


@pytest.mark.exhaustive
@needs_program("npm")
async def test_npm(shell: Shell, root: Path) -> None:
    write(root / "workspace", package__json='{"name": "x", "scripts": {"test": "node test.js"}}')
    write(root / "workspace", test__js='require("child_process").execSync("true"); console.log("fine")')
    code, output, findings = await shell("npm test")
    assert code == 0, output
    assert "fine" in output
    assert findings.is_clean


@pytest.mark.exhaustive
@needs_program("cargo")
async def test_cargo(root: Path) -> None:
    """With the real home folder: the toolchain is below it, read-only."""
    folder = root / "workspace"
    (folder / "src").mkdir()
    write(folder, Cargo__toml='[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n')
    write(folder / "src", lib__rs="#[test]\nfn it() { assert_eq!(1 + 1, 2); }\n")
    sandbox = Sandbox(Places(Path.home(), root / "caches", root / "state"), [folder])
    assert await sandbox.check(), sandbox.why_not
    command = ("/bin/bash", "-c", "cargo test -q")
    code, output, run = await run_in(sandbox, command, folder, {"PATH": os.environ["PATH"]})
    assert code == 0, output
    assert "1 passed" in output
    assert run.findings.is_clean


@pytest.mark.exhaustive
@needs_program("go")
async def test_go(shell: Shell, root: Path) -> None:
    write(root / "workspace", go__mod="module x\n\ngo 1.19\n")
    write(root / "workspace", x_test__go='package x\n\nimport "testing"\n\nfunc TestIt(t *testing.T) {}\n')
    code, output, _ = await shell("go test ./...", PATH=os.environ["PATH"])
    assert code == 0, output
