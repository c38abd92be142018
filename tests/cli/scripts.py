"""Runs shell scripts that call `tark-lsp`, such as those of docs/scripting.md, with a fork in place of a new Python."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests import forked

SHIM = forked.SERVER.with_name("fork_shim.py")
SECONDS = 60


def script_environment(home: Path, env: Mapping[str, str]) -> dict[str, str]:
    """`env` with a `tark-lsp` in PATH, and with git that knows nothing of this machine."""
    programs = home / "bin"
    programs.mkdir(exist_ok=True)
    program = programs / "tark-lsp"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -IS {SHIM} {forked.fork_server()} "$@"\n')
    program.chmod(0o700)
    who = {"GIT_AUTHOR_NAME": "Me", "GIT_AUTHOR_EMAIL": "me@example.org"}
    who |= {name.replace("AUTHOR", "COMMITTER"): value for name, value in who.items()}
    return {**env, **who, "GIT_CONFIG_NOSYSTEM": "1", "PATH": f"{programs}:{env['PATH']}"}


def run_script(text: str, cwd: Path, env: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    """As a CI job runs it: without a terminal and without input, and the first command that fails ends it."""
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", text],
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
