"""Hooks as a user has them: in config.toml, in the sandbox, and those of a project, approved in a terminal."""

import json
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal, configure, environment, without_terminal
from tests.sandbox.conftest import MISSING

pytestmark = pytest.mark.slow  # each test starts programs

SCENARIO = """\
wire = "openai-chat"
[[reply]]
tool = "edit_file"
text = "Done."
[[reply]]
calls = [{ name = "edit_file", arguments = { path = "a.py", old_text = "g( 2 )\\n", new_text = "g( 3 )\\n" } }]
"""
FORMAT = """\
import json, sys
given = json.load(sys.stdin)
try:
    open("planted", "w").write("x")
except OSError as error:
    print(error, file=sys.stderr)
print(json.dumps({"text": given["text"].replace("( ", "(").replace(" )", ")")}))
"""
OFFER = """\
[[hooks]]
name = "check"
on = "beforeEdit"
command = "/bin/sh"
args = ["check.sh"]
"""


def sandboxed(home: Path) -> dict[str, str]:
    return environment(home, TARK_SANDBOX="auto", XDG_CACHE_HOME=str(home / "cache"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.py").write_text("f( 1 )\n\n\n\n\ng( 2 )\n")
    (tmp_path / "model.toml").write_text(SCENARIO)
    return folder


def settings(home: Path, hooks: str = "") -> None:
    configure(home, f'model = "scripted/m"\n{hooks}\n[providers.scripted]\nscenario = "{home / "model.toml"}"\n')


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
def test_a_formatter_of_yours_runs_in_the_sandbox(tmp_path: Path, folder: Path) -> None:
    script = tmp_path / "format.py"
    script.write_text(FORMAT)
    hook = {"name": "fmt", "on": "beforeEdit", "command": "/usr/bin/python3", "args": ["-S", str(script)]}
    table = ", ".join(f"{name} = {json.dumps(value)}" for name, value in hook.items())
    settings(tmp_path, f"hooks = [{{ {table}, timeoutSeconds = 60 }}]")
    done = without_terminal(["run", "--trust-workspace", "--yes", "look"], folder, sandboxed(tmp_path))
    assert (folder / "a.py").read_text() == "f( 1 )\n\n\n\n\ng(3)\n"
    assert "+g(3)" in done.stdout + done.stderr
    assert "the hook fmt also changed text of a.py that is not part of the edit (line 1)" in done.stderr
    assert not (folder / "planted").exists()


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
def test_a_hook_of_a_project_runs_only_as_it_was_approved(tmp_path: Path, folder: Path) -> None:
    (folder / ".tark").mkdir()
    (folder / ".tark" / "hooks.toml").write_text(OFFER)
    script = folder / "check.sh"
    script.write_text("echo generated >&2\nexit 2\n")
    settings(tmp_path)
    env = sandboxed(tmp_path)
    run = ["run", "--trust-workspace", "look"]
    hint = "this folder offers hooks (check): `tark-lsp hooks approve NAME` shows one"
    assert hint in without_terminal(run, folder, env).stderr

    terminal = Terminal(("hooks", "approve", "check"), folder, env)
    terminal.see("This hook comes with the folder. Do you trust")
    assert "runs: /bin/sh check.sh" in terminal.plain
    assert f"the approval is for the content of {script}" in " ".join(terminal.plain.split())
    terminal.type("y")
    terminal.see("Let it run, exactly as it is shown?")
    terminal.type("y")
    assert terminal.end() == 0
    assert json.loads(without_terminal(["hooks", "list", "--json"], folder, env).stdout)["state"] == "approved"
    assert "the hook check refused it: generated" in without_terminal(run, folder, env).stderr

    script.write_text("touch planted\n")
    done = without_terminal(run, folder, env)
    assert "the hook check (beforeEdit) changed since you approved it" in done.stderr
    assert "changed since you approved it" in without_terminal(["hooks"], folder, env).stdout
    assert not (folder / "planted").exists()
    assert (folder / "a.py").read_text().endswith("g( 2 )\n")


def test_without_a_terminal_nothing_is_approved(tmp_path: Path, folder: Path) -> None:
    (folder / ".tark").mkdir()
    (folder / ".tark" / "hooks.toml").write_text(OFFER)
    settings(tmp_path)
    env = environment(tmp_path)
    done = without_terminal(["hooks", "approve", "check"], folder, env)
    assert (done.returncode, "this is not a terminal" in done.stdout + done.stderr) == (1, True)
    done = without_terminal(["hooks", "remove", "other"], folder, env)
    assert "this folder offers no hook 'other'" in done.stdout + done.stderr


def test_a_hook_that_refuses_a_turn_is_no_failure_of_the_model(tmp_path: Path, folder: Path) -> None:
    script = tmp_path / "refuse.sh"
    script.write_text("echo not today >&2\nexit 2\n")
    hook = '[[hooks]]\nname = "{}"\non = "{}"\ncommand = "/bin/sh"\nargs = ["{}"]\nsandbox = false\n{}\n'
    guard, bash = (
        hook.format("guard", "turnStart", script, ""),
        hook.format("b", "beforeTool", script, 'tools = ["Bash"]'),
    )
    settings(tmp_path, f"{guard}{bash}")
    done = without_terminal(["run", "--trust-workspace", "look"], folder, environment(tmp_path))
    assert done.returncode == 1
    assert "the hook guard refused this turn: not today" in done.stderr
    assert "error" not in done.stderr.splitlines()
    unknown = "no tool has them: Bash (here: run_command, run_tests, run_check)"
    assert unknown in " ".join(done.stderr.split())
    listed = without_terminal(["hooks", "list", "--json"], folder, environment(tmp_path))
    assert [json.loads(line)["name"] for line in listed.stdout.splitlines()] == ["guard", "b"]
    assert unknown in " ".join(listed.stderr.split())
