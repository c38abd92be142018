"""`tark-lsp mcp test`: nothing starts in a folder that the user does not trust, or for a wrong call."""

import json
import sys
from pathlib import Path

import pytest

from tests import forked
from tests.cli.terminal import Terminal, configure, environment
from tests.mcp.servers import PLAIN

pytestmark = pytest.mark.slow  # each test starts programs


def tark(home: Path, folder: Path, *arguments: str) -> tuple[int, str]:
    done = forked.run(["mcp", *arguments], folder, environment(home))
    return done.returncode, (done.stdout + done.stderr).decode()


def approve(home: Path, folder: Path, *questions: str) -> str:
    """Says yes to all questions. Returns what was shown."""
    terminal = Terminal(("mcp", "approve", "toy"), folder, environment(home))
    for question in questions:
        terminal.see(question)
        terminal.type("y")
    assert terminal.end() == 0
    return terminal.plain


def own(folder: Path, name: str, code: str) -> Path:
    """A folder with a module `toy_module`."""
    made = (folder / name).resolve()
    made.mkdir()
    (made / "toy_module.py").write_text(code)
    return made


TOY = f"""\
[mcp.servers.toy]
command = {json.dumps(sys.executable)}
args = ["-S", "-m", "toy_module"]
sandbox = false
"""
RUN = f"import runpy\nrunpy.run_path({PLAIN!r}, run_name='__main__')\n"


def test_an_approved_server_starts_only_in_a_folder_that_the_user_trusts(tmp_path: Path) -> None:
    configure(tmp_path, TOY)
    good = own(tmp_path, "good", RUN)
    evil = own(tmp_path, "evil", f"open('planted', 'w')\n{RUN}")
    approve(tmp_path, good, f"Do you trust {good}?", "Start it, to see its tools?", "exactly as it is shown?")
    assert tark(tmp_path, good, "test", "toy") == (0, "plain speaks 2025-11-25\n  add\n")
    shown = approve(tmp_path, good, "Start it, to see its tools?")
    assert "nothing changed: toy is approved, 1 tool" in shown
    assert "Approve" not in shown

    code, shown = tark(tmp_path, evil, "test", "toy")
    assert code == 1
    assert f"this server can run code of the folder, and you do not trust {evil}" in shown
    assert "tark-lsp permissions trust" in shown
    for command in ("test", "approve"):
        terminal = Terminal(("mcp", command, "toy"), evil, environment(tmp_path))
        terminal.see(f"This server can run code of the folder. Do you trust {evil}?")
        terminal.type("n")
        assert terminal.end() == 1
    assert not (evil / "planted").exists()
    terminal = Terminal(("mcp", "test", "toy"), evil, environment(tmp_path))
    terminal.see("Do you trust")
    terminal.type("y")
    assert terminal.end() == 0
    assert (evil / "planted").exists()


def test_a_wrong_call_starts_nothing_and_new_tools_are_listed(tmp_path: Path) -> None:
    configure(tmp_path, TOY)
    folder = own(tmp_path, "project", RUN)
    approve(tmp_path, folder, "Do you trust", "Start it, to see its tools?", "exactly as it is shown?")
    sums = Path(PLAIN).read_text().replace('"name": "add"', '"name": "sum"')
    (folder / "toy_module.py").write_text(f"open('started', 'w')\n{sums}")
    wrong = {("sum",): "a tool 'sum' of toy", ("add", "{"): "are not JSON", ("add", "[]"): "are not a JSON object"}
    for arguments, said in wrong.items():
        code, shown = tark(tmp_path, folder, "test", "toy", *arguments)
        assert (code, said in shown) == (1, True)
    assert not (folder / "started").exists()
    code, shown = tark(tmp_path, folder, "test", "toy")
    rows = ["  add (off: it is gone)", "  sum (off: it is new)", "tark-lsp mcp approve toy shows what changed"]
    assert (code, shown.splitlines()[1:]) == (0, rows)
