"""The command `tark-lsp`: usage, bad files, and few imports at the start of the server."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal, environment, without_terminal

pytestmark = pytest.mark.slow  # most of its tests start a program


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--version"], 0, "tark-lsp 0."),
        (["--help"], 0, "doctor"),
        (["run", "--help"], 0, "Exit codes"),
        (["demo", "--help"], 0, "--yes"),
        (["doctor", "--help"], 0, "Exit code 1"),
        (["rum"], 2, "did you mean run?"),
        (["serve", "8080"], 2, "takes no arguments"),
        (["run"], 2, "there is no prompt"),
        (["run", "--allow", "run_comand(ls)", "x"], 2, "there is no tool 'run_comand'"),
        (["run", "--max-usd", "0", "x"], 2, "not an amount above 0"),
        (["run", "--continue", "--no-session", "x"], 2, "not allowed with"),
        (["run", "nothing/*.py", "x"], 2, "no file matches nothing/*.py"),
        (["run", "a.py", "x", "--mode", "sleep"], 2, "invalid choice"),
        (["chat", "--mode", "zoo"], 2, "(choose from "),
        (["chat", "--model", "nope"], 2, "'nope' is not written as PROVIDER/MODEL"),
        (["run", "a.py", "x", "--model", "nope/"], 2, "'nope/' is not written as PROVIDER/MODEL"),
    ],
)
def test_usage(tmp_path: Path, arguments: list[str], code: int, words: str) -> None:
    done = without_terminal(arguments, tmp_path, environment(tmp_path), fresh=arguments == ["--help"])
    assert done.returncode == code
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert "Mode." not in done.stderr


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("missing.py", "missing.py: no such file"),
        (".", "ws: a directory\nname a text file"),
        ("binary", "binary file"),
        ("latin1.txt", "not utf-8 text"),
        ("l*.txt", "l*.txt matches this file: use a narrower glob, or add the file to .gitignore"),
        ("huge.txt", "larger than"),
        ("a.py:3-9", "a.py has 2 lines, so lines 3-9 are past its end"),
        ("a.py:2-1", "invalid lines"),
        ("../outside.py", "is outside"),
        ("link.py", "is outside"),
    ],
)
def test_bad_files_are_reported_at_once(tmp_path: Path, target: str, words: str) -> None:
    folder = tmp_path / "ws"
    folder.mkdir()
    (tmp_path / "outside.py").write_bytes(b"")
    (folder / "a.py").write_bytes(b"a\nb\n")
    (folder / "binary").write_bytes(b"\x7fELF\0\1")
    (folder / "latin1.txt").write_bytes("über".encode("latin-1"))
    (folder / "link.py").symlink_to(tmp_path / "outside.py")
    with (folder / "huge.txt").open("wb") as huge:
        huge.truncate(50 * 1024**2)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    done = without_terminal(["run", target, "improve it"], folder, environment(tmp_path / "home"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert words in done.stderr
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


STREAMS: list[tuple[str, int, str]] = [
    ("usage >&-", 2, "standard output is closed"),
    ("usage >/dev/full", 1, "error: the output: No space left on device"),
    ("run 'Hello.' </dev/null >&-", 2, "standard output is closed"),
    ("run --json 'Hello.' </dev/null >/dev/full", 141, "error: standard output: No space left on device"),
    ("status <&-", 1, ""),
    ("gone", 2, "the current folder cannot be used (No such file or directory): cd to another one"),
]


@pytest.mark.parametrize(("command", "code", "words"), STREAMS, ids=[row[0] for row in STREAMS])
def test_streams_and_folders_that_cannot_be_used(tmp_path: Path, command: str, code: int, words: str) -> None:
    gone = command == "gone"
    before, command = ("mkdir d; cd d; rmdir ../d; ", "usage") if gone else ("", command)
    script = f"{before}exec {sys.executable} -P -m tark_lsp {command}"
    env = environment(tmp_path, TARK_MODEL="scripted/demo")
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, words in done.stderr) == (code, True), done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_alone_at_a_terminal_it_says_what_to_type(tmp_path: Path) -> None:
    terminal = Terminal([], tmp_path, environment(tmp_path))
    assert terminal.end() == 0
    for command in ("demo", "doctor", "login", "chat", "run", "install", "--help"):
        assert f"  tark-lsp {command} " in terminal.plain


def test_the_server_starts_with_few_imports() -> None:
    """What an editor waits for. stdin ends at once, so the later imports never happen."""
    script = (
        "import sys; before = set(sys.modules); sys.argv = ['tark-lsp', '--stdio']\n"
        "import tark_lsp.server.handshake as handshake\n"
        "handshake.main = lambda: None\n"
        "from tark_lsp.cli import main\n"
        "main(); print(*sorted(set(sys.modules) - before), sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    loaded = set(done.stdout.split())
    assert "tark_lsp.cli" in loaded
    heavy = {"argparse", "asyncio", "logging", "rich", "pygls", "lsprotocol", "pydantic", "httpx", "pathlib"}
    assert not heavy & loaded
