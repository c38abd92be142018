"""What `tests/forked.py` starts is like a new process, and does not outlive its test."""

import os
import select
from pathlib import Path

import pytest

from tests import forked
from tests.cli.terminal import Pty, environment

pytestmark = pytest.mark.slow  # most of its tests start a program


@pytest.mark.parametrize("arguments", [["status"], ["run", "a.py"]])
def test_it_ends_like_a_new_python(tmp_path: Path, arguments: list[str]) -> None:
    env = environment(tmp_path, OPENAI_API_KEY="test-key-1234")
    fork, fresh = (forked.run(arguments, tmp_path, env, fresh=fresh) for fresh in (False, True))
    assert vars(fork) == vars(fresh)
    assert fork.stdout + fork.stderr


def test_it_has_its_own_folder_environment_and_input(tmp_path: Path) -> None:
    env = environment(tmp_path)
    stored = forked.run(["login", "openai", "--no-check"], tmp_path, env, b"sk-typed-s3cret\n")
    assert stored.returncode == 0, stored
    assert (tmp_path / "state" / "tark" / "keys" / "openai.json").exists()
    (tmp_path / "a.py").write_text("a = 1\n")
    assert b"a.py has 1 line, so line 8" in forked.run(["run", "a.py:8", "x"], tmp_path, env).stderr


def test_it_has_a_terminal_and_signals(tmp_path: Path) -> None:
    pty = Pty(["login", "openai"], tmp_path, environment(tmp_path), (80, 24))
    pty.stream.expect_exact(b"not shown")
    assert os.getsid(pty.program.pid) == os.getpgid(pty.program.pid) == pty.program.pid
    pty.stream.send("\x03")  # not closing the terminal: the program can read that before the signal comes
    pty.stream.expect_exact(b"cancelled")
    assert pty.program.wait() == 1
    pty.close()


def test_one_that_a_test_loses_is_killed(tmp_path: Path) -> None:
    (stdin, writes), (reads, stdout) = os.pipe(), os.pipe()
    with Path(os.devnull).open("wb") as devnull:
        lost = forked.Program([], tmp_path, environment(tmp_path), [stdin, stdout, devnull.fileno()])
    os.close(stdin)
    os.close(stdout)
    assert not select.select([reads], [], [], 0)[0], "the server waits for its client"
    del lost
    assert select.select([reads], [], [], forked.SECONDS)[0]
    assert os.read(reads, 1) == b""
    os.close(reads)
    os.close(writes)
