"""Grants and trust as a user of the terminal meets them: in the chat, and in `tark-lsp run`, with the sandbox on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.chat_terminal import Start, chats
from tests.cli.terminal import configure, environment, without_terminal
from tests.sandbox.conftest import MISSING

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(MISSING), reason=MISSING)]

SCENARIO = """\
wire = "openai-chat"
[[reply]]
tool = "run_command"
text = "It is over."
[[reply]]
when = "check (?P<word>one|two|three)"
calls = [{ name = "run_command", arguments = { command = 'bash check.sh \\g<word>' } }]
[[reply]]
calls = [{ name = "run_command", arguments = { command = "git status" } }]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "check.sh").write_text("echo checked $*\n")
    (tmp_path / "model.toml").write_text(SCENARIO)
    return folder


def sandboxed(home: Path) -> dict[str, str]:
    return environment(home, TARK_SANDBOX="auto", XDG_CACHE_HOME=str(home / "cache"))


@pytest.fixture
def start(tmp_path: Path, folder: Path) -> Iterator[Start]:
    with chats(tmp_path, folder, tmp_path / "model.toml", sandboxed(tmp_path)) as start:
        yield start


def test_allowed_for_always_by_one_key_trusted_listed_and_revoked(start: Start, tmp_path: Path, folder: Path) -> None:
    terminal = start()
    terminal.say("check one")
    terminal.expect("  5  allow `bash check.sh ...` with any arguments in this folder, always")
    terminal.expect("Allow? [y]es")
    terminal.rest()
    terminal.send("5")
    terminal.expect("It is over.")
    terminal.rest()
    terminal.say("check two")
    terminal.expect("It is over.", times=2)
    terminal.rest()
    terminal.say("look")
    terminal.expect("do you trust")
    terminal.answer("number (Enter: no answer)", "2")
    terminal.expect("It is over.", times=3)
    assert terminal.shown.count("Allow? [y]es") == 1
    terminal.rest()
    terminal.say("/permissions")
    terminal.expect("`bash check.sh ...` with any arguments")
    terminal.answer("numbers to revoke", "1")
    terminal.expect("revoked 1: running turns ask again, too")
    left = without_terminal(["permissions"], folder, sandboxed(tmp_path)).stdout
    assert "trust-" in left
    assert "grant-" not in left


def test_a_run_never_asks_for_trust(tmp_path: Path, folder: Path) -> None:
    configure(tmp_path, f'model = "scripted/m"\n[providers.scripted]\nscenario = "{tmp_path / "model.toml"}"\n')
    done = without_terminal(["run", "look"], folder, sandboxed(tmp_path))
    assert "--trust-workspace trusts it for this run" in done.stderr
    assert done.returncode == 1
    done = without_terminal(["run", "--trust-workspace", "look"], folder, sandboxed(tmp_path))
    assert "trust" not in done.stderr
    assert "refused" not in done.stderr
    assert not (tmp_path / "state" / "tark" / "permissions.sqlite3").exists()
