"""`tark-lsp demo` as the user sees it: yes, no, --yes, no terminal, Ctrl-C."""

import os
import re
from pathlib import Path

import pytest

import tark_lsp
from tark_lsp.demo import MARKER, copy_demo
from tests.cli.terminal import Terminal, environment, without_terminal

pytestmark = pytest.mark.slow  # each test starts a program

BUNDLED = Path(tark_lsp.__file__).parent / "demo_project"
QUESTION = "Apply? [y]es, [n]o"


def project(shown: str) -> Path:
    """The temporary copy, from where the demo says it is."""
    found = re.search(r"temporary copy: (\S+)", shown)
    assert found
    return Path(found[1])


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.name != "scenario.toml"
    }


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path, TMPDIR=str(tmp_path))


def test_yes_changes_the_file_and_its_test_passes(tmp_path: Path, env: dict[str, str]) -> None:
    before = contents(BUNDLED)
    terminal = Terminal(["demo"], tmp_path, env, fresh=True)
    terminal.see(QUESTION)
    seen = terminal.plain
    for words in (
        "a script, not a model",
        "FAILED (errors=1)",
        "I will read the file first.",
        "● read_file shop/prices.py",
        "● search_text",
        "+    if not prices:",
    ):
        assert words in seen
    assert "48;5;22m+" in terminal.shown, "the diff is coloured"
    assert contents(project(seen)) == before, "nothing is written before the answer"
    terminal.type("y")
    assert terminal.end() == 0
    assert "Done:" in terminal.plain
    assert re.search(r"Ran 2 tests in .*\n\nOK", terminal.plain)
    after = contents(project(seen))
    assert b"    if not prices:\n        return 0.0\n" in after.pop("shop/prices.py")
    before.pop("shop/prices.py")
    assert after == before


def test_no_leaves_every_byte(tmp_path: Path, env: dict[str, str]) -> None:
    terminal = Terminal(["demo"], tmp_path, env)
    terminal.see(QUESTION)
    terminal.type("")
    terminal.see(QUESTION)
    terminal.type("n")
    assert terminal.end() == 1
    assert "nothing was written" in terminal.plain
    assert "every byte is the same" in terminal.plain
    assert contents(project(terminal.plain)) == contents(BUNDLED)


@pytest.mark.parametrize("arguments", [["demo", "--yes"], ["demo"]], ids=["--yes", "no terminal"])
def test_without_a_terminal(tmp_path: Path, env: dict[str, str], arguments: list[str]) -> None:
    unused = tmp_path / "tark-demo-unused"
    unused.mkdir()
    copy_demo(unused)
    os.utime(unused / MARKER, (0, 0))
    done = without_terminal(arguments, tmp_path, env)
    assert not unused.exists(), "demos of long ago are removed"
    assert done.stderr == ""
    assert done.returncode == 0
    assert ("This is not a terminal, so the question is answered with yes." in done.stdout) == (len(arguments) == 1)
    assert "+    if not prices:" in done.stdout
    assert "\x1b" not in done.stdout
    assert contents(project(done.stdout)) != contents(BUNDLED)


def test_a_persons_own_settings_do_not_matter(tmp_path: Path, env: dict[str, str]) -> None:
    done = without_terminal(["demo", "--yes"], tmp_path, {**env, "TARK_MODE": "ask", "TARK_MODEL": "nobody/nothing"})
    assert done.returncode == 0


def test_ctrl_c_at_the_question(tmp_path: Path, env: dict[str, str]) -> None:
    terminal = Terminal(["demo"], tmp_path, env)
    terminal.see(QUESTION)
    terminal.press_ctrl_c()
    assert terminal.end() == 1
    assert "cancelled" in terminal.plain
    assert "Traceback" not in terminal.plain[terminal.plain.index(QUESTION) :]
    assert contents(project(terminal.plain)) == contents(BUNDLED)
